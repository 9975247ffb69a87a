"""`discsum evaluate` of summarizers on texts with summaries."""

import gzip
import json
import shutil

import pytest
import tiny

from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.document import Document, Span

ROWS = [
    {"id": "a", "text": tiny.ARTICLE, "summary": "The mill broke."},
    {
        "id": "b",
        "text": "The river rose. The mill stopped. Rain came.",
        "references": ["The mill stopped.", "It rained."],
    },
]


@pytest.fixture
def evaluate(discsum, parser_folder, tmp_path):
    def run(rows, *options, models=("lead", "oracle")):
        path = tmp_path / "table.jsonl"
        path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
        return discsum("evaluate", *models, path, "--parser", parser_folder, *options)

    return run


def test_summarizers_on_a_table(evaluate, summarizer_folders):
    result = evaluate(ROWS, "--format", "json", "--units", 1, models=("lead", summarizer_folders["sentence"], "oracle"))
    assert (result.code, result.err) == (0, "")
    data = json.loads(result.out)
    assert data["documents"] == 2
    lead, trained, oracle = data["models"]
    assert (lead["model"], oracle["model"]) == ("lead", "oracle")
    assert oracle["rouge1"]["mean"] >= max(lead["rouge1"]["mean"], trained["rouge1"]["mean"])
    (paired,) = oracle["rouge1"]["against"]
    assert paired["model"] == "lead"
    assert paired["difference"] == pytest.approx(oracle["rouge1"]["mean"] - lead["rouge1"]["mean"])
    assert 0 < paired["p"] <= 1
    assert (lead["parameters"], oracle["overlap"], lead["rouge1"]["against"]) == (None, 1.0, [])
    assert trained["parameters"] > 0
    assert 0 <= lead["place"] < 1


def test_a_model_with_a_length_of_its_own(evaluate, summarizer_folders):
    folder = summarizer_folders["edu"]
    told = f"discsum: {folder}: measured with 6 units like all models; its own length is 2 (--units 2)\n"
    assert evaluate(ROWS, "--unit", "edu", models=("lead", folder)).err == told
    assert evaluate(ROWS, "--unit", "edu", "--units", 6, models=("lead", folder)).err == ""


def test_the_signature_says_what_the_figures_depend_on(evaluate, parser_folder):
    signatures = {
        json.loads(evaluate(ROWS, "--format", "json", *options).out)["signature"]
        for options in ([], ["--units", 1], ["--unit", "edu"])
    }
    assert len(signatures) == 3
    assert all("|parser:tiny-chart@" in signature and "|bs:10000|rs:12345" in signature for signature in signatures)
    assert any("|unit:edu|units:6|dependencies:yes|" in signature for signature in signatures)


def test_rows_that_are_no_pair_are_named_and_the_rest_is_measured(evaluate):
    bad = [
        {"text": "A text.", "summary": 5},
        {"text": "A text.", "summary": ["a", None]},
        {"text": " ", "summary": "x"},
        {"text": "A text."},
        "{",
    ]
    result = evaluate([*bad, *ROWS])
    assert result.code == 3
    for line, message in enumerate(
        (
            "expected a reference summary or a list of them, got 5",
            "reference summary 2: expected a text, got nothing",
            "expected a text, got ' '",
            "expected a column references or highlights or summary, got the columns text; use --summary-column",
            "expected one JSON object per line",
        ),
        start=1,
    ):
        assert f"table.jsonl:{line}: {message}" in result.err
    assert "2 documents" in result.out


def test_a_table_without_pairs(evaluate):
    result = evaluate([{"text": "A text."}])
    assert result.code == 1
    message = "expected a column references or highlights or summary, got the columns text; use --summary-column"
    assert message in result.err
    result = evaluate([{"text": "A text.", "summary": ""}])
    assert result.code == 1
    assert "expected texts with reference summaries, got none" in result.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--units", 0], "units: expected a whole number of at least 1, got 0"),
        (["--words", 30, "--ratio", 0.1], "expected exactly one of units, words and ratio, got words 30 and ratio 0.1"),
        (["--unit", "word"], "expected one of sentence, edu, got 'word'"),
        (["--rst-parseval"], "--rst-parseval cannot be used with texts with summaries"),
    ],
)
def test_wrong_usage(evaluate, options, message):
    result = evaluate(ROWS, *options)
    assert result.code == 2
    assert message in result.err


def test_penalties_without_an_extractive_model(evaluate, bart_folder):
    result = evaluate(ROWS, "--redundancy", 1, models=(bart_folder,))
    assert (result.code, result.out) == (2, "")
    assert "--redundancy cannot be used with sequence-to-sequence models" in " ".join(result.err.split())
    result = evaluate(ROWS, "--units", 5, "--layout", "skip", models=(bart_folder,))
    assert "--layout, --units cannot be used with sequence-to-sequence models" in " ".join(result.err.split())


