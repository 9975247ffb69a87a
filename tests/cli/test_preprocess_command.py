import json

import pytest

ROWS = [
    {"id": f"d{number}", "article": f"Text {number}. It rained.", "highlights": "It rained."} for number in range(10)
]


@pytest.fixture
def preprocess(discsum, parser_folder, tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))

    def run(*options):
        return discsum("preprocess", path, tmp_path / "data", "--parser", parser_folder, *options)

    return run


def test_a_dataset_folder(preprocess, tmp_path):
    result = preprocess("--unit", "edu", "--shard", 4, "--oracle", "discobert-edu")
    assert (result.code, result.out) == (0, "")
    assert "10 documents in 3 files" in result.err
    names = sorted(path.name for path in (tmp_path / "data").iterdir() if not path.name.startswith("."))
    assert names == ["failures.jsonl", "manifest.json", *(f"shard-{number:05d}.parquet" for number in range(3))]


def test_a_wrong_column_is_answered_with_those_there_are(preprocess):
    result = preprocess("--text-column", "body")
    assert result.code == 1
    assert "news.jsonl:1: expected a column body, got id, article, highlights; use --text-column" in result.err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--unit", "word"], 2, "expected one of sentence, edu, both, got 'word'"),
        (["--workers", 0], 2, "--workers"),
        (["--oracle", "best"], 1, "oracle: expected one of kedzie, bertsum, discobert-edu, rouge12-f, got 'best'"),
        (["--encoder", "no/such/folder"], 1, "no/such/folder: expected the folder of a Hugging Face encoder"),
    ],
)
def test_options_that_cannot_be(preprocess, options, code, message):
    result = preprocess(*options)
    assert result.code == code
    assert message in result.err
