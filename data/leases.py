"""Locks on object storage: a file that only one run can create, and that expires unless it is renewed."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from secrets import token_hex

from discsum.data.remote import RemotePath
from discsum.data.storage import Location, create_bytes, read_each, remove, write_bytes
from discsum.errors import DiscsumError, LockedError, message_of, warn_caller
from discsum.files import HOST

# Seconds until a lock expires, between its renewals, and between checks of a lock that a run waits for. Clocks of
# machines must differ by less than EXPIRY - RENEWAL.
EXPIRY, RENEWAL, LOOK = 120.0, 30.0, 5.0
# Seconds that a run waits after taking over an expired lock, in case another run takes it over at the same time.
SETTLING = 2.0
# How often an empty lock is read again, and the seconds between.
TRIES, PAUSE = 5, 0.2


@dataclass(frozen=True)
class Lease:
    """Content of a lock file: the run that holds it, and when it expires, in seconds since 1970."""

    owner: str
    expires: float

    def __str__(self) -> str:
        """Return the run and the time at which its lock expires."""
        return f"{self.owner}, until {time.strftime('%H:%M:%S %Z', time.localtime(self.expires))}"

    @property
    def expired(self) -> bool:
        """Whether the lock expired, because its run did not renew it in time."""
        return time.time() > self.expires

    def to_bytes(self) -> bytes:
        """Return the content of the file."""
        return json.dumps({"owner": self.owner, "expires": self.expires}).encode()


def read_lease(lock: RemotePath) -> Lease | None:
    """Return the content of a lock file, expired or not; None if there is no such file."""
    content = None
    # Where a put is not atomic, as on HDFS, a lock is empty for a moment while its run renews it.
    for _ in range(TRIES):
        (content,) = read_each([lock])
        if content is None:
            return None
        if content:
            break
        time.sleep(PAUSE)
    try:
        found = json.loads(content or b"")
        return Lease(str(found["owner"]), float(found["expires"]))
    except (ValueError, KeyError, TypeError):
        # No run renews an unreadable lock, so it counts as expired.
        return Lease("an unknown run", 0.0)


@contextmanager
def leased(lock: RemotePath, what: Location, *, wait: bool = False) -> Iterator[None]:
    """Hold the file `lock` against other runs while the block runs; it is removed at the end.

    A lock that expired because its run was killed is taken over, with a warning.

    Raises:
        LockedError: Another run holds it and `wait` is false; the error names `what` it protects.
    """
    owner = f"{HOST}-{os.getpid()}-{token_hex(4)}"
    told = False
    while not _taken(lock, what, owner):
        told = check_free(lock, what, wait=wait, told=told)
    ended = threading.Event()
    renewing = threading.Thread(target=_renew, args=(lock, what, owner, ended), daemon=True)
    renewing.start()
    try:
        yield
    finally:
        ended.set()
        renewing.join()
        # If the store does not answer, the lock expires by itself.
        with suppress(OSError, DiscsumError):
            if _is_of(lock, owner):
                remove([lock])


def check_free(lock: RemotePath, what: Location, *, wait: bool = False, told: bool = False) -> bool:
    """Raise `LockedError` if a run holds a lock; with `wait`, wait until none does.

    The first wait is told unless it has been `told` before; returns whether it has been.
    """
    while (found := read_lease(lock)) is not None and not found.expired:
        if not wait:
            raise LockedError(f"{what}: another run is using it ({found}); wait for that run to end")
        if not told:
            warn_caller(f"{what}: another run is using it ({found}); waiting for it to end")
            told = True
        time.sleep(LOOK)
    return told


def _taken(lock: RemotePath, what: Location, owner: str) -> bool:
    """Try to take a lock that no run holds, or that expired; return whether this run now has it."""
    content = Lease(owner, time.time() + EXPIRY).to_bytes()
    if create_bytes(lock, content):
        return True
    found = read_lease(lock)
    if found is not None and found.owner == owner:
        # This run did create the file, but the store's answer was lost and the request repeated.
        return True
    if found is None or not found.expired:
        return False
    warn_caller(f"{what}: expected a lock that its run renews, found an expired one ({found}); this run takes it over")
    write_bytes(lock, content)
    # Another run may have taken it over too; the last one to write has it.
    time.sleep(SETTLING)
    return _is_of(lock, owner)


def _renew(lock: RemotePath, what: Location, owner: str, ended: threading.Event) -> None:
    """Renew a lock until `ended` is set, or until another run has it."""
    while not ended.wait(RENEWAL):
        try:
            if not _is_of(lock, owner):
                warn_caller(
                    f"{what}: expected the lock of this run, found that of another run, as if this one had been "
                    f"suspended for {EXPIRY:.0f} seconds; both write the same files"
                )
                return
            write_bytes(lock, Lease(owner, time.time() + EXPIRY).to_bytes())
        except Exception as error:
            # Drivers raise errors of any kind, and the store may answer again before the lock expires.
            warn_caller(
                f"{what}: expected to renew the lock of this run, got: {message_of(error)}; tried again in "
                f"{RENEWAL:.0f} seconds"
            )


def _is_of(lock: RemotePath, owner: str) -> bool:
    found = read_lease(lock)
    return found is not None and found.owner == owner
