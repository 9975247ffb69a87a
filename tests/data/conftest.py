"""Engines, each with two workers; a new one joins the contract by its name here. Stores of objects, likewise."""

import signal
import uuid
from importlib import import_module
from importlib.util import find_spec

import pytest
from object_store import google_store, object_store
from small_cluster import small_cluster

from discsum.data.engines import engine_of
from discsum.data.remote import RemotePath

# Seconds for one test with an engine.
LIMIT = 180


@pytest.fixture(scope="package")
def cluster():
    """Two nodes of one CPU each, for the tests of this folder."""
    pytest.importorskip("ray", reason='needs Ray: pip install "discsum[ray]"')
    with small_cluster() as cluster:
        yield cluster


@pytest.fixture
def bounded():
    """End a test that hangs."""

    def stop(*_):
        # No `Exception`, which Ray tries again after.
        pytest.fail(f"no end after {LIMIT} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(params=["local", "ray"])
def engine(request, bounded):
    """An engine with two workers."""
    if request.param == "local":
        return engine_of("local", 2)
    return engine_of(f"ray:{request.getfixturevalue('cluster').address}", 2)


@pytest.fixture(scope="package")
def bucket():
    """The URL of a bucket on this machine."""
    for library in ("moto.server", "s3fs"):
        pytest.importorskip(library, reason='needs an object store: pip install "moto[server]" "discsum[s3]"')
    with object_store() as bucket:
        yield bucket


@pytest.fixture(scope="package")
def google_bucket():
    """The URL of a bucket on this machine, as Google's."""
    # Not `importorskip`: gcsfs reads its settings when it is imported.
    if not all(map(find_spec, ("gcp_storage_emulator", "gcsfs"))):
        pytest.skip('needs a store: pip install gcp-storage-emulator "discsum[gs]"')
    with google_store() as bucket:
        yield bucket


@pytest.fixture(params=["memory", "s3", "gs"])
def place(request):
    """An empty folder in a store."""
    buckets = {"s3": "bucket", "gs": "google_bucket"}
    named = buckets.get(request.param)
    root = request.getfixturevalue(named) if named else "memory://tests"
    return RemotePath(f"{root}/{uuid.uuid4().hex}")


@pytest.fixture
def hdfs(monkeypatch, tmp_path):
    """A folder of this disk as a URL of HDFS, with fsspec's file system for it."""
    arrow = pytest.importorskip("fsspec.implementations.arrow")
    from pyarrow.fs import LocalFileSystem

    class Files(arrow.HadoopFileSystem):
        cachable = False

        def __init__(self, **options):
            arrow.ArrowFSWrapper.__init__(self, LocalFileSystem())

        def _open(self, path, mode="rb", **options):
            # HDFS makes the folders of a file with it.
            if mode != "rb":
                self.makedirs(self._parent(path))
            return super()._open(path, mode, **options)

    monkeypatch.setitem(import_module("fsspec.registry")._registry, "hdfs", Files)
    return RemotePath(f"hdfs://node:8020{tmp_path}/hdfs")
