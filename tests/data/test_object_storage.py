"""Datasets that are made, resumed, read and trained on in object storage."""

import json
import multiprocessing
import os
import signal
import time

import datasets
import numpy as np
import pytest
import torch
from fsspec.implementations.memory import MemoryFileSystem
from small_news import write_table

from discsum.data import claims, leases, shard_listing
from discsum.data.claims import begin, part_lock_name
from discsum.data.dataset import load
from discsum.data.dataset_maker import DatasetMaker
from discsum.data.input_source import InputSource
from discsum.data.inputs import read_inputs
from discsum.data.leases import leased, read_lease
from discsum.data.manifest import Manifest, begun_recipe, write_recipe
from discsum.data.pairs import PairSource
from discsum.data.parse_parts import ParseRecipe, parse_job
from discsum.data.part_maker import Division
from discsum.data.parts import Part
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe, own_makers
from discsum.data.records import Origin, record_file
from discsum.data.remote import RemotePath
from discsum.data.rows import open_rows
from discsum.data.run_options import RunOptions
from discsum.data.shard_listing import Listing
from discsum.data.shard_maker import ShardTask
from discsum.data.shard_names import record_name
from discsum.data.shard_run import finish, make_all, make_part
from discsum.data.storage import read_bytes, remove, sizes_in, write_bytes
from discsum.encoder.synthesizer import SynthesizerConfig
from discsum.errors import InputError, InputWarning
from discsum.experiments.blocks import DatasetBlocks
from discsum.summarizer.training.examples import UnitExamples


def contents(folder):
    """Return the files of a local or remote folder by name."""
    return {name: read_bytes(folder / name) for name in sizes_in(folder)}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = write_table(tmp_path_factory.mktemp("tables") / "news.jsonl", 0, 11)
    path.write_text(path.read_text() + "{\n")
    return path


@pytest.fixture(scope="module")
def recipe(parser_folder):
    return PreprocessRecipe(str(parser_folder), encoder="contextual", shard=2)


@pytest.fixture(scope="module")
def whole(table, recipe, tmp_path_factory):
    """Return a dataset folder made on a disk."""
    folder = tmp_path_factory.mktemp("datasets") / "whole"
    make(table, folder, recipe)
    return folder


def make(table, folder, recipe, run=make_all, part=None, **options):
    source = PairSource(str(table))
    job = preprocess_job(source.pairs(), source.identity(), folder, recipe)
    return run(job, *([part] if part else []), RunOptions(**options))


def test_a_folder_in_a_store_has_the_bytes_of_one_on_a_disk(table, recipe, whole, place):
    made = make(table, place, recipe)
    assert (made.documents, made.failed) == (11, 1)
    assert contents(place) == contents(whole)
    assert Manifest.read(place) == Manifest.read(whole)
    assert make(table, place, recipe, report=pytest.fail).shards == made.shards
    name = "shard-00001.parquet"
    write_bytes(place / name, read_bytes(place / name)[:-1] + b"?")
    # Without `verify`, finished shards are not read again.
    make(table, place, recipe)
    told = []
    make(table, place, recipe, verify=True, warn=told.append)
    assert [name in line and line.endswith("; made again") for line in told] == [True]
    assert contents(place) == contents(whole)
    manifest = read_bytes(place / "manifest.json")
    write_bytes(place / "manifest.json", manifest.replace(b'"documents": 2', b'"documents": 1'))
    with pytest.raises(InputError, match=r"documents and . failures, as the manifest says"):
        make(table, place, recipe, verify=True)
    write_bytes(place / "manifest.json", manifest)
    with pytest.raises(InputError, match="oracle 'rouge12-f' there and 'kedzie' here"):
        make(table, place, PreprocessRecipe(recipe.parser, "kedzie", encoder="contextual", shard=2))


@pytest.mark.parametrize("shard", [(2, "documents"), (500, "bytes")])
def test_tables_in_a_store(table, recipe, whole, place, shard):
    write_bytes(place / "in" / "news.jsonl", table.read_bytes())
    size, unit = shard
    made = PreprocessRecipe(recipe.parser, encoder="contextual", shard=size, shard_unit=unit)
    # With shards of documents, the table is also found by its folder and by a pattern.
    names = ["in/news.jsonl", "in", "in/*.jsonl"][: 1 if unit == "bytes" else None]
    for name in names:
        make(f"{place}/{name}", place / "set", made)
        assert [row["text"] for row in open_rows(place / "set")] == [row["text"] for row in open_rows(whole)]
        manifest = Manifest.read(place / "set")
        assert (manifest.failed, manifest.recipe["shard_unit"]) == (1, unit)
        remove(place / "set" / name for name in sizes_in(place / "set"))


