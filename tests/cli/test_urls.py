"""Commands with URLs of a store in the memory of this process."""

import json
import uuid

import pytest
from small_news import write_table

from discsum.data.manifest import Manifest
from discsum.data.remote import RemotePath
from discsum.data.storage import remove, sizes_in, write_bytes


@pytest.fixture
def place(tmp_path):
    """Return a folder in a store, with a table in it."""
    folder = RemotePath(f"memory://commands/{uuid.uuid4().hex}")
    write_bytes(folder / "news.jsonl", write_table(tmp_path / "news.jsonl", 0, 11).read_bytes())
    return folder


def test_a_dataset_at_a_url_is_made_and_evaluated(discsum, place, parser_folder):
    command = ("preprocess", f"{place}/*.jsonl", f"{place}/set", "--parser", parser_folder, "--shard", "900B")
    result = discsum(*command)
    assert (result.code, result.out) == (0, "")
    manifest = Manifest.read(place / "set")
    assert result.err == f"{place}/set: 11 documents in {len(manifest.shards)} files\n"
    assert (manifest.recipe["shard"], manifest.recipe["shard_unit"]) == (900, "bytes")
    assert discsum(*command).code == 0
    result = discsum("evaluate", "lead", f"{place}/set")
    assert result.code == 0
    assert "11 documents" in result.out


def test_texts_at_urls(discsum, place, parser_folder):
    options = ("--model", "random", "--parser", parser_folder, "--json")
    write_bytes(place / "note.txt", b"It rained. The mill stood still.")
    result = discsum("extract", f"{place}/*.jsonl", *options)
    assert (result.code, result.err) == (0, "")
    assert [json.loads(line)["id"] for line in result.out.splitlines()] == [f"text-{number}" for number in range(11)]
    assert json.loads(discsum("extract", f"{place}/note.txt", *options).out)["id"] == "note"
    ids = [json.loads(line)["id"] for line in discsum("extract", place, *options).out.splitlines()]
    assert (len(ids), ids[-1]) == (12, "note")


def test_what_cannot_be_read_at_a_url(discsum, place):
    write_bytes(place / "tree.rs3", b"<rst/>")
    for name, message in (
        ("none.jsonl", "no such file or folder, or its store or server does not answer"),
        ("tree.rs3", "expected a text or a table at a URL, got a tree file; download it first"),
    ):
        result = discsum("extract", f"{place}/{name}", "--model", "random")
        assert result.code == 1
        assert f"{place}/{name}: {message}" in result.err


@pytest.mark.parametrize("shard", ["0", "8MB", "half"])
def test_sizes_that_cannot_be(discsum, place, shard):
    result = discsum("preprocess", f"{place}/news.jsonl", f"{place}/set", "--shard", shard)
    assert result.code == 2
    assert f"got {shard!r}" in result.err


@pytest.mark.parametrize("options", [("--workers", 2), ("--engine", "ray"), ("--workers", 2, "--part", "1/2")])
def test_memory_is_no_place_for_several_processes(discsum, place, parser_folder, options):
    commands = (
        ("preprocess", f"{place}/news.jsonl", f"{place}/set"),
        ("parse", f"{place}/news.jsonl", "--shards", "-o", f"{place}/set"),
    )
    for command in commands:
        result = discsum(*command, "--parser", parser_folder, *options)
        assert result.code == 1
        (line,) = result.err.splitlines()
        assert f"{place}/set: expected a folder that all workers can reach, got the memory of one process; run" in line
    assert sizes_in(place / "set") == sizes_in(place / "set" / ".locks") == {}


@pytest.mark.parametrize("name", ["run[12]", "run?", "run*"])
def test_patterns_are_no_place_for_output(discsum, place, parser_folder, name):
    for options in ((), ("--part", "1/2"), ("--finish",)):
        result = discsum("preprocess", f"{place}/news.jsonl", f"{place}/{name}", "--parser", parser_folder, *options)
        assert result.code == 1
        (line,) = result.err.splitlines()
        assert f"{place}/{name}: expected the URL of one output folder, got a pattern" in line


def test_a_whole_store_as_a_folder(discsum, place, parser_folder):
    result = discsum("parse", f"{place}/news.jsonl", "-o", "memory://", "--shards", "--parser", parser_folder)
    made = RemotePath("memory://")
    assert (result.code, result.err) == (0, f"{made}: 11 documents in 1 file\n")
    remove(made / name for name in sizes_in(made))


@pytest.mark.parametrize(
    "command",
    [
        ("parse", "note.txt", "-o", "s3://bucket/out/"),
        ("parse", "note.txt", "--format", "json", "-o", "s3://bucket/note.json"),
        ("extract", "note.txt", "-o", "gs://bucket/note.txt"),
        ("evaluate", "lead", "news.jsonl", "-o", "s3://bucket/scores.jsonl"),
        ("train", "news-edu", "data=news", "-o", "s3://bucket/run"),
        ("analyze", "corpus", "news.jsonl", "-o", "s3://bucket/analysis"),
    ],
)
def test_only_shards_are_written_to_stores(discsum, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "note.txt").write_text("It rained. The mill stood still.")
    write_table(tmp_path / "news.jsonl", 0, 3)
    result = discsum(*command)
    assert result.code == 2
    assert "expected a path on this machine, got the URL" in " ".join(result.err.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["news.jsonl", "note.txt"]


def test_a_file_whose_name_could_be_a_pattern(discsum, place, parser_folder):
    write_bytes(place / "a[1].txt", b"It rained.")
    write_bytes(place / "a1.txt", b"It snowed.")
    result = discsum("extract", f"{place}/a[1].txt", "--model", "lead", "--parser", parser_folder)
    assert (result.code, result.out) == (0, "It rained.\n")
