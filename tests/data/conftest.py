"""Fixtures of every engine, with two workers each, of every object store, and of a folder of parsed documents.

Add new engines and stores to `params` here.
"""

import json
import signal
import uuid
from importlib import import_module
from importlib.util import find_spec

import pytest
from object_store import google_store, object_store
from small_cluster import small_cluster
from small_news import pairs

from discsum.data.engines import engine_of
from discsum.data.input_source import InputSource
from discsum.data.parse_parts import ParseRecipe, parse_job
from discsum.data.part_maker import Division
from discsum.data.remote import RemotePath
from discsum.data.run_options import RunOptions
from discsum.data.shard_run import make_all

# Timeout of one test with an engine, in seconds.
LIMIT = 180


@pytest.fixture(scope="package")
def cluster():
    """Start a cluster of two nodes with one CPU each, shared by the tests of this folder."""
    pytest.importorskip("ray", reason='needs Ray: pip install "discsum[ray]"')
    with small_cluster() as cluster:
        yield cluster


@pytest.fixture
def bounded():
    """Fail a test that hangs."""

    def stop(*_):
        # Does not raise an `Exception`, after which Ray would retry.
        pytest.fail(f"no end after {LIMIT} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(params=["local", "ray"])
def engine(request, bounded):
    """Return an engine with two workers."""
    if request.param == "local":
        return engine_of("local", 2)
    return engine_of(f"ray:{request.getfixturevalue('cluster').address}", 2)


@pytest.fixture(scope="package")
def bucket():
    """Yield the URL of a bucket in a local S3 store."""
    for library in ("moto.server", "s3fs"):
        pytest.importorskip(library, reason='needs an object store: pip install "moto[server]" "discsum[s3]"')
    with object_store() as bucket:
        yield bucket


@pytest.fixture(scope="package")
def google_bucket():
    """Yield the URL of a bucket in a local Google Cloud Storage emulator."""
    # Not `importorskip`: gcsfs reads its settings when it is imported, so the store must set them first.
    if not all(map(find_spec, ("gcp_storage_emulator", "gcsfs"))):
        pytest.skip('needs a store: pip install gcp-storage-emulator "discsum[gs]"')
    with google_store() as bucket:
        yield bucket


@pytest.fixture(params=["memory", "s3", "gs"])
def place(request):
    """Return an empty folder in a store."""
    buckets = {"s3": "bucket", "gs": "google_bucket"}
    named = buckets.get(request.param)
    root = request.getfixturevalue(named) if named else "memory://tests"
    return RemotePath(f"{root}/{uuid.uuid4().hex}")


@pytest.fixture
def hdfs(monkeypatch, tmp_path):
    """Return an HDFS URL that stands for a local folder, through fsspec's file system for HDFS."""
    arrow = pytest.importorskip("fsspec.implementations.arrow")
    from pyarrow.fs import LocalFileSystem

    class Files(arrow.HadoopFileSystem):
        cachable = False

        def __init__(self, **options):
            arrow.ArrowFSWrapper.__init__(self, LocalFileSystem())

        def _open(self, path, mode="rb", **options):
            # HDFS creates the parent folders of a new file.
            if mode != "rb":
                self.makedirs(self._parent(path))
            return super()._open(path, mode, **options)

    monkeypatch.setitem(import_module("fsspec.registry")._registry, "hdfs", Files)
    return RemotePath(f"hdfs://node:8020{tmp_path}/hdfs")


@pytest.fixture(scope="package")
def parse_table(tmp_path_factory):
    """Write seventeen texts; the third line is not JSON, and the last is blank."""
    lines = [json.dumps({"id": pair.id, "text": pair.text}) for pair in pairs(0, 17)]
    lines[2:2] = ["{"]
    path = tmp_path_factory.mktemp("tables") / "news.jsonl"
    path.write_text("\n".join([*lines, ""]))
    return path


@pytest.fixture(scope="package")
def parse_job_of(parse_table, parser_folder):
    """Return a function that makes the job of a folder, which has four parts by default."""

    def job(folder, *inputs, recipe=(), **parts):
        source = InputSource([str(path) for path in inputs or [parse_table]])
        made_by = ParseRecipe(str(parser_folder), **dict(recipe))
        return parse_job(source, folder, made_by, Division(**({"shard": 5} | parts)))

    return job


@pytest.fixture(scope="package")
def parsed_folder(parse_job_of, tmp_path_factory):
    """Return a folder of parsed documents in four parts, made in this process. Do not change it."""
    folder = tmp_path_factory.mktemp("parts") / "whole"
    make_all(parse_job_of(folder), RunOptions())
    return folder
