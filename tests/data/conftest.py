"""Engines, each with two workers; a new one joins the contract by its name here."""

import signal

import pytest
from small_cluster import small_cluster

from discsum.data.engines import engine_of

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
