"""Locks in object storage: one run at a time, even after a run was killed."""

import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
from waiting_runs import run_together

from discsum.data import leases
from discsum.data.leases import Lease, check_free, leased, read_lease
from discsum.data.locks import folder_lock, part_lock
from discsum.data.storage import read_bytes, sizes_in, write_bytes
from discsum.errors import InputError, InputWarning

HELD = "another run is using it"


@pytest.fixture
def lock(place):
    return place / ".lock"


def killed(lock, ago=1.0):
    """Write the lock of a killed run, which expired `ago` seconds ago."""
    write_bytes(lock, Lease("elsewhere-1", time.time() - ago).to_bytes())


def test_a_lock_is_held_by_one_run_and_goes_with_it(lock, place):
    with leased(lock, place):
        assert read_lease(lock).owner.startswith(leases.HOST)
        message = rf"^{place}: {HELD} \({leases.HOST}-\d+-\w+, until \d\d:"
        with pytest.raises(InputError, match=message), leased(lock, place):
            pytest.fail("two have it")
    assert read_lease(lock) is None
    with leased(lock, place):
        pass
    assert sizes_in(place) == {}


def test_an_expired_lock_is_taken_over_with_a_warning(lock, place):
    killed(lock, -60)
    with pytest.raises(InputError, match="elsewhere-1, until"), leased(lock, place):
        pytest.fail("it had not expired")
    killed(lock)
    message = r"found an expired one \(elsewhere-1, until .*\); this run takes it over"
    with pytest.warns(InputWarning, match=message), leased(lock, place):
        assert read_lease(lock).owner.startswith(leases.HOST)


def test_a_lock_that_is_empty_for_a_moment_is_held(lock, place, monkeypatch):
    """As on HDFS, where a renewal empties the file first."""
    if lock.scheme in ("s3", "gs"):
        pytest.skip("its puts are atomic")
    with leased(lock, place):
        content = read_bytes(lock)
        write_bytes(lock, b"")
        monkeypatch.setattr(leases.time, "sleep", lambda seconds: write_bytes(lock, content))
        with pytest.raises(InputError, match=HELD):
            check_free(lock, place)


def test_what_is_no_lock_counts_as_expired(lock, place):
    write_bytes(lock, b"{")
    with pytest.warns(InputWarning, match="an unknown run"), leased(lock, place):
        pass


def test_a_lock_is_renewed_while_its_run_lasts(lock, place, monkeypatch):
    monkeypatch.setattr(leases, "EXPIRY", 1.0)
    monkeypatch.setattr(leases, "RENEWAL", 0.1)
    with leased(lock, place):
        time.sleep(1.6)
        with pytest.raises(InputError, match=HELD):
            check_free(lock, place)


def test_a_failed_renewal_is_named_and_repeated(lock, place, monkeypatch):
    monkeypatch.setattr(leases, "RENEWAL", 0.1)
    monkeypatch.setattr(leases, "EXPIRY", 1.0)
    real, failed = leases.write_bytes, []

    def failing(path, content):
        if path == lock and not failed:
            failed.append(path)
            raise AssertionError("no connection")
        real(path, content)

    monkeypatch.setattr(leases, "write_bytes", failing)
    message = "expected to renew the lock of this run, got: .*no connection"
    with pytest.warns(InputWarning, match=message), leased(lock, place):
        time.sleep(1.4)
        with pytest.raises(InputError, match=HELD):
            check_free(lock, place)


def test_a_lock_can_be_waited_for(lock, place, monkeypatch):
    monkeypatch.setattr(leases, "LOOK", 0.05)
    order, holding = [], threading.Event()

    def first():
        with leased(lock, place):
            holding.set()
            time.sleep(0.3)
            order.append("first")

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(first)
        holding.wait()
        with leased(lock, place, wait=True):
            order.append("second")
        running.result()
    assert order == ["first", "second"]


def test_one_of_several_that_take_over_has_it(lock, place, monkeypatch):
    monkeypatch.setattr(leases, "SETTLING", 0.5)
    killed(lock)
    begun, done = threading.Barrier(4), threading.Barrier(4)

    def take(_):
        begun.wait()
        try:
            with leased(lock, place):
                done.wait()
                return True
        except InputError:
            done.wait()
            return False

    with ThreadPoolExecutor(4) as pool, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert list(pool.map(take, range(4))).count(True) == 1


def test_a_run_whose_lock_was_taken_says_so_and_leaves_it(lock, place, monkeypatch):
    monkeypatch.setattr(leases, "RENEWAL", 0.1)
    with (
        pytest.warns(InputWarning, match="expected the lock of this run, found that of another run"),
        leased(lock, place),
    ):
        other = Lease("elsewhere-2", time.time() + 60)
        write_bytes(lock, other.to_bytes())
        time.sleep(0.5)
    assert read_lease(lock) == other


def test_parts_keep_out_of_the_way_of_a_run_of_everything(place):
    def part(name):
        return part_lock(place, name, lambda: True)

    with part("1-of-2"):
        with part("2-of-2"):
            pass
        for other in (folder_lock(place), part("1-of-2")):
            with pytest.raises(InputError, match=HELD), other:
                pytest.fail("two at once")
    killed(place / ".locks" / "2-of-2")
    with folder_lock(place), pytest.raises(InputError, match=HELD), part("1-of-2"):
        pytest.fail("two at once")
    assert sizes_in(place) == sizes_in(place / ".locks") == {}


def test_a_run_of_everything_and_a_part_may_wait_for_each_other(place, monkeypatch):
    monkeypatch.setattr(leases, "LOOK", 0.05)
    held, done = run_together(place, monkeypatch, "leased")
    assert held == [".lock", "1-of-2"]
    assert done == ["", "1-of-2"]


def test_a_lock_whose_creation_was_repeated_is_its_runs(lock, place):
    write_bytes(lock, Lease("here-1", time.time() + 60).to_bytes())
    assert leases._taken(lock, place, "here-1")
    assert not leases._taken(lock, place, "here-2")
