"""Run the paired bootstrap between all systems in a file of scores.

    python tests/benchmarks/p_values.py SCORES [--metric rouge1] [--only PATTERN ...] [--draws]

SCORES is the output of `discsum evaluate ... -o SCORES.jsonl.gz`, several such files joined, or `rouge.json` of
`discsum analyze rouge`. The draws or seeds of a row (`ROW/draw-N/best`, `ROW/seed-N/best`) are averaged by document and
count as one system, unless `--draws` is given. For each pair of systems whose names match a pattern (default: all), the
script prints the difference of the means in percent and the two-sided p-value.

The metric `nats` is the negative log-probability per token of the references, not in percent. Documents count by their
tokens. Only models have it, and only models with the same vocabulary can be compared.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import combinations
from pathlib import Path

import numpy as np

from discsum.cli.streams import drop_unwritten
from discsum.experiments.measured_table import DIGITS, NATS
from discsum.metrics.rouge import METRICS
from discsum.metrics.significance import Comparison, paired_bootstrap


@dataclass(frozen=True)
class System:
    """A system's scores by document; with the metric `nats` also the tokens of the references, and the vocabulary."""

    scores: dict[str, float]
    tokens: dict[str, int]
    vocabulary: str

    def compared(self, other: System, metric: str) -> Comparison:
        """Return the paired bootstrap of both systems, in percent unless the metric is `nats`.

        Raises:
            ValueError: The systems have other documents, or models have other vocabularies.
        """
        if self.scores.keys() != other.scores.keys():
            raise ValueError("expected systems with scores of the same documents, got different documents")
        if (self.vocabulary, self.tokens) != (other.vocabulary, other.tokens):
            raise ValueError("expected models with the same vocabulary, got different ones")
        both = (np.array([one.scores[document] for document in self.scores]) for one in (self, other))
        if metric != NATS:
            return paired_bootstrap(*(100 * values for values in both))
        return paired_bootstrap(*both, weights=np.array([self.tokens[document] for document in self.scores]))


def read_systems(path: Path, metric: str, *, apart: bool = False) -> dict[str, System]:
    """Return each system that has the metric, with the mean of its draws or seeds for each document unless `apart`."""
    if path.suffix == ".json":
        if metric == NATS:
            raise ValueError(f"{path}: expected the output of discsum evaluate for --metric {NATS}")
        return {
            f"{name} r={entry['r'] or 'all'}": System(
                {str(place): value for place, value in enumerate(entry["documents"][metric])}, {}, ""
            )
            for name, entries in json.loads(path.read_text())["systems"].items()
            for entry in entries
        }
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    tokens: dict[str, dict[str, int]] = defaultdict(dict)
    vocabularies: dict[str, str] = defaultdict(str)
    known = set()
    for entry in map(json.loads, content.decode().splitlines()):
        if metric not in entry:
            continue
        if (entry["model"], entry["id"]) in known:
            raise ValueError(f"{path}: expected one document of an id for each model, got two of {entry['id']}")
        known.add((entry["model"], entry["id"]))
        name = entry["model"] if apart else re.sub(r"/(draw|seed)-\d+/best$", "", entry["model"])
        values[name][entry["id"]].append(entry[metric])
        if metric == NATS:
            tokens[name][entry["id"]] = entry["tokens"]
            vocabularies[name] = entry["vocabulary"]
    return {
        name: System({id: float(np.mean(draws)) for id, draws in scores.items()}, tokens[name], vocabularies[name])
        for name, scores in values.items()
    }


def main() -> None:
    """Print a line for each pair of systems."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("scores", type=Path)
    options.add_argument("--metric", choices=[*METRICS, NATS], default="rouge1")
    options.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN", help="Of systems' names, as in shells.")
    options.add_argument("--draws", action="store_true", help="Compare draws or seeds one by one.")
    arguments = options.parse_args()
    systems = read_systems(arguments.scores, arguments.metric, apart=arguments.draws)
    chosen = [name for name in systems if any(fnmatch(name, pattern) for pattern in arguments.only)]
    digits = DIGITS.get(arguments.metric, 2)
    for one, other in combinations(chosen, 2):
        paired = systems[one].compared(systems[other], arguments.metric)
        print(f"{one:40} {other:40} {paired.difference:+7.{digits}f}  p={paired.p_value:.4f}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # Of `head`, for example.
        drop_unwritten()