def test_another_table_at_the_same_url_is_refused(table, recipe, place):
    write_bytes(place / "news.jsonl", table.read_bytes())
    make(place / "news.jsonl", place / "set", recipe, make_part, part=Part(1, 2))
    write_bytes(place / "news.jsonl", table.read_bytes().replace(b"river", b"mills"))
    with pytest.raises(InputError, match=r"documents version '.*' there and '.*' here"):
        make(place / "news.jsonl", place / "set", recipe)


def test_parts_and_what_is_missing(table, recipe, whole, place):
    assert make(table, place, recipe, make_part, part=Part(2, 2)) == 3
    assert "manifest.json" not in sizes_in(place)
    with pytest.raises(InputError, match=r"expected 6 shards, 3 missing: shard-00000.parquet, "):
        make(table, place, recipe, finish)
    assert make(table, place, recipe, make_part, part=Part(1, 2)) == 3
    make(table, place, recipe, finish)
    assert contents(place) == contents(whole)


def test_a_folder_in_hdfs(table, recipe, whole, hdfs):
    assert make(table, hdfs, recipe, make_part, part=Part(2, 2)) == 3
    found = []
    make(table, hdfs, recipe, skip=found.append)
    assert found[-1] == 6
    assert contents(hdfs) == contents(whole)
    assert [row["text"] for row in open_rows(hdfs)] == [row["text"] for row in open_rows(whole)]


def test_a_resumed_run_lists_its_folder_once(table, recipe, monkeypatch):
    folder, listed = RemotePath("memory://listed/set"), []
    make(table, folder, recipe, make_part, part=Part(1, 1))
    real = MemoryFileSystem.ls
    monkeypatch.setattr(
        MemoryFileSystem, "ls", lambda files, path, **options: listed.append(path) or real(files, path, **options)
    )
    make(table, folder, recipe)
    # The second folder has the locks of parts.
    assert sorted(listed) == ["/listed/set", "/listed/set/.locks"]


@pytest.mark.parametrize(
    ("damage", "verify", "told"),
    [
        (lambda path: write_bytes(path, read_bytes(path)[:-1]), False, "expected a shard of "),
        (lambda path: write_bytes(path, b"?" + read_bytes(path)[1:]), True, "expected a shard with sha256 "),
        (lambda path: remove([record_file(path)]), False, "expected its record in .shard-00003.json"),
        (lambda path: write_bytes(record_file(path), b"{"), False, "expected JSON in UTF-8"),
    ],
    ids=["cut", "altered", "without record", "half a record"],
)
def test_damaged_shards_are_made_anew(table, recipe, whole, place, damage, verify, told):
    make(table, place, recipe, make_part, part=Part(1, 1))
    damage(place / "shard-00003.parquet")
    lines, found = [], []
    make(table, place, recipe, warn=lines.append, verify=verify, skip=found.append)
    (line,) = lines
    assert told in line
    assert line.endswith("; made again")
    assert found[-1] == 10
    assert contents(place) == contents(whole)


def test_parts_of_parsed_documents(table, recipe, place, tmp_path):
    source = InputSource([str(table)])
    for folder in (place, tmp_path / "parts"):
        job = parse_job(source, folder, ParseRecipe(recipe.parser), Division(shard=4))
        make_all(job, RunOptions())
    assert contents(place) == contents(tmp_path / "parts")
    here, there = (list(read_inputs([str(folder)])) for folder in (tmp_path / "parts", place))
    assert [item.document for item in here] == [item.document for item in there]
    assert len(there) == 11


def test_two_workers_may_write_one_shard(table, recipe, place):
    source, seen = PairSource(str(table)), []
    maker = DatasetMaker(place, "digest", own_makers(recipe.parser), "cpu", recipe)
    for _ in range(2):
        maker(ShardTask("shard-00003.parquet", list(source.pairs(0, 2))), lambda steps: None)
        seen.append(contents(place))
    assert seen[0] == seen[1]
    assert sorted(seen[0]) == [".shard-00003.json", "shard-00003.parquet"]


def slow(table, folder, recipe):
    """Make a folder, with a pause after each batch of documents."""
    make(table, RemotePath(folder), recipe, report=lambda done: time.sleep(0.3))


