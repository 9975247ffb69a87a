"""Run the paired bootstrap between all systems in a file of scores.

    python tests/benchmarks/p_values.py SCORES [--metric rouge1] [--only PATTERN ...]

SCORES is the output of `discsum evaluate ... -o SCORES.jsonl.gz`, or several of them joined, or `rouge.json` of
`discsum analyze rouge`. The draws or seeds of a row (`ROW/draw-N/best`, `ROW/seed-N/best`) are averaged by document and
count as one system. For each pair of systems whose names match a pattern (default: all), the script prints the
difference of the means in percent and the two-sided p-value. The metric `nats` is the negative log-probability per
token of the references, not in percent; documents count by their tokens.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import defaultdict
from fnmatch import fnmatch
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discsum.experiments.measured_table import NATS
from discsum.metrics.rouge import METRICS
from discsum.metrics.significance import paired_bootstrap


def read_scores(path: Path, metric: str) -> dict[str, NDArray[np.float64]]:
    """Return the scores `(documents,)` of each system that has the metric, averaged over its draws or seeds."""
    if path.suffix == ".json":
        systems = json.loads(path.read_text())["systems"]
        return {
            f"{name} r={entry['r'] or 'all'}": np.array(entry["documents"][metric])
            for name, entries in systems.items()
            for entry in entries
        }
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    known = set()
    for line in content.decode().splitlines():
        entry = json.loads(line)
        if (entry["model"], entry["id"]) in known:
            raise ValueError(f"{path}: expected one document of an id for each model, got two of {entry['id']}")
        known.add((entry["model"], entry["id"]))
        if metric in entry:
            values[re.sub(r"/(draw|seed)-\d+/best$", "", entry["model"])][entry["id"]].append(entry[metric])
    return {name: np.array([np.mean(draws) for draws in scores.values()]) for name, scores in values.items()}


def main() -> None:
    """Print a line for each pair of systems."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("scores", type=Path)
    options.add_argument("--metric", choices=[*METRICS, NATS], default="rouge1")
    options.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN", help="Of systems' names, as in shells.")
    arguments = options.parse_args()
    scores = read_scores(arguments.scores, arguments.metric)
    weights = read_scores(arguments.scores, "tokens") if arguments.metric == NATS else None
    chosen = [name for name in scores if any(fnmatch(name, pattern) for pattern in arguments.only)]
    for one, other in combinations(chosen, 2):
        if weights is None:
            paired = paired_bootstrap(100 * scores[one], 100 * scores[other])
        elif not np.array_equal(weights[one], weights[other]):
            raise ValueError(f"expected references of the same tokens, got different ones of {one} and {other}")
        else:
            paired = paired_bootstrap(scores[one], scores[other], weights=weights[one])
        print(f"{one:40} {other:40} {paired.difference:+7.{4 if weights else 2}f}  p={paired.p_value:.4f}")


if __name__ == "__main__":
    main()