def test_the_folder_of_runs_is_for_tables_alone(discsum, evaluate, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").touch()
    assert evaluate(ROWS).code == 0
    result = discsum("evaluate", tmp_path, "--table", 3)
    assert (result.code, "runs: expected a folder for --runs, got a file" in result.err) == (1, True)


def test_options_that_would_not_be_looked_at(discsum, evaluate, tmp_path):
    result = evaluate(ROWS, "--draws", 2, "--set", "seed=1")
    assert (result.code, "--draws, --set cannot be used without --table" in result.err) == (2, True)
    result = discsum("evaluate", "--table", 3, tmp_path, "--unit", "edu", "--against", "lead")
    assert (result.code, "--against, --unit cannot be used with --table" in result.err) == (2, True)
    result = discsum("evaluate", "lead", tmp_path, "--table", 3)
    assert (result.code, "expected DATA alone with --table, got lead before it" in result.err) == (2, True)


def test_trigram_blocking_can_be_measured(evaluate):
    text = "The mill wheel broke. The mill wheel broke again. Rain came."
    spans = [Span(0, 21), Span(22, 49), Span(50, 60)]
    rows = [Document.from_spans(text, spans, spans).to_json() | {"summary": "Rain came."}]
    plain, blocked = (
        json.loads(evaluate(rows, "--units", 2, "--format", "json", *options, models=("lead",)).out)
        for options in ([], ["--block-trigrams"])
    )
    assert "block-trigrams:yes" in blocked["signature"]
    assert (blocked["models"][0]["words"], plain["models"][0]["words"]) == (4 + 2, 4 + 5)


@pytest.mark.parametrize("unit", ["sentence", "edu"])
def test_a_dataset_folder_gives_what_its_table_gives(
    discsum, evaluate, summarizer_folders, parser_folder, tmp_path, unit
):
    models = ("lead", summarizer_folders[unit], "oracle")
    options = ("--unit", unit, "--units", 1, "--format", "json")
    from_table = json.loads(evaluate(ROWS, *options, "-o", tmp_path / "a.jsonl", models=models).out)
    made = ("--parser", parser_folder, "--encoder", "contextual", "--oracle-units", 1)
    assert discsum("preprocess", tmp_path / "table.jsonl", tmp_path / "set", *made).code == 0
    result = discsum("evaluate", *models, tmp_path / "set", *options, "-o", tmp_path / "b.jsonl.gz")
    assert (result.code, result.err) == (0, "")
    for one, other in zip(from_table["models"], json.loads(result.out)["models"], strict=True):
        for name in ("model", "words", "place", "overlap", "parameters"):
            assert one[name] == other[name], name
        for metric in ("rouge1", "rouge2", "rougeLsum"):
            assert one[metric]["mean"] == other[metric]["mean"]
    lines = (tmp_path / "a.jsonl").read_text()
    assert gzip.decompress((tmp_path / "b.jsonl.gz").read_bytes()).decode() == lines
    entries = [json.loads(line) for line in lines.splitlines()]
    assert [(entry["model"], entry["id"]) for entry in entries] == [
        (str(model), id) for model in models for id in ("a", "b")
    ]
    mean = sum(entry["rouge2"] for entry in entries[:2]) / 2
    assert 100 * mean == pytest.approx(from_table["models"][0]["rouge2"]["mean"])
    other_length = discsum("evaluate", "oracle", tmp_path / "set", "--unit", unit, "--units", 2)
    assert "oracle: measured by the folder's labels, made for another length (oracle-units:1)" in other_length.err
    result = discsum("evaluate", "lead", tmp_path / "set", "--text-column", "body")
    assert (result.code, "expected neither with a dataset folder" in result.err) == (2, True)
    other_unit = discsum("evaluate", "lead", tmp_path / "set", "--unit", unit, "--first", 5)
    assert "expected rows between 5 and the last, found none" in other_unit.err
    result = discsum("evaluate", "lead", tmp_path / "set", "--parser", parser_folder)
    message = "--parser cannot be used with a dataset folder, whose documents are parsed"
    assert (result.code, message in result.err) == (2, True)


def test_models_against_any_of_them(evaluate):
    result = evaluate(ROWS, "--against", "random", "--against", "oracle", models=("lead", "random", "oracle"))
    assert result.code == 0
    assert [line.split("  ")[0] for line in result.out.splitlines() if " minus " in line] == [
        "lead minus random",
        "lead minus oracle",
        "random minus oracle",
        "oracle minus random",
    ]
    result = evaluate(ROWS, "--against", "gone")
    assert result.code == 2
    assert "expected one of lead, oracle, got gone" in result.err


def test_models_with_rules_against_repetition_by_default(evaluate, summarizer_folders):
    plain = summarizer_folders["sentence"]
    # Next to the original, so that the relative path of its parser stays valid.
    folder = plain.with_name("blocking")
    shutil.copytree(plain, folder)
    config = json.loads((folder / "config.json").read_text())
    config["summarizer"] |= {"block_trigrams": True, "redundancy": 2.5, "brevity": 0.02}
    (folder / "config.json").write_text(json.dumps(config))
    signatures = {}
    for options in ((), ("--block-trigrams",), ("--no-block-trigrams",)):
        data = json.loads(evaluate(ROWS, "--format", "json", *options, models=("lead", folder)).out)
        signatures[options] = ["block-trigrams:yes" in model["signature"] for model in data["models"]]
    assert list(signatures.values()) == [[False, True], [True, True], [False, False]]
    for options, expected in (
        ((), "|redundancy:2.5|brevity:0.02|"),
        (("--redundancy", 4), "|redundancy:4|brevity:0.02|"),
    ):
        data = json.loads(evaluate(ROWS, "--format", "json", *options, models=(folder,)).out)
        assert expected in data["signature"]
    assert "redundancy" not in evaluate(ROWS, "--redundancy", 0, "--brevity", 0, models=("lead", folder)).out
    message = "redundancy: expected none with lead, which gives no probabilities"
    refused = evaluate(ROWS, "--redundancy", 4, models=("lead", folder))
    assert (refused.code, message in refused.err) == (2, True)
    lines = evaluate(ROWS, models=("lead", folder)).out.splitlines()
    named = [line.partition(": ")[0] for line in lines if line.startswith("signature")]
    assert named == ["signature of lead", f"signature of {folder}"]


def test_markdown_and_signatures(evaluate):
    lines = evaluate(ROWS, "--format", "markdown", "--signature").out.splitlines()
    assert lines[1].startswith("| model | R-1 | R-2 | R-Lsum | words | place | in oracle |")
    assert lines[2] == "|---|---|---|---|---|---|---|---|---|"
    assert lines[3].startswith("| lead | ")
    signatures = [line for line in lines if line.startswith(("- lead R-", "- oracle R-")) and line.endswith("`")]
    # There is a signature for each score and each comparison.
    assert len(signatures) == 3 + 6
    assert all("ci:0.95|" in line for line in signatures)


def test_parameters_of_every_row_as_the_paper_prints_them(discsum, summarizer_folders):
    result = discsum("evaluate", "--parameters", "--format", "json")
    assert result.code == 0
    rows = json.loads(result.out)["models"]
    assert len(rows) == 36
    for row in rows:
        paper = row["paper"]
        assert round(row["attention"] / 1e6, 1) == paper["attention"]
        # Table 3 prints 3.7 for what table 2 prints as 3.8.
        if row["model"] != "table 3, balanced, Learned Random":
            assert round(row["whole"] / 1e6, 0 if isinstance(paper["parameters"], int) else 1) == paper["parameters"]
    table = discsum("evaluate", "--parameters").out.splitlines()
    assert table[1].split("  ")[0] == "table 2, default, Dot Product (8)"
    found = json.loads(discsum("evaluate", "--parameters", summarizer_folders["edu"], "--format", "json").out)
    assert found["models"][0]["whole"] > found["models"][0]["attention"] > 0
    assert "lead: expected a trained model, got a baseline" in discsum("evaluate", "--parameters", "lead").err


def test_an_abstractive_model_beside_lead(evaluate, discsum, bart_folder, parser_folder, tmp_path):
    lengths = ("--max-tokens", 12, "--min-tokens", 5, "--beams", 2)
    options = ("--format", "json", "-o", tmp_path / "scores.jsonl")
    result = evaluate(ROWS, *options, *lengths, models=("lead", bart_folder, "oracle"))
    assert (result.code, result.err) == (0, "")
    lead, written, _ = json.loads(result.out)["models"]
    assert written["parameters"] > 0
    assert (written["place"], written["overlap"]) == (None, None)
    assert "|beams:2|min-tokens:5|max-tokens:12|selector:all|" in written["rouge1"]["signature"]
    assert "|unit:sentence|units:3|" in lead["rouge1"]["signature"]
    assert [one["model"] for one in written["rouge1"]["against"]] == ["lead"]
    entries = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    own = [entry for entry in entries if entry["model"] == str(bart_folder)]
    assert [entry["selected"] for entry in own] == [None, None]
    # Summaries have as many words as those of `discsum abstract`.
    table, command = tmp_path / "table.jsonl", ("--model", bart_folder, "--parser", parser_folder, "--json", *lengths)
    lines = discsum("abstract", table, *command).out.splitlines()
    assert [len(json.loads(line)["summary"].split()) for line in lines] == [entry["words"] for entry in own]
    shown = evaluate(ROWS, *lengths, models=("lead", bart_folder))
    assert shown.code == 0
    assert f"{bart_folder} minus lead" in shown.out
    # It selects no units, so that a folder needs no labels of them.
    options = ("--encoder", "none", "--unit", "edu", "--parser", parser_folder)
    assert discsum("preprocess", table, tmp_path / "set", *options).code == 0
    command = ("evaluate", bart_folder, tmp_path / "set", *lengths, "--parser", parser_folder)
    assert discsum(*command).code == 0
    assert "--unit cannot be used with sequence-to-sequence models" in discsum(*command, "--unit", "edu").err


def test_a_sparse_model_is_signed_with_what_it_reads(evaluate, bart_folder):
    lengths = ("--max-tokens", 6, "--beams", 1, "--selector", "mean_key", "--r", 1)
    result = evaluate(ROWS, "--format", "json", *lengths, models=("lead", bart_folder))
    assert result.code == 0
    said = f"discsum: {bart_folder}: expected selected sentences, got all sentences of "
    assert result.err.startswith(said) and "3.5 * (r + 2) sentences is read whole" in result.err
    signature = json.loads(result.out)["models"][1]["rouge1"]["signature"]
    assert "|selector:mean_key|sentences-per-step:1|" in signature


def test_a_document_that_is_too_long_is_found_first(discsum, bart_folder, parser_folder, tmp_path, monkeypatch):
    rows = [{"text": "Rain fell.", "summary": "Rain."}] * 9 + [{"text": "Rain fell. " * 400, "summary": "Rain."}]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(AbstractiveSummarizer, "summarize", lambda *_, **__: pytest.fail("summarized too early"))
    result = discsum("evaluate", "lead", bart_folder, tmp_path / "t.jsonl", "--parser", parser_folder)
    assert (result.code, result.err.startswith("discsum: t-10: expected at most ")) == (1, True), result.err


def test_scores_are_not_written_under_the_ending_of_another_format(evaluate, tmp_path):
    result = evaluate(ROWS, "-o", tmp_path / "scores.csv", models=("lead",))
    assert (result.code, "expected a .jsonl or .jsonl.gz file, got" in result.err) == (2, True)


def test_numbers_that_are_too_large(evaluate, bart_folder):
    assert "--beams" in evaluate(ROWS, "--beams", 10**11, models=("lead", bart_folder)).err
    assert "found none" in evaluate(ROWS, "--first", 10**23, models=("lead",)).err
    assert evaluate(ROWS, "--last", 10**23, models=("lead",)).code == 0


def test_options_of_generation_without_an_abstractive_model(evaluate):
    result = evaluate(ROWS, "--beams", 2, "--truncate")
    assert (result.code, "--beams, --truncate cannot be used with extractive models" in result.err) == (2, True)


def test_the_scores_do_not_take_the_place_of_the_table(evaluate, tmp_path):
    result = evaluate(ROWS, "-o", tmp_path / "table.jsonl")
    assert result.code == 1
    assert "table.jsonl: expected another file for --output, this one is an input" in result.err
    assert len((tmp_path / "table.jsonl").read_text().splitlines()) == len(ROWS)


def test_a_saved_dataset_is_no_treebank(discsum, parser_folder, tmp_path):
    """Folders that `save_to_disk` wrote contain JSON files, like folders of trees."""
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_list([{"text": row["text"], "summary": "The mill stopped."} for row in ROWS])
    rows.save_to_disk(tmp_path / "one")
    datasets.DatasetDict({"train": rows, "test": rows}).save_to_disk(tmp_path / "splits")
    result = discsum("evaluate", "lead", tmp_path / "one", "--parser", parser_folder, "--format", "json")
    assert (result.code, json.loads(result.out)["documents"]) == (0, 2)
    result = discsum("evaluate", "lead", tmp_path / "splits", "--parser", parser_folder)
    assert result.code == 1
    assert "expected a dataset, got a folder of the splits test, train; name the folder of one split" in result.err


def test_a_model_named_twice(evaluate):
    result = evaluate(ROWS, models=("lead", "lead"))
    assert (result.code, "expected each model once, got lead twice" in result.err) == (2, True)


def test_a_parser_has_no_summaries(evaluate):
    result = evaluate(ROWS, models=("discsum-gum",))
    assert (result.code, "discsum-gum: expected a summarizer, got a parser, which" in result.err) == (1, True)
