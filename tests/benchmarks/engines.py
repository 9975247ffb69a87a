"""Measure the overhead of engines: `python tests/benchmarks/engines.py [ENGINE...] [--workers N] [--tasks N]`.

Tasks do no work, so the time of a task is that of sending it and receiving its result.
"""

from __future__ import annotations

import argparse
import time

from discsum.data.engines import engine_of
from discsum.data.engines.base import Step


def nothing(task: int, step: Step) -> int:
    """Do nothing."""
    step(1)
    return task


def main() -> None:
    """Print a line for each engine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engines", nargs="*", default=["local", "ray"], metavar="ENGINE")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tasks", type=int, default=4000)
    options = parser.parse_args()
    for name in options.engines:
        begun = time.perf_counter()
        results = engine_of(name, options.workers).results_of(nothing, range(options.tasks))
        next(results)
        first = time.perf_counter()
        others = sum(1 for _ in results)
        rate = others / (time.perf_counter() - first)
        print(f"{name}: first result after {first - begun:.1f} s, then {rate:.0f} tasks a second")


if __name__ == "__main__":
    main()
