"""`discsum evaluate` of summaries that other programs wrote."""

import gzip
import json
import shutil
from itertools import product

import pytest
import tiny

from discsum.metrics.rouge import rouge

ROWS = [
    {"id": "a", "text": tiny.ARTICLE, "summary": "The mill broke."},
    {"text": "The river rose. The mill stopped. Rain came.", "summary": "The mill stopped."},
]


@pytest.fixture
def evaluate(discsum, parser_folder, tmp_path):
    def run(summaries, *options, models=("lead",)):
        news, mine = tmp_path / "news.jsonl", tmp_path / "mine.jsonl"
        for path, rows in ((news, ROWS), (mine, summaries)):
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return discsum("evaluate", *models, mine, news, "--parser", parser_folder, *options)

    return run


def test_scores_of_lines_and_lists(evaluate, tmp_path):
    mine = [
        {"id": "news-2", "summary": ["The mill stopped.", "It rained."]},
        {"id": "a", "summary": "The mill broke.\nNobody came."},
        {"id": "of another text", "summary": ["Rain."]},
    ]
    result = evaluate(mine, "--format", "json", "-o", tmp_path / "scores.jsonl")
    assert result.code == 0
    assert result.err.endswith("1 of 3 summaries are not measured: no text has their ids, such as 'of another text'\n")
    _, own = json.loads(result.out)["models"]
    assert own["model"] == str(tmp_path / "mine.jsonl")
    assert [own[name] for name in ("parameters", "place", "overlap", "documents_a_second")] == [None] * 4
    # Both have five words, and all three of the reference.
    assert own["rouge1"]["mean"] == pytest.approx(100 * 2 * (3 / 5) / (3 / 5 + 1))
    (against,) = own["rouge1"]["against"]
    assert against["model"] == "lead" and against["low"] <= against["difference"] <= against["high"]
    assert "|summaries:" in own["signature"] and "summary-sentences" not in own["signature"]
    lines = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    assert [(one["id"], one["words"]) for one in lines[2:]] == [("a", 5), ("news-2", 5)]


@pytest.mark.parametrize("unit", ["sentence", "edu"])
def test_what_extract_writes_has_the_scores_of_the_model(discsum, parser_folder, tmp_path, unit):
    news, mine = tmp_path / "news.jsonl", tmp_path / "mine.jsonl"
    news.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    options = ("--unit", unit, "--units", 4, "--parser", parser_folder)
    assert discsum("extract", news, "--model", "lead", *options, "--json", "-o", mine).code == 0
    assert any(len(json.loads(line)["lines"]) > 1 for line in mine.read_text().splitlines())
    parts = ("-o", tmp_path / "parts", "--shards", "--shard", 1)
    assert discsum("extract", news, "--model", "lead", *options, *parts).code == 0
    result = discsum("evaluate", "lead", mine, parts[1], news, *options, "--layout", "skip", "--format", "json")
    lead, *own = json.loads(result.out)["models"]
    for metric, one in product(("rouge1", "rouge2", "rougeLsum"), own):
        assert one[metric]["mean"] == pytest.approx(lead[metric]["mean"])
    assert len({one["signature"] for one in own}) == 2
    refused = discsum("evaluate", parts[1], news, "-o", parts[1] / "failures.jsonl")
    assert (refused.code, "expected an output folder outside the inputs" in refused.err) == (1, True)


def test_folders_of_parts_that_cannot_be_used(discsum, parser_folder, tmp_path):
    news, folder = tmp_path / "news.jsonl", tmp_path / "parts"
    news.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    options = ("-o", folder, "--parser", parser_folder, "--shards", "--shard", 1)
    assert discsum("parse", news, *options).code == 0
    result = discsum("evaluate", folder, news)
    assert (result.code, "part-00000.jsonl.gz:1: expected a column summary, got" in result.err) == (1, True)
    shutil.rmtree(folder)
    assert discsum("extract", news, *options, "--model", "lead", "--part", "1/1").code == 0
    result = discsum("evaluate", folder, news)
    told = f"{folder}: expected a folder with manifest.json, this one is not finished: run discsum extract again"
    assert (result.code, told in result.err) == (1, True)
    shutil.rmtree(folder)
    good, _ = (json.dumps(row) for row in ROWS)
    (tmp_path / "failing.jsonl").write_text(f"{good}\n[]\n")
    assert discsum("extract", tmp_path / "failing.jsonl", *options, "--model", "lead").code == 3
    result = discsum("evaluate", folder, news)
    told = f"and without one TABLE-ROW; {folder / 'failures.jsonl'} lists documents that failed\n"
    assert (result.code, told in result.err) == (1, True)
    assert "expected a table with documents" not in result.err
    part = folder / "part-00000.jsonl.gz"
    part.write_bytes(gzip.compress(gzip.decompress(part.read_bytes()).replace(b"mill", b"town")))
    result = discsum("evaluate", folder, news)
    assert (result.code, f"{part}: expected a shard with sha256 " in result.err) == (1, True)
    assert "run discsum extract for the whole folder with --verify" in result.err


