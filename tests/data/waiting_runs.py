"""A run of all parts and a run of one part that start together and wait for each other."""

import threading
from contextlib import contextmanager

from discsum.data import locks
from discsum.data.locks import folder_lock, part_lock


def run_together(place, monkeypatch, lock_of):
    """Start both runs; return the names of the locks that they held at once, and the parts in order of completion.

    `lock_of` names the function of `discsum.data.locks` that takes a lock.
    """
    begun, real, held, done = threading.Barrier(2, timeout=10), getattr(locks, lock_of), [], []

    @contextmanager
    def together(lock, what, **options):
        with real(lock, what, **options):
            # Both hold their own lock before either looks at the other's.
            if len(held) < 2:
                held.append(lock.name)
                begun.wait()
            yield

    def run(part):
        lock = part_lock(place, part, lambda: True, wait=True) if part else folder_lock(place, wait=True)
        with lock:
            done.append(part)

    monkeypatch.setattr(locks, lock_of, together)
    runs = [threading.Thread(target=run, args=(part,), daemon=True) for part in ("", "1-of-2")]
    for thread in runs:
        thread.start()
    for thread in runs:
        thread.join(10)
    return sorted(held), done
