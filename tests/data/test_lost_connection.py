"""Stores whose connection is lost: what could be read is kept, and no run of shards takes the rest for damaged."""

import io
import json
import re
import uuid
from importlib import import_module

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from discsum.data import storage
from discsum.data.input_source import InputSource
from discsum.data.inputs import read_inputs
from discsum.data.parse_parts import ParseRecipe, parse_job
from discsum.data.part_maker import Division
from discsum.data.parts import Part
from discsum.data.remote import RemotePath
from discsum.data.shard_listing import Listing
from discsum.data.shard_run import finish, make_all, make_part
from discsum.errors import InputError, NoAnswerError


class CutError(Exception):
    """The error of a driver that has lost the connection to its store."""


class CutFile(io.BytesIO):
    """A file whose connection is lost after some bytes."""

    def readinto(self, buffer):
        if self.tell() > 100_000:
            raise CutError("the connection is closed\nby peer")
        return super().readinto(buffer)

    def read(self, size=-1):
        raise CutError("the connection is closed")


class CutFiles(MemoryFileSystem):
    """A file system that loses its connection while files are read."""

    protocol = "cut"

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.replace("cut://", "memory://"))

    def open(self, path, *args, **options):
        return CutFile(self.cat_file(path))


@pytest.fixture
def cut(monkeypatch):
    """Return a table in a store whose connection is lost while the table is read."""
    monkeypatch.setitem(import_module("fsspec.registry")._registry, "cut", CutFiles)
    row = json.dumps({"text": "It rained.", "other": "x" * 200}) + "\n"
    storage.write_bytes(RemotePath("memory://cut/news.jsonl"), row.encode() * 1000)
    return RemotePath("cut://cut/news.jsonl")


def test_a_store_that_is_gone_while_a_file_is_read(cut):
    gone = rf"^{cut}: expected storage that fsspec can reach, got CutError: the connection is closed; check the address"
    for read in (list, lambda file: file.read(), lambda file: (file.seek(200_000), file.read(1))):
        with pytest.raises(InputError, match=gone), cut.open() as file:
            read(file)
    *items, failure = read_inputs([str(cut)])
    assert len(items) > 400
    assert re.match(gone, failure.reason)


def test_a_store_that_is_gone_ends_a_run_of_shards(cut, parser_folder, tmp_path):
    """Otherwise the rest of the table would be one failed document of a finished folder."""
    # Read by the driver, as the inputs are not all tables that can be divided.
    (tmp_path / "a.txt").write_text("It rained.")
    for number, inputs in enumerate(([str(cut)], [str(cut), str(tmp_path / "a.txt")])):
        folder, source = tmp_path / str(number), InputSource(inputs)
        job = parse_job(source, folder, ParseRecipe(str(parser_folder)), Division(shard=100))
        with pytest.raises(NoAnswerError, match="CutError: the connection is closed"):
            make_all(job)
        assert not (folder / "manifest.json").exists()


def test_a_store_that_is_gone_leaves_shards_as_they_are(parser_folder, tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("It rained.")
    folder = RemotePath(f"memory://gone/{uuid.uuid4().hex}")
    job = parse_job(InputSource([str(tmp_path / "a.txt")]), folder, ParseRecipe(str(parser_folder)), Division(shard=1))
    make_part(job, Part(1, 1))
    before = storage.sizes_in(folder)

    def refuse(*_):
        raise NoAnswerError("no answer")

    with monkeypatch.context() as patched:
        patched.setattr(Listing, "_content", refuse)
        with pytest.raises(NoAnswerError):
            finish(job)
    assert storage.sizes_in(folder) == before and finish(job).documents == 1


def test_a_remote_table_without_texts_is_one_failure(parser_folder, tmp_path):
    """It was read, so the store does answer."""
    tables = [RemotePath(f"memory://{uuid.uuid4().hex}/{name}.parquet") for name in ("texts", "others")]
    for table, column in zip(tables, ("text", "x"), strict=True):
        content = pa.BufferOutputStream()
        pq.write_table(pa.table({column: ["It rained.", "We left."]}), content)
        storage.write_bytes(table, content.getvalue().to_pybytes())
    source = InputSource([str(table) for table in tables])
    made = make_all(parse_job(source, tmp_path / "set", ParseRecipe(str(parser_folder)), Division(shard=5)))
    assert (made.documents, made.failed) == (2, 1)
    assert "expected a column article or text" in (tmp_path / "set" / "failures.jsonl").read_text()
