"""The command line of all campaigns: `python -m campaigns NAME COUNT --seed SEED`.

Worker processes import the main module again, unless it is a package's `__main__`. So no campaign is a main module
itself: `kills` imports all kinds of training, which takes ten seconds.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time

# The counts of full runs.
COUNTS = {
    "batch_invariance": 1000,
    "full_disk": 50,
    "kills": 100,
    "long_text": 1_000_000,
    "model_folders": 1000,
    "sharing": 400,
    "tree_file_mutants": 25_000,
    "unicode_texts": 100_000,
}


def main() -> None:
    """Run a campaign and print its figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=COUNTS)
    parser.add_argument("count", type=int, nargs="?", help="By default that of a full run.")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    attack = importlib.import_module(f"campaigns.{given.name}").attack
    began = time.monotonic()
    found = attack(given.count or COUNTS[given.name], given.seed)
    print(json.dumps({"seed": given.seed, **found, "seconds": round(time.monotonic() - began)}))


if __name__ == "__main__":
    main()
