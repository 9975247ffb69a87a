"""Locks of a folder of shards: one run makes all shards, or several runs make parts at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

from discsum.data.leases import check_free, leased
from discsum.data.remote import RemotePath
from discsum.data.storage import Location, make_folder, remove, sizes_in
from discsum.errors import LockedError
from discsum.files import locked

LOCK = ".lock"
# Folder of the locks of parts on object storage, so that they are listed without the shards.
LOCKS = ".locks"
# Seconds to wait for a lock that other parts hold only to begin: enough for a thousand parts that start together.
MOMENT = 30.0
# Seconds to wait for the lock of a part, which another run may hold to test whether the part is at work.
BRIEF = 1.0


@contextmanager
def folder_lock(folder: Location, *, wait: bool = False) -> Iterator[None]:
    """Lock a folder against all other runs while the block runs; a new folder that stays empty is removed.

    Args:
        folder: Folder of a dataset.
        wait: Whether to wait for another run that has locked it.

    Raises:
        LockedError: Another run has locked it, and `wait` is false.
    """
    new = isinstance(folder, Path) and not folder.exists()
    make_folder(folder)
    try:
        with _lock(folder, "", wait=wait):
            _check_parts(folder, wait=wait)
            yield
    finally:
        if new and isinstance(folder, Path):
            # Only an empty one can be removed.
            with suppress(OSError):
                folder.rmdir()


@contextmanager
def part_lock(folder: Location, part: str, begin: Callable[[], bool], *, wait: bool = False) -> Iterator[bool]:
    """Lock a folder for one part while the block runs; other runs may make other parts. Yields the result of `begin`.

    Args:
        folder: Folder of a dataset.
        part: Name of the part, as of `part_lock_name`.
        begin: Claims the folder. On a disk, parts begin one after another, so that they do not take each other's locks
            for those of another recipe, and only one writes the recipe.
        wait: Whether to wait for another run that has locked the folder or the part.

    Raises:
        LockedError: Another run has locked it, and `wait` is false.
    """
    make_folder(folder)
    with ExitStack() as held:
        while True:
            held.enter_context(_lock(folder, part, wait=wait))
            try:
                with _no_whole_run(folder):
                    begun = begin()
                break
            except LockedError:
                # A run of all parts keeps its lock while it waits for single parts. A part that also kept its lock
                # while it waits would cause a deadlock.
                held.close()
                if not wait:
                    raise
            with _no_whole_run(folder, wait=True):
                pass
        yield begun


def others_at_work(folder: Location, digest: str) -> bool:
    """Return whether runs of parts with another recipe have locked a folder; names of parts end in the digest."""
    try:
        if isinstance(folder, RemotePath):
            for name in sizes_in(folder / LOCKS):
                if not name.endswith(digest):
                    check_free(folder / LOCKS / name, folder)
        else:
            for lock in folder.glob(f"{LOCK}-*"):
                if not lock.name.endswith(digest):
                    with locked(lock, folder):
                        pass
    except LockedError:
        return True
    return False


def _lock(folder: Location, part: str, *, wait: bool) -> AbstractContextManager[None]:
    """Return the lock of a part, or of a run that makes all parts."""
    if isinstance(folder, RemotePath):
        return leased(folder / LOCKS / part if part else folder / LOCK, folder, wait=wait)
    return locked(folder / (f"{LOCK}-{part}" if part else LOCK), folder, wait=wait)


@contextmanager
def _no_whole_run(folder: Location, *, wait: bool = False) -> Iterator[None]:
    """Raise `LockedError` if a run of all parts is at work, or wait for it; on a disk, none starts during the block."""
    if isinstance(folder, RemotePath):
        check_free(folder / LOCK, folder, wait=wait)
        yield
        return
    # Parts that start together all take this lock, so it may be busy for a moment.
    with locked(folder / LOCK, folder, wait=wait, seconds=MOMENT):
        yield


def _check_parts(folder: Location, *, wait: bool) -> None:
    """Raise `LockedError` if a run of a part is at work, or wait for all of them."""
    if isinstance(folder, RemotePath):
        locks = [folder / LOCKS / name for name in sizes_in(folder / LOCKS)]
        for lock in locks:
            check_free(lock, folder, wait=wait)
        # These are expired locks of parts that were killed.
        remove(locks)
        return
    for path in sorted(folder.glob(f"{LOCK}-*")):
        with locked(path, folder, wait=wait, seconds=BRIEF):
            pass
