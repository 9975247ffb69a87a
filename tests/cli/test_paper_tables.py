"""One command trains and evaluates every row of a table of the paper."""

import json

import pytest
from small_news import write_table

SETTINGS = {
    "vectors": "contextual",
    "steps": 1,
    "validate_every": 1,
    "batch_size": 4,
    "synthesizer.inner": 8,
    "synthesizer.key_size": 4,
    "synthesizer.value_size": 4,
    "synthesizer.scorer": 4,
    "synthesizer.max_units": 16,
    "sample": 6,
}


# R-1 published in the paper, by setting and row.
PAPER = {
    2: {("default", "Dot Product (8)"): 41.02, ("balanced", "C-Tree"): 40.28},
    3: {("default", "Dot Product (8)"): 41.82, ("balanced", "C-Tree"): 41.68},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name, first, last in (("train", 0, 10), ("validation", 20, 24), ("test", 30, 36)):
        write_table(folder / f"{name}.jsonl", first, last)
    return folder


@pytest.mark.parametrize(("table", "unit"), [(3, "sentence"), (2, "edu")])
def test_a_table(discsum, data, parser_folder, tmp_path, table, unit):
    for name in ("train", "validation", "test"):
        options = ("--parser", parser_folder, "--encoder", "contextual", "--oracle", "kedzie")
        assert discsum("preprocess", data / f"{name}.jsonl", tmp_path / name, *options).code == 0
    settings = [f"--set={key}={value}" for key, value in {**SETTINGS, "parser": parser_folder}.items()]
    draws = 2 if table == 3 else 1
    command = ("evaluate", "--table", table, tmp_path, "--runs", tmp_path / "runs", "--draws", draws, *settings)
    result = discsum(*command, "--format", "json", "-o", tmp_path / "scores.jsonl.gz")
    assert result.code == 0, result.err
    # Progress is shown on a terminal only.
    assert "\r" not in result.err
    found = json.loads(result.out)
    rows = found["rows"]
    assert (found["documents"], found["draws"], len(rows)) == (6, draws, 20)
    assert [row["label"] for row in rows[:3]] == ["Lead3" if table == 3 else "Lead6", "Oracle", "Dot Product (8)"]
    assert all("|oracle:kedzie|" in row["signature"] for row in rows)
    printed = [row["rouge1"]["paper"] for row in rows[:2]]
    assert printed == ([40.30, 56.04] if table == 3 else [37.99, 62.08])
    if unit == "sentence":
        # With EDUs, the lead may be longer than the oracle's limit of 100 words.
        assert rows[1]["rouge1"]["mean"] >= rows[0]["rouge1"]["mean"] - 1e-9
    assert PAPER[table].items() <= {(row["setting"], row["label"]): row["rouge1"]["paper"] for row in rows}.items()
    for row in rows[2:]:
        figures = row["rouge1"]
        assert figures["mean"] == pytest.approx(sum(figures["draws"]) / draws)
        assert (figures["spread"] is None) == (draws == 1)
        assert row["parameters"]["whole"] > row["parameters"]["attention"]
        assert set(figures["daggers"]) <= {"†", "‡"}
        assert row["label"] != "Dot Product (8)" or not figures["daggers"]
    for setting in ("default", "balanced"):
        best = max((row for row in rows if row["setting"] == setting), key=lambda row: row["rouge2"]["mean"])
        assert "†" in best["rouge2"]["daggers"] or best["label"] == "Dot Product (8)"
    # The second run trains nothing again.
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").rglob("model.safetensors")}
    assert len(made) == 18 * draws
    again = discsum(*command)
    assert {path: path.stat().st_mtime_ns for path in made} == made
    assert "default setting" in again.out and "† not significantly worse" in again.out
    alone = discsum(*command, "--setting", "balanced").out
    assert "balanced setting" in alone and "default setting" not in alone
    # The scores are the same as in the whole table.
    assert alone.splitlines()[-4] in again.out.splitlines()


def test_a_table_of_several_seeds(discsum, data, parser_folder, tmp_path):
    for name in ("train", "validation", "test"):
        options = ("--parser", parser_folder, "--encoder", "contextual", "--oracle", "kedzie")
        assert discsum("preprocess", data / f"{name}.jsonl", tmp_path / name, *options).code == 0
    fields = {**SETTINGS, "parser": parser_folder, "sample": "null"}
    settings = [f"--set={key}={value}" for key, value in fields.items()]
    command = ("evaluate", "--table", 3, tmp_path, "--runs", tmp_path / "runs", "--setting", "balanced", "--seeds", 2)
    result = discsum(*command, *settings, "-f", "json", "-o", tmp_path / "scores.jsonl")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert (found["seeds"], found["draws"]) == (2, 1)
    folders = sorted(path.parent.name for path in (tmp_path / "runs" / "sentence-balanced-dense").glob("*/best"))
    assert folders == ["seed-1", "seed-2"]
    cards = [(tmp_path / "runs" / "sentence-balanced-dense" / name / "best" / "README.md") for name in folders]
    assert ["\nseed: 1\n" in card.read_text() for card in cards] == [True, False]
    for row in found["rows"][2:]:
        assert row["rouge1"]["mean"] == pytest.approx(sum(row["rouge1"]["draws"]) / 2)
        assert row["rouge1"]["spread"] == pytest.approx(
            abs(row["rouge1"]["draws"][0] - row["rouge1"]["draws"][1]) / 2**0.5
        )
    # Other seeds give other weights.
    assert any(row["rouge1"]["spread"] for row in found["rows"][2:])
    models = {json.loads(line)["model"] for line in (tmp_path / "scores.jsonl").read_text().splitlines()}
    assert f"{tmp_path}/runs/sentence-balanced-dense/seed-2/best" in models
    assert "over 2 seeds" in discsum(*command, *settings).out
    for more, message in (
        (("--draws", 2, "--set", "sample=6"), "--seeds 2: expected a single draw with several seeds, got --draws 2"),
        (("--set", "seed=7"), "--seeds 2: expected no seed among the settings"),
    ):
        refused = discsum(*command, *settings, *more)
        assert (refused.code, message in refused.err) == (1, True)


def test_draws_need_samples(discsum, tmp_path):
    result = discsum("evaluate", "--table", 3, tmp_path, "--draws", 2)
    assert result.code == 1
    assert "--draws 2: expected --low-resource, or sample=N among the settings" in result.err
    assert (
        "expected one of 2, 3, coarse-to-fine, faster-encoders, got '5'"
        in discsum("evaluate", "--table", 5, tmp_path).err
    )
    result = discsum("evaluate", "--table", 3, tmp_path, "--set", "sample_seed=7")
    assert (result.code, "expected no sample_seed among the settings" in result.err) == (1, True)
    result = discsum("evaluate", "--table", 3, tmp_path, "--set", "synthesizer.head=dense", "--set", "steps=2")
    message = "--set: expected no fields that define the rows or the data, got synthesizer.head"
    assert (result.code, message in result.err) == (1, True)
    result = discsum("evaluate", "--table", 3, tmp_path, "--setting", "tiny")
    assert result.code == 2
    assert "'--setting': expected one of default, balanced, got 'tiny'" in result.err


def test_folders_that_do_not_do_are_refused_with_what_does(discsum, data, parser_folder, tmp_path):
    for name in ("train", "validation", "test"):
        options = ("--parser", parser_folder, "--encoder", "contextual", "--oracle", "kedzie")
        assert discsum("preprocess", data / f"{name}.jsonl", tmp_path / name, *options).code == 0
    command = ("evaluate", "--table", 3, tmp_path, "--runs", tmp_path / "runs", f"--set=parser={parser_folder}")
    result = discsum(*command)
    assert result.code == 1
    assert "add vectors=contextual to discsum train or --set vectors=contextual to discsum evaluate" in result.err
    result = discsum(*command, "--set", "vectors=contextual", "--set", "sample=10", "--draws", 2)
    assert result.code == 1
    assert "--draws 2: expected more documents than sample=10 in" in result.err and "got 10;" in result.err
    # 1,000 documents cannot be drawn from ten.
    result = discsum(*command, "--low-resource", "--draws", 2)
    assert "expected more documents than sample=1000" in result.err
