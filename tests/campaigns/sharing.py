"""Eight threads, and forked processes, that share one parser and one summarizer get the results of one thread."""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psutil
import torch

import discsum
from campaigns.batch_invariance import shape, texts

THREADS = 8
# A fork that waits for a lock of its parent would wait forever.
SECONDS = 300


def wait_for_threads(running: int) -> None:
    """Wait until the process has no more threads than `running`.

    Python joins a thread before the system has ended it. An ending thread holds a lock of the matrix library while it
    returns its buffers, and a process forked at that moment waits for the lock forever.
    """
    end = time.monotonic() + SECONDS
    while psutil.Process().num_threads() > running:
        assert time.monotonic() < end, "threads of the pool still run"
        time.sleep(0.001)


def exit_of_fork(check: Callable[[], None]) -> int:
    """Run a check in a forked process; return its exit code: 0 if it passes, minus the signal if a signal ended it."""
    process = os.fork()
    if process == 0:
        signal.alarm(SECONDS)
        code = 1
        try:
            # A thread pool does not survive a fork.
            torch.set_num_threads(1)
            check()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def attack(count: int, seed: int) -> Mapping[str, object]:
    """Parse and summarize `count` texts in one thread, in eight at once, and in forked processes."""
    given = [text for text in texts(count, np.random.default_rng(seed)) if text.strip()]
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:

        def work(text: str) -> tuple[object, ...]:
            # Both use the one parser and the one summarizer that a process keeps.
            return shape(discsum.parse(text)), discsum.summarize(text, units=2).text

        expected = [work(text) for text in given]

        def compare() -> None:
            for text, wanted in zip(given, expected, strict=True):
                assert work(text) == wanted, repr(text)

        running = psutil.Process().num_threads()
        with ThreadPoolExecutor(THREADS) as pool:
            for text, found, wanted in zip(given, pool.map(work, given), expected, strict=True):
                assert found == wanted, f"{THREADS} threads: {text!r}"
        wait_for_threads(running)
        forks = max(count // 50, 1)
        for _ in range(forks):
            code = exit_of_fork(compare)
            assert code == 0, (
                f"a forked process ended with {code}; {-signal.SIGALRM} is {SECONDS} seconds without an end"
            )
    finally:
        torch.set_num_threads(before)
    return {"texts": len(given), "threads": THREADS, "forked processes": forks}
