"""Limits of the commands: odd documents, long documents, a full disk."""

import json
import os
import resource
import subprocess
import sys

import pytest
from small_news import pairs, write_recipe, write_table

ROOM = 6_000


@pytest.fixture
def recipe(tmp_path, parser_folder):
    write_table(tmp_path / "validation.jsonl", 50, 54)
    return write_recipe(tmp_path, parser_folder, epochs=1, batch_size=4, synthesizer={"inner": 16, "scorer": 8})


def write_rows(path, *rows):
    path.write_text("".join(json.dumps({"text": text, "summary": summary}) + "\n" for text, summary in rows))


@pytest.mark.parametrize("unit", ["sentence", "edu"])
def test_documents_of_one_unit_and_oracles_of_nothing_and_of_all(discsum, recipe, tmp_path, unit):
    text = pairs(0, 1)[0].text
    write_rows(tmp_path / "train.jsonl", ("Rain.", "Rain."), (text, "Zebra quagga okapi."), (text, text), ("!", "!"))
    result = discsum("train", recipe, f"unit={unit}", "-o", tmp_path / "run")
    assert result.code == 0, result.err
    assert "train.jsonl: 4 documents" in result.out
    assert (tmp_path / "run" / "best" / "model.safetensors").is_file()
    figures = discsum("evaluate", "lead", "oracle", tmp_path / "train.jsonl", "--unit", unit, "--format", "json")
    assert figures.code == 0, figures.err


@pytest.mark.parametrize("head", ["c_tree_nuc", "dense"])
def test_five_thousand_units(discsum, recipe, tmp_path, head):
    """With more units than a head's `max_units`, training uses the first section, summarization all sections."""
    text = " ".join(f"The miller number {number} stopped the wheel." for number in range(5000))
    write_rows(tmp_path / "train.jsonl", (text, "The miller number 7 stopped the wheel."))
    result = discsum("train", recipe, f"synthesizer.head={head}", "-o", tmp_path / "run")
    assert result.code == 0, result.err
    (tmp_path / "long.txt").write_text(text)
    result = discsum("extract", tmp_path / "long.txt", "--model", tmp_path / "run" / "best", "--json")
    assert result.code == 0, result.err
    assert len(json.loads(result.out)["scores"]) >= 4000


def test_references_without_a_word(discsum, recipe, tmp_path):
    write_rows(tmp_path / "train.jsonl", ("It rained.", ""), ("It rained.", " \n"), ("It rained. It stopped.", "Rain."))
    result = discsum("train", recipe, "-o", tmp_path / "run")
    assert result.code == 0, result.err
    assert "train.jsonl: 2 rows left out, see " in result.out
    assert "train.jsonl: 1 documents" in result.out


def limited(command, room):
    """Run discsum where no file may grow beyond `room` bytes."""
    return subprocess.run(
        [sys.executable, "-m", "discsum", *map(str, command)],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
        timeout=300,
    )


def whole(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "tensorboard" not in path.parts and path.name != ".lock"
    }


def test_a_disk_without_room_leaves_nothing_half_written(discsum, recipe, parser_folder, tmp_path):
    table = write_table(tmp_path / "train.jsonl", 0, 8)
    command = ("preprocess", table, "OUT", "--parser", parser_folder, "--encoder", "contextual", "--shard", 4)
    folders = [tmp_path / name for name in ("full", "free")]
    result = limited([folders[0] if part == "OUT" else part for part in command], ROOM)
    assert result.returncode == 1
    assert result.stderr == f"discsum: {folders[0] / 'shard-00000.parquet'}: File too large\n"
    assert not [path for path in folders[0].iterdir() if path.suffix in (".parquet", ".writing")]
    for folder in folders:
        assert discsum(*(folder if part == "OUT" else part for part in command)).code == 0
    assert whole(folders[0]) == whole(folders[1])

    # Evaluation needs no disk space in addition to the shards.
    sizes = [path.stat().st_size for path in folders[0].glob("*.parquet")]
    result = limited(("evaluate", "lead", folders[0]), max(sizes))
    assert (result.returncode, result.stderr) == (0, "")
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".arrow", ".writing")]

    runs = [tmp_path / name / "run" for name in ("a", "b")]
    # There is space for the data and the weights, but not for a checkpoint.
    discsum("train", recipe, "epochs=1", "-o", tmp_path / "a" / "first")
    sizes = [path.stat().st_size for path in (tmp_path / "a").rglob("*.safetensors")]
    result = limited(("train", recipe, "-o", runs[0]), max(sizes) - 1)
    assert result.returncode == 1
    assert result.stderr.endswith(f"{runs[0] / 'last.safetensors'}: File too large\n")
    assert not list(runs[0].glob("*last*"))
    for run in runs:
        assert discsum("train", recipe, "-o", run).code == 0
    assert whole(runs[0]) == whole(runs[1])
