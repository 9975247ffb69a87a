"""`discsum evaluate` of summaries of a given length."""

import json

import pytest

TEXT = "The fair was closed, and the mill stood still. It rained. Nobody came at all, although it was free."


@pytest.fixture
def evaluate(discsum, parser_folder, tmp_path):
    def run(*options):
        path = tmp_path / "table.jsonl"
        path.write_text(json.dumps({"id": "a", "text": TEXT, "summary": "The mill stood still."}) + "\n")
        return discsum("evaluate", "lead", "oracle", path, "--parser", parser_folder, *options)

    return run


@pytest.mark.parametrize(("length", "signed"), [(["--words", 9], "words:9"), (["--ratio", 0.5], "ratio:0.5")])
def test_lengths_in_words(evaluate, tmp_path, length, signed):
    scores = tmp_path / "scores.jsonl"
    result = evaluate(*length, "--signature", "-o", scores)
    assert (result.code, f"|{signed}|" in result.out, "measured with" in result.err) == (0, True, False)
    lead = json.loads(scores.read_text().splitlines()[0])
    assert 4 <= lead["words"] <= 9 < len(TEXT.split())


def test_the_oracle_has_no_limit_in_words(evaluate):
    for length, told in ((["--words", 9], True), (["--units", 1], False)):
        assert ("oracle: measured at its own length: it has no limit in words" in evaluate(*length).err) is told


def test_a_budget_in_words_that_no_sentence_fits(evaluate):
    result = evaluate("--words", 1)
    assert result.code == 0
    assert "expected a summary of at most 1 words, got" in result.err
