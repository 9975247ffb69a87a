import json

import pytest
import tiny

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
    result = evaluate(ROWS, "--json", "--units", 1, models=("lead", summarizer_folders["sentence"], "oracle"))
    assert (result.code, result.err) == (0, "")
    data = json.loads(result.out)
    assert data["documents"] == 2
    lead, trained, oracle = data["models"]
    assert (lead["model"], oracle["model"]) == ("lead", "oracle")
    assert oracle["rouge1"]["mean"] >= max(lead["rouge1"]["mean"], trained["rouge1"]["mean"])
    assert oracle["rouge1"]["difference"] == pytest.approx(oracle["rouge1"]["mean"] - lead["rouge1"]["mean"])
    assert 0 < oracle["rouge1"]["p"] <= 1


def test_the_signature_says_what_the_figures_depend_on(evaluate, parser_folder):
    signatures = {
        json.loads(evaluate(ROWS, "--json", *options).out)["signature"]
        for options in ([], ["--units", 1], ["--unit", "edu"])
    }
    assert len(signatures) == 3
    assert all("|parser:tiny-chart@" in signature and "|bs:10000|rs:12345" in signature for signature in signatures)
    assert any("|unit:edu|units:6|dependencies:yes|" in signature for signature in signatures)


def test_rows_that_are_no_pair_are_named_and_the_rest_is_measured(evaluate):
    bad = [{"text": "A text.", "summary": 5}, {"text": " ", "summary": "x"}, {"text": "A text."}, "{"]
    result = evaluate([*bad, *ROWS])
    assert result.code == 3
    for line, message in enumerate(
        (
            "expected a reference summary or a list of them, got 5",
            "expected a text, got ' '",
            "expected a column references or highlights or summary, got text; use --summary-column",
            "expected a JSON object a line",
        ),
        start=1,
    ):
        assert f"table.jsonl:{line}: {message}" in result.err
    assert "2 documents" in result.out


def test_a_table_without_pairs(evaluate):
    result = evaluate([{"text": "A text."}])
    assert result.code == 1
    assert "expected a column references or highlights or summary, got text; use --summary-column" in result.err
    result = evaluate([{"text": "A text.", "summary": ""}])
    assert result.code == 1
    assert "expected texts with reference summaries, got none" in result.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--units", 0], "expected at least 1, got 0"),
        (["--unit", "word"], "expected one of sentence, edu, got 'word'"),
        (["--rst-parseval"], "--split and --rst-parseval are for treebanks"),
    ],
)
def test_wrong_usage(evaluate, options, message):
    result = evaluate(ROWS, *options)
    assert result.code == 2
    assert message in result.err


def test_options_of_tables_on_a_treebank_are_wrong_usage(discsum, treebank, parser_folder):
    result = discsum("evaluate", parser_folder, treebank, "--unit", "edu")
    assert result.code == 2
    assert "--unit and --units are for tables" in result.err
