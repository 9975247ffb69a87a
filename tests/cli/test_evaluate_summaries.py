"""`discsum evaluate` of summaries that other programs wrote."""

import json

import pytest
import tiny

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
        {"id": "of another text", "summary": ""},
    ]
    result = evaluate(mine, "--format", "json", "-o", tmp_path / "scores.jsonl")
    assert (result.code, result.err) == (0, "")
    _, own = json.loads(result.out)["models"]
    assert own["model"] == str(tmp_path / "mine.jsonl")
    assert [own[name] for name in ("parameters", "place", "overlap", "documents_a_second")] == [None] * 4
    # Both have five words, and all three of the reference.
    assert own["rouge1"]["mean"] == pytest.approx(100 * 2 * (3 / 5) / (3 / 5 + 1))
    assert own["rouge1"]["against"][0]["model"] == "lead"
    assert "|summaries:" in own["signature"] and "summary-sentences" not in own["signature"]
    lines = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    assert [(one["id"], one["words"]) for one in lines[2:]] == [("a", 5), ("news-2", 5)]


def test_single_lines_are_split_by_the_parser(evaluate):
    result = evaluate([{"id": "a", "summary": "The mill broke. It rained."}, {"id": "news-2", "summary": "Rain came."}])
    assert result.code == 0
    assert "|summary-sentences:tiny-chart@" in result.out


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": "a", "summary": "Rain."}], "expected a summary of every text, found none with the id news-2"),
        ([{"id": "a", "text": "Rain."}], "mine.jsonl:1: expected a column summary, got the columns id, text; rename"),
        ([{"id": "a", "summary": 3}], "mine.jsonl:1: expected a summary or a list of its sentences, got 3"),
        ([{"id": "a", "summary": "Rain."}] * 2, "mine.jsonl:2: expected one summary for each text, got a second one"),
        (["Rain."], "mine.jsonl:1: expected"),
    ],
)
def test_tables_that_cannot_be_used(evaluate, rows, message):
    result = evaluate(rows)
    assert (result.code, result.out, message in result.err) == (1, "", True)


def test_options_of_models_are_wrong_usage(evaluate):
    for option in ("--beams", "--units"):
        result = evaluate([{"id": "a", "summary": "Rain."}], option, 2, models=())
        assert (result.code, f"{option} cannot be used with files of summaries" in result.err) == (2, True)
