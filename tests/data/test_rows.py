"""Rows read from the shards of a dataset folder equal those of the library `datasets`."""

import hashlib
import io
import json
import shutil
import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_news import write_table

import discsum.data
from discsum.data import rows as rows_module
from discsum.data import shards
from discsum.data.examples import Collection
from discsum.data.manifest import Manifest
from discsum.data.pairs import PairSource
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe
from discsum.data.rows import DatasetRows, ShardFile, open_rows
from discsum.data.shard_run import make_all
from discsum.errors import InputError
from discsum.training import sampling
from discsum.training.sampling import Batches


@pytest.fixture(scope="module")
def folder(parser_folder, tmp_path_factory):
    """Make a folder of 23 documents in shards of 5; all five entries of one shard failed."""
    place = tmp_path_factory.mktemp("rows")
    table = write_table(place / "news.jsonl", 0, 23)
    lines = table.read_text().splitlines()
    table.write_text("\n".join([*lines[:5], *["{"] * 5, *lines[5:]]))
    source = PairSource(str(table))
    make_all(
        preprocess_job(source.pairs(), source.identity(), place / "set", PreprocessRecipe(str(parser_folder), shard=5))
    )
    return place / "set"


@pytest.fixture(scope="module")
def wanted(folder):
    return discsum.data.load(folder)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    bounds=st.tuples(st.integers(0, 25), st.none() | st.integers(0, 30)),
    memory=st.sampled_from([0, 30_000, 1 << 30]),
    order=st.lists(st.integers(0, 22), max_size=6),
)
def test_rows_are_those_of_the_library(folder, wanted, bounds, memory, order):
    first, last = bounds
    chosen = range(23)[first:last]
    rows = open_rows(folder, first, last, memory=memory)
    assert (len(rows), rows.column_names) == (len(chosen), wanted.column_names)
    for number in order:
        if number < len(chosen):
            assert rows[number] == wanted[chosen[number]]
    if chosen:
        assert rows[-1] == wanted[chosen[-1]]
    assert [row["id"] for row in rows] == [wanted[number]["id"] for number in chosen]
    assert list(rows.values("text")) == [wanted[number]["text"] for number in chosen]
    labels = [part.to_pylist() for part in rows.column("edu_labels")]
    assert [label for part in labels for label in part] == [wanted[number]["edu_labels"] for number in chosen]


def test_blocks_that_fit_into_memory_are_read_once_a_pass(folder, monkeypatch):
    reads = []
    real = rows_module.read_bytes
    monkeypatch.setattr(rows_module, "read_bytes", lambda path: reads.append(path.name) or real(path))
    fitting = open_rows(folder)
    assert fitting.blocks.tolist() == [0] * 23
    order = np.random.default_rng(0).permutation(23).tolist() * 2
    assert [fitting[number]["id"] for number in order] == [f"text-{number}" for number in order]
    assert len(reads) == len(set(reads)) == 5
    narrow = open_rows(folder, memory=2 * fitting._tables[0].nbytes)
    assert narrow.blocks.tolist() == [0] * 5 + [1] * 5 + [2] * 5 + [3] * 5 + [4] * 3
    assert open_rows(folder, 3, 12, memory=0).blocks.tolist() == [0] * 2 + [1] * 5 + [2] * 2
    # In random order, files are read again and again. Block by block, each is read once, except the first, which is
    # also read to estimate sizes.
    reads.clear()
    assert [narrow[number]["id"] for number in order] == [f"text-{number}" for number in order]
    assert len(reads) > 10 and len(narrow._tables) <= 2
    blocks = np.stack([np.zeros(23, dtype=int), narrow.blocks], axis=1)
    # Documents of a group of batches are sorted by length. With groups of two documents, each is in at most two blocks.
    monkeypatch.setattr(sampling, "GROUP", 1)
    batches = Batches(np.ones(23, dtype=int), np.ones(23), batch=2, seed=1, blocks=blocks)
    reads.clear()
    drawn = [int(number) for step in range(batches.steps) for number in batches[step]]
    assert [narrow[number]["id"] for number in drawn] == [f"text-{number}" for number in drawn]
    assert set(drawn) == set(range(23))
    assert len(reads) <= 6


def test_parts_of_several_files_are_read_together(folder, monkeypatch):
    """The barriers pass only when all five files of the folder with documents are open at the same time."""

    def waiting(function):
        together = threading.Barrier(5, timeout=10)

        def call(*arguments):
            together.wait()
            return function(*arguments)

        return call

    monkeypatch.setattr(rows_module, "_uncompressed", waiting(rows_module._uncompressed))
    assert len(open_rows(folder).blocks) == 23
    assert len([*open_rows(folder).column("id")]) == 5
    manifest = Manifest.read(folder)
    kept = replace(manifest, shards=tuple(shard for shard in manifest.shards if shard.documents))
    monkeypatch.setattr(shards, "read_contents", waiting(shards.read_contents))
    shards.check_shards(kept, folder)


