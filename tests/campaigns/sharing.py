"""Sharing: eight threads, and forked processes, with one parser and one summarizer: what one thread alone gives."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

import discsum
from campaigns.batch_invariance import shape, texts
from campaigns.command_line import run

THREADS = 8
# A fork that waits for a lock of its parent would wait for ever.
SECONDS = 300


def in_fork(check: Callable[[], None]) -> bool:
    """Return whether a check passes in a forked process."""
    process = os.fork()
    if process == 0:
        signal.alarm(SECONDS)
        code = 1
        try:
            # A pool of threads does not outlive a fork.
            torch.set_num_threads(1)
            check()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitpid(process, 0)[1] == 0


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

        with ThreadPoolExecutor(THREADS) as pool:
            for text, found, wanted in zip(given, pool.map(work, given), expected, strict=True):
                assert found == wanted, f"{THREADS} threads: {text!r}"
        forks = max(count // 50, 1)
        for _ in range(forks):
            assert in_fork(compare), "a forked process gave other results, or none"
    finally:
        torch.set_num_threads(before)
    return {"texts": len(given), "threads": THREADS, "forked processes": forks}


if __name__ == "__main__":
    run(attack, 400)
