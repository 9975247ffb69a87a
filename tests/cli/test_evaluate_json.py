"""The JSON of `discsum evaluate` has the fields that docs/experiments.md lists."""

import json
import re
from pathlib import Path

import pytest
from small_news import write_table

SECTION = re.search(
    r"^### Scores as JSON\n(.*?)^### ",
    (Path(__file__).parents[2] / "docs" / "experiments.md").read_text(),
    re.M | re.S,
)[1]


def documented(kind):
    """Return the fields in the first column of the table of a kind of model."""
    table = SECTION.partition(f"| of {kind} |")[2].partition("\n\n")[0]
    return [name for row in re.findall(r"^\| (`[^|]*) \|", table, re.M) for name in re.findall(r"`(\w+)`", row)]


@pytest.mark.parametrize("kind", ["summarizers", "parsers"])
def test_fields(discsum, parser_folder, treebank, tmp_path, kind):
    lines = tmp_path / "scores.jsonl"
    if kind == "parsers":
        command = ("evaluate", parser_folder, treebank, "--split", "train")
    else:
        table = write_table(tmp_path / "news.jsonl", 0, 2)
        command = ("evaluate", "lead", "random", table, "--parser", parser_folder)
    result = discsum(*command, "--format", "json", "-o", lines)
    assert result.code == 0, result.err
    data = json.loads(result.out)
    fields = documented(kind)
    assert sorted(fields) == sorted([*data, *data["models"][0]]) and len(fields) > 8
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    assert {row["model"] for row in rows} == {one["model"] for one in data["models"]}
    if kind == "summarizers":
        assert list(rows[0]) == ["id", "model", "rouge1", "rouge2", "rougeLsum", "selected", "words"]
        mean = sum(row["rouge1"] for row in rows if row["model"] == "lead") / 2
        assert data["models"][0]["rouge1"]["mean"] == pytest.approx(100 * mean)
        (against,) = data["models"][1]["rouge1"]["against"]
        assert list(against) == ["model", "difference", "low", "high", "p", "signature"]
    else:
        assert list(rows[0]["raw_end"]["span"]) == ["gold", "predicted", "right"]