def test_blocks_know_the_size_of_each_file(folder, tmp_path):
    """The first file is small, so its size must not be taken as the size of the others."""
    shard = pq.read_table(folder / "shard-00000.parquet")
    files = []
    for number, copies in enumerate([1, 60, 60, 60, 1, 1]):
        path = tmp_path / f"{number}.parquet"
        text = shard["text"].to_pylist()
        content = shard.set_column(0, "text", [[one * copies for one in text]])
        pq.write_table(content, path)
        files.append(ShardFile(path, 5, hashlib.sha256(path.read_bytes()).hexdigest()))
    sizes = [file.table().nbytes for file in files]
    assert sizes[1] > 3 * sizes[0]
    rows = DatasetRows(files, memory=sum(sizes) // 2)
    for block in range(rows.blocks.max() + 1):
        held = {number // 5 for number in np.flatnonzero(rows.blocks == block)}
        assert sum(sizes[number] for number in held) < sum(sizes) // 2
    assert rows.blocks.max() >= 2
    assert DatasetRows(files, memory=2 * sum(sizes)).blocks.max() == 0


def test_a_collection_knows_the_blocks_of_its_sources():
    def source(*blocks):
        examples = SimpleNamespace(lengths=np.ones(len(blocks), dtype=int), blocks=np.array(blocks), digest="d")
        return type("Of", (), {**vars(examples), "__len__": lambda self: len(blocks)})(), 1.0

    whole = Collection([source(0, 0), source(0, 1, 1)])
    assert whole.blocks.tolist() == [[0, 0], [0, 0], [1, 0], [1, 1], [1, 1]]
    plain, other = Collection([source(0, 0), source(0, 0, 0)]), Collection([source(0, 0), source(0, 0, 1)])
    assert len({whole.digest, plain.digest, other.digest}) == 3
    sample = whole.sampled(3, 1)
    assert len(sample) == 3 and {tuple(block) for block in sample.blocks.tolist()} <= {(0, 0), (1, 0), (1, 1)}


def test_a_column_is_read_alone(folder, monkeypatch):
    monkeypatch.setattr(rows_module, "read_bytes", lambda path: pytest.fail("read whole"))
    assert list(open_rows(folder, 7, 9).values("id")) == ["text-7", "text-8"]


class WatchedFile(io.FileIO):
    """A file that records which threads read it."""

    readers: ClassVar[set[int]] = set()

    def read(self, size=-1):
        self.readers.add(threading.get_ident())
        return super().read(size)

    def readinto(self, buffer):
        self.readers.add(threading.get_ident())
        return super().readinto(buffer)


def test_no_other_thread_reads_a_column(folder):
    # A thread of Arrow that still holds Python objects when the process ends would abort it.
    shard = min(folder.glob("*.parquet"))
    watched = SimpleNamespace(open=lambda mode: WatchedFile(shard))
    with ShardFile(watched, 5, "").opened() as file:
        assert len(file.read(["text"], use_threads=False)) == 5
    assert WatchedFile.readers == {threading.get_ident()}


def test_damaged_folders(folder, tmp_path):
    content = json.loads((folder / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    shutil.copy(folder / "shard-00000.parquet", tmp_path)
    # Only files that are read are hashed.
    rows = open_rows(tmp_path)
    assert rows[0]["id"] == open_rows(folder)[0]["id"]
    with pytest.raises(InputError, match=r"shard-00002\.parquet: expected a shard, got .*No such file"):
        list(rows)
    for content_of_file in (None, b"PAR1"):
        if content_of_file is not None:
            (tmp_path / "shard-00002.parquet").write_bytes(content_of_file)
        with pytest.raises(InputError, match=r"shard-00002\.parquet: expected a shard, got .* with --verify"):
            list(open_rows(tmp_path).values("text"))
    with pytest.raises(InputError, match=r"shard-00002\.parquet: expected a shard with sha256 .* with --verify"):
        list(rows)
    content["shards"][0]["documents"] += 1
    (tmp_path / "manifest.json").write_text(json.dumps(content | {"documents": content["documents"] + 1}))
    with pytest.raises(InputError, match=r"shard-00000\.parquet: expected \d+ documents, as the manifest says, got"):
        list(open_rows(tmp_path))
    content["shards"] = []
    (tmp_path / "manifest.json").write_text(json.dumps(content | {"documents": 0, "failed": 0}))
    with pytest.raises(InputError, match="expected a dataset folder with documents, got none: 0 failed"):
        open_rows(tmp_path)
