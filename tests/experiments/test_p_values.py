"""The p-values in docs/tables.md are those that tests/benchmarks/p_values.py prints for docs/scores."""

import json
import os
import subprocess
import sys

import pytest
from documented import ROOT

sys.path.insert(0, str(ROOT / "tests" / "benchmarks"))
import p_values


@pytest.fixture
def printed(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["p_values.py", *map(str, arguments)])
        p_values.main()
        return [line.split() for line in capsys.readouterr().out.splitlines()]

    return run


def test_of_draws(printed):
    scores = ROOT / "docs" / "scores" / "table-2.jsonl.gz"
    only = [f"runs/edu-balanced-{head}" for head in ("dot_product-8", "c_tree_nuc")]
    (line,) = printed(scores, "--only", *only)
    assert line == [*only, "-0.17", "p=0.2056"]
    text = " ".join((ROOT / "docs" / "tables.md").read_text().split())
    assert "are 0.16 and 0.17 above eight heads with 12.6 million (p=.181 and .206;" in text


def test_of_perplexities(printed):
    scores = ROOT / "docs" / "scores" / "small-coarse-to-fine.jsonl.gz"
    found = {(one, other): (float(nats), p) for one, other, nats, p in printed(scores, "--metric", "nats")}
    assert found["hier", "c2f"] == (-0.0075, "p=0.0727")
    assert found["standard", "hier"] == (-0.0304, "p=0.0001")
    assert found["c2f", "c2f-pos"] == (-0.0167, "p=0.0011")
    assert {pair for pair, (nats, _) in found.items() if "standard" in pair and nats > -0.025} == set()
    assert found["hier", "c2f-subtrees"] == (0.0052, "p=0.2214")
    text = " ".join((ROOT / "docs" / "coarse_to_fine.md").read_text().split())
    assert "STANDARD is best (3% below HIER, p < .001" in text and "worse than HIER (0.8%, p = .07)" in text


def test_of_compressed_encoders(printed):
    scores = ROOT / "docs" / "scores" / "small-faster-encoders.jsonl.gz"
    nats = {(one, other): (float(found), p) for one, other, found, p in printed(scores, "--metric", "nats")}
    assert nats["baseline", "strided-conv"] == (0.1532, "p=0.0001") and nats["strided", "strided-edus"][1] == "p=0.0104"
    text = " ".join((ROOT / "docs" / "faster_encoders.md").read_text().split())
    assert "(14% below `baseline`)" in text and "better than `strided` in perplexity (p = .010)" in text


def test_of_seeds(printed, tmp_path):
    rows = [("one", 1, [0.1, 0.4]), ("one", 2, [0.3, 0.6]), ("two", 1, [0.3, 0.6]), ("two", 2, [0.5, 0.8])]
    lines = [
        json.dumps({"model": f"runs/{name}/seed-{seed}/best", "id": f"text-{place}", "rouge1": value})
        for name, seed, values in rows
        for place, value in enumerate(values)
    ]
    path = tmp_path / "scores.jsonl"
    path.write_text("\n".join(lines))
    assert [line[:3] for line in printed(path)] == [["runs/one", "runs/two", "-20.00"]]


def test_of_an_analysis(printed, tmp_path):
    systems = {
        "a": [{"r": 1, "documents": {"rouge2": [0.5, 0.5]}}],
        "b": [{"r": None, "documents": {"rouge2": [0.25, 0.25]}}],
    }
    path = tmp_path / "rouge.json"
    path.write_text(json.dumps({"systems": systems}))
    assert printed(path, "--metric", "rouge2") == [["a", "r=1", "b", "r=all", "+25.00", "p=0.0001"]]


def test_of_nats(printed, tmp_path):
    """Joined files: both have the baseline, which has no nats, and the documents come in another order."""
    path = tmp_path / "scores.jsonl"

    def write(**changes):
        rows = [("a", 0, 2.0, 1), ("a", 1, 3.0, 3), ("b", 1, 2.0, 3), ("b", 0, 4.0, 1)]
        first = {"vocabulary": "words"}
        lines = [
            {"model": model, "id": f"text-{place}", "nats": nats, "tokens": tokens} | first
            for model, place, nats, tokens in rows
        ]
        lines[2] |= changes
        baseline = {"model": "lead", "id": "text-0", "rouge1": 0.5}
        path.write_text("\n".join(map(json.dumps, [baseline, *lines, baseline])))

    write()
    # (1 * (2 - 4) + 3 * (3 - 2)) / 4
    assert [line[:3] for line in printed(path, "--metric", "nats")] == [["a", "b", "+0.2500"]]
    for changes, message in (({"tokens": 4}, "vocabulary"), ({"id": "text-2"}, "same documents")):
        write(**changes)
        with pytest.raises(ValueError, match=message):
            printed(path, "--metric", "nats")
    write()
    path.write_text(path.read_text().replace("words", "others", 2))
    with pytest.raises(ValueError, match="expected models with the same vocabulary"):
        printed(path, "--metric", "nats")


def test_a_reader_that_closes_the_pipe():
    read, write = os.pipe()
    os.close(read)
    only = [f"runs/edu-balanced-{head}" for head in ("dot_product-8", "c_tree_nuc")]
    scores = str(ROOT / "docs" / "scores" / "table-2.jsonl.gz")
    found = subprocess.run(
        [sys.executable, p_values.__file__, scores, "--only", *only], stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)
    assert (found.returncode, found.stderr) == (0, b"")