def test_a_run_killed_in_a_store_ends_as_if_undisturbed(table, recipe, whole, bucket):
    folder = RemotePath(f"{bucket}/killed")
    process = multiprocessing.get_context("spawn").Process(target=slow, args=(table, str(folder), recipe))
    process.start()
    while ".shard-00001.json" not in sizes_in(folder):
        assert process.is_alive()
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert "manifest.json" not in sizes_in(folder)
    lock = read_lease(folder / ".lock")
    with pytest.raises(InputError, match=f"another run is using it \\({lock.owner}, until "):
        make(table, folder, recipe)
    # Make the lock look expired.
    write_bytes(folder / ".lock", leases.Lease(lock.owner, 0.0).to_bytes())
    found = []
    with pytest.warns(InputWarning, match=f"{lock.owner}, until .*; this run takes it over"):
        make(table, folder, recipe, workers=2, skip=found.append)
    assert found[:2] == [2, 4]
    assert contents(folder) == contents(whole)


def test_training_and_evaluation_read_a_store_without_a_copy(table, recipe, whole, place, tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    for name, content in contents(whole).items():
        write_bytes(place / name, content)
    there, here = (UnitExamples(one, "edu", SynthesizerConfig("d_tree", width=32)) for one in (str(place), whole))
    assert (len(there), there.digest, there.texts()) == (11, here.digest, here.texts())
    np.testing.assert_array_equal(there.lengths, here.lengths)
    for number in (10, 0, 5):
        torch.testing.assert_close(there[number].inputs.vectors, here[number].inputs.vectors)
        assert there[number].document == here[number].document
    blocks = [DatasetBlocks(one, "sentence", 3, 9) for one in (place, whole)]
    assert [[item.document.id for block in one for item in block.documents] for one in blocks] == [
        [f"text-{number}" for number in range(3, 9)]
    ] * 2
    assert list(tmp_path.iterdir()) == []
    assert contents(place) == contents(whole)
    # `load` returns a class of the library `datasets`, which maps a copy on a disk.
    assert load(str(place))["text"] == load(whole)["text"]


def test_an_altered_shard_in_a_store_is_named_when_it_is_read(table, recipe, whole, place):
    for name, content in contents(whole).items():
        write_bytes(place / name, content.replace(b"PAR1", b"PAR2") if name == "shard-00004.parquet" else content)
    found = open_rows(place)
    assert [found[number]["id"] for number in (7, 0)] == ["text-7", "text-0"]
    with pytest.raises(InputError, match=r"shard-00004\.parquet: expected a shard with sha256 \w+, got \w+"):
        found[8]
    remove([place / "shard-00005.parquet"])
    with pytest.raises(InputError, match=r"shard-00005\.parquet: expected a shard, got "):
        found[10]


def test_many_shards_are_read_in_the_order_of_their_numbers(monkeypatch):
    numbers = [*range(99_990, 100_010), 1_000_003]
    sizes = {f"part-{number:05d}.jsonl.gz": 1 for number in numbers}
    listing = Listing(RemotePath("memory://many"), sizes, frozenset(map(record_name, sizes)))
    read = []
    monkeypatch.setattr(shard_listing, "read_each", lambda paths: [read.append(str(path)) for path in paths])
    for name in listing.names:
        with pytest.raises(InputError, match="expected its record"):
            listing.record(name, Origin(""))
    assert len(read) == len(set(read)) == len(numbers)
    assert [int(name.split("-")[1].split(".")[0]) for name in listing.names] == numbers


def test_of_parts_that_begin_a_folder_at_the_same_moment_one_writes_the_recipe(place, monkeypatch):
    def recipe(oracle):
        return {"documents": {}, "made_by": {}, "oracle": oracle}

    looked = claims._check_unclaimed

    def begun_meanwhile(folder):
        looked(folder)
        write_recipe(folder, recipe("kedzie"))

    monkeypatch.setattr(claims, "_check_unclaimed", begun_meanwhile)
    name = part_lock_name(Part(1, 2), recipe("kedzie"))
    with leased(place / ".locks" / name, place):
        with pytest.raises(InputError, match=r"'kedzie' there and 'bertsum' here.*wait for them, or stop them"):
            begin(place, recipe("bertsum"), in_parts=True)
        assert begin(place, recipe("kedzie"), in_parts=True)
    assert begun_recipe(place) == recipe("kedzie")


def test_a_remote_table_is_identified_by_what_its_store_says_of_it(place):
    found = []
    for word in ("Rain", "Snow"):
        write_bytes(place / "news.jsonl", json.dumps({"text": f"{word} fell.", "summary": word}).encode())
        found.append([PairSource(str(place / "news.jsonl")).identity() for _ in range(2)])
    assert found[0][0] == found[0][1] != found[1][0] == found[1][1]
