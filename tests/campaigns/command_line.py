"""The command line of every campaign."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping


def run(attack: Callable[[int, int], Mapping[str, object]], count: int) -> None:
    """Run an attack with the count and the seed of the command line, and print its figures as JSON."""
    parser = argparse.ArgumentParser(description=attack.__doc__)
    parser.add_argument("count", type=int, nargs="?", default=count)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.monotonic()
    found = attack(given.count, given.seed)
    print(json.dumps({"seed": given.seed, **found, "seconds": round(time.monotonic() - began)}))