def test_folders_that_are_no_models(discsum, parser_folder, tmp_path):
    news, texts = tmp_path / "news.jsonl", tmp_path / "texts"
    news.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    options = ("--parser", parser_folder)
    assert discsum("extract", news, "--model", "lead", *options, "-o", texts).code == 0
    result = discsum("evaluate", texts, news, *options)
    assert (result.code, "write them to one table" in " ".join(result.err.split())) == (1, True)


def test_single_lines_are_split_by_the_parser(evaluate, monkeypatch):
    mine = [{"id": "a", "summary": "The mill broke. It rained."}, {"id": "news-2", "summary": "Rain came."}]
    split = [text.replace(". ", ".\n") for text in (mine[0]["summary"], mine[1]["summary"])]
    seen = []

    def lines(texts, parser):
        seen.extend(texts)
        return [split[[row["summary"] for row in mine].index(text)] for text in texts]

    monkeypatch.setattr("discsum.experiments.systems.split_lines", lines)
    result = evaluate(mine, "--format", "json", models=())
    assert (result.code, result.err, {*seen}) == (0, "", {row["summary"] for row in mine})
    (found,) = json.loads(result.out)["models"]
    assert "|summary-sentences:tiny-chart@" in found["signature"]
    expected = rouge(split, [(row["summary"],) for row in ROWS]).mean
    assert found["rougeLsum"]["mean"] == pytest.approx(100 * expected["rougeLsum"])


def test_a_file_alone_needs_no_parser(evaluate, monkeypatch):
    def none(*_):
        raise AssertionError("no parser is needed")

    monkeypatch.setattr("discsum.parsers.loading.load_parser", none)
    result = evaluate([{"id": name, "summary": ["Rain came."]} for name in ("a", "news-2")], models=())
    assert result.code == 0
    assert "parser:" not in result.out and "oracle" not in result.out.split("signature")[1]


def test_a_file_named_like_a_model(evaluate, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lead").write_text("A file of the user's.")
    result = evaluate([{"id": name, "summary": ["Rain came."]} for name in ("a", "news-2")], "--signature")
    assert result.code == 0
    # What lead depends on is not in the signature of the table.
    own = next(line for line in result.out.splitlines() if "|summaries:" in line)
    assert "parser:" not in own and "oracle" not in own


def test_the_output_never_replaces_summaries(evaluate, tmp_path):
    mine = tmp_path / "mine.jsonl"
    result = evaluate([{"id": name, "summary": "Rain."} for name in ("a", "news-2")], "-o", mine)
    assert result.code == 1
    assert "mine.jsonl: expected" in result.err
    assert json.loads(mine.read_text().splitlines()[0]) == {"id": "a", "summary": "Rain."}


def test_texts_with_the_same_id(evaluate, monkeypatch):
    monkeypatch.setitem(ROWS[1], "id", "a")
    result = evaluate([{"id": "a", "summary": "Rain."}])
    assert (result.code, "got several texts with the id a; give each an id of its own" in result.err) == (1, True)


def test_empty_summaries_are_counted(evaluate):
    result = evaluate([{"id": "a", "summary": ""}, {"id": "news-2", "summary": "Rain.\nIt fell."}])
    assert (result.code, "mine.jsonl: 1 of 2 summaries are empty" in result.err) == (0, True)


def test_references_need_no_texts(discsum, parser_folder, tmp_path):
    references, mine = tmp_path / "references.jsonl", tmp_path / "mine.jsonl"
    rows = [{"id": row.get("id", "news-2"), "references": [row["summary"], "Rain."]} for row in ROWS]
    references.write_text("".join(json.dumps(row) + "\n" for row in rows))
    mine.write_text("".join(json.dumps({"id": row["id"], "summary": ["Rain."]}) + "\n" for row in rows))
    result = discsum("evaluate", mine, references, "--format", "json")
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out)["models"][0]["rouge1"]["mean"] == 100
    result = discsum("evaluate", mine, "lead", references, "--parser", parser_folder)
    assert (result.code, "expected a column article or text" in result.err) == (1, True)


