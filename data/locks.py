"""Locks of a folder of shards: of a run of all, and of runs of parts, beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from discsum.data.leases import check_free, leased
from discsum.data.remote import RemotePath
from discsum.data.storage import Location, make_folder, remove, sizes_in
from discsum.errors import LockedError
from discsum.files import locked

LOCK = ".lock"
# Folder of the locks of parts on object storage, so that they are listed without the shards.
LOCKS = ".locks"
# Seconds in which a lock that only is looked at, by a thousand parts that begin together, is free again.
MOMENT = 30.0


@contextmanager
def alone(folder: Location, *, wait: bool = False, part: str = "") -> Iterator[None]:
    """Lock the folder against other runs; if another one has it, fail, or with `wait` wait for it.

    Args:
        folder: Folder of a dataset.
        wait: Whether to wait for another run.
        part: Name of the part of the dataset that this run makes, beside which other parts may be made; by default it
            is all of it.

    Raises:
        LockedError: Another run has locked it, and `wait` is false.
    """
    if isinstance(folder, Path):
        make_folder(folder)
    if not part:
        with _lock(folder, "", wait=wait):
            _check_parts(folder, wait=wait)
            yield
        return
    with ExitStack() as held:
        while True:
            held.enter_context(_lock(folder, part, wait=wait))
            try:
                _check_whole(folder)
                break
            except LockedError:
                # A run of all holds its lock while it waits for parts, so that parts must not.
                held.close()
                if not wait:
                    raise
            _check_whole(folder, wait=True)
        yield


def others_at_work(folder: Location, part: str) -> bool:
    """Return whether runs of other parts have locked a folder."""
    try:
        if isinstance(folder, RemotePath):
            for name in sizes_in(folder / LOCKS).keys() - {part}:
                check_free(folder / LOCKS / name, folder)
        else:
            for lock in set(folder.glob(f"{LOCK}-*")) - {folder / f"{LOCK}-{part}"}:
                with locked(lock, folder):
                    pass
    except LockedError:
        return True
    return False


def _lock(folder: Location, part: str, *, wait: bool) -> AbstractContextManager[None]:
    """Return the lock of a part, or of a run of all."""
    if isinstance(folder, RemotePath):
        return leased(folder / LOCKS / part if part else folder / LOCK, folder, wait=wait)
    return locked(folder / (f"{LOCK}-{part}" if part else LOCK), folder, wait=wait)


def _check_whole(folder: Location, *, wait: bool = False) -> None:
    """Raise `LockedError` if a run of all is at work, or wait for it."""
    if isinstance(folder, RemotePath):
        check_free(folder / LOCK, folder, wait=wait)
        return
    # Parts that begin together look at it together.
    with locked(folder / LOCK, folder, wait=wait, seconds=MOMENT):
        pass


def _check_parts(folder: Location, *, wait: bool) -> None:
    """Raise `LockedError` if a run of a part is at work, or wait for all of them."""
    if isinstance(folder, RemotePath):
        locks = [folder / LOCKS / name for name in sizes_in(folder / LOCKS)]
        for lock in locks:
            check_free(lock, folder, wait=wait)
        # Of parts that were killed, and have expired.
        remove(locks)
        return
    for path in sorted(folder.glob(f"{LOCK}-*")):
        with locked(path, folder, wait=wait, seconds=MOMENT):
            pass