@pytest.mark.parametrize(
    ("summary", "told"),
    [
        ("['Rain.', 'It fell.']", "CSV has no lists"),
        ('["Rain."]', "CSV has no lists"),
        ("nan", "which stands for a missing value"),
    ],
)
def test_lists_written_as_text_are_refused(evaluate, summary, told):
    result = evaluate([{"id": "a", "summary": summary}, {"id": "news-2", "summary": "Rain."}])
    assert result.code == 1
    assert "mine.jsonl:1: expected a summary, got" in result.err and told in result.err


def test_markup_in_summaries_is_told_once(evaluate):
    rows = [{"id": name, "summary": "<p>Rain fell.</p> <p>It rained.</p><p>So.</p>"} for name in ("a", "news-2")]
    result = evaluate(rows, models=())
    assert (result.code, len(result.err.splitlines())) == (0, 1)
    assert "got marks such as <p>" in result.err


def test_models_of_different_units(discsum, evaluate):
    result = evaluate([{"id": "a", "summary": "Rain."}], models=("discsum-news-sentence", "discsum-news-edu"))
    told = "got discsum-news-sentence (sentence), discsum-news-edu (edu); to compare them, make a table"
    assert (result.code, told in result.err) == (1, True)


def test_an_option_as_a_value_is_not_given_twice(discsum, tmp_path):
    (tmp_path / "rain.txt").write_text("It rained.")
    result = discsum("extract", tmp_path / "rain.txt", "--model", "lead", "--query", "--units", "--units", "1")
    assert "given 2 times" not in result.err


def test_an_option_given_twice_is_told(evaluate):
    rows = [{"id": name, "summary": ["Rain."]} for name in ("a", "news-2")]
    result = evaluate(rows, "--summary-column", "other", "--summary-column", "summary", models=())
    assert (result.code, "--summary-column: given 2 times; only the last one counts" in result.err) == (0, True)


def test_on_a_dataset_folder(discsum, parser_folder, tmp_path):
    news, mine = tmp_path / "news.jsonl", tmp_path / "mine.jsonl"
    news.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    mine.write_text("".join(json.dumps({"id": name, "summary": ["Rain."]}) + "\n" for name in ("news-2", "a")))
    assert discsum("preprocess", news, tmp_path / "set", "--parser", parser_folder).code == 0
    result = discsum("evaluate", mine, "lead", tmp_path / "set")
    assert (result.code, f"lead minus {mine}" in result.out) == (0, True)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.csv", "none.csv: expected a table of summaries on this machine, found no such file"),
        ("mine.txt", "mine.txt: expected a table (.jsonl, .ndjson, "),
    ],
)
def test_files_that_are_no_tables(discsum, parser_folder, tmp_path, name, message):
    (tmp_path / "news.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    (tmp_path / "mine.txt").write_text("Rain.")
    result = discsum("evaluate", tmp_path / name, tmp_path / "news.jsonl", "--parser", parser_folder)
    assert (result.code, message in result.err) == (1, True)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": "a", "summary": "Rain."}], "expected a summary of every text, found none for 1 of 2, such as news-2"),
        ([{"id": 2.0, "summary": "Rain."}], "the table has ids such as 2.0, which no text has"),
        ([{"id": None, "summary": "Rain."}], "mine.jsonl:1: expected the id of a text, got None"),
        (
            [{"id": "a", "text": "Rain."}],
            "mine.jsonl:1: expected a column summary, got the columns id, text; rename",
        ),
        ([{"id": "a", "summary": 3}], "mine.jsonl:1: expected a summary or a list of its sentences, got 3"),
        ([{"id": "a", "summary": "Rain."}] * 2, "mine.jsonl:2: expected one summary for each text, got a second one"),
        (["Rain."], "mine.jsonl:1: expected"),
    ],
)
def test_tables_that_cannot_be_used(evaluate, rows, message):
    result = evaluate(rows)
    assert (result.code, result.out, message in result.err) == (1, "", True)


def test_options_of_models_are_wrong_usage(evaluate):
    for option in (["--beams", 2], ["--units", 2], ["--block-trigrams"]):
        result = evaluate([{"id": "a", "summary": "Rain."}], *option, models=())
        assert (result.code, f"{option[0]} cannot be used with tables of summaries" in result.err) == (2, True)
