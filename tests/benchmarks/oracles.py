"""Compare labels and speed of the oracles with naive searches that rescore every candidate with rouge-score.

    python tests/benchmarks/oracles.py TABLE [--documents 200]

Parsing is not timed. Times are CPU seconds of a single run.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from discsum.data.pairs import Pair, PairSource
from discsum.dependency import edu_heads, in_sentence_heads
from discsum.oracles import ORACLES, oracle_labels
from discsum.parsers.parser import Parser

sys.path.insert(0, str(Path(__file__).parents[1]))
import naive_oracles


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def main() -> None:
    """Print a line for each oracle and unit."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("table", type=Path)
    options.add_argument("--documents", type=int, default=200)
    arguments = options.parse_args()
    source = PairSource(str(arguments.table))
    pairs = list(islice((pair for pair in source.pairs() if isinstance(pair, Pair)), arguments.documents))
    documents = list(Parser.from_pretrained().parse_many([pair.text for pair in pairs]))
    print(f"{len(pairs)} documents of {arguments.table}")
    print(f"{'oracle':15}{'unit':>10}{'equal':>8}{'naive s':>10}{'fast s':>9}{'ratio':>8}")
    # Exclude from the times what the first call loads, and garbage collection over the parser's objects.
    oracle_labels("kedzie", documents[0].sentence_texts, pairs[0].references)
    gc.freeze()
    totals = [0.0, 0.0]
    for name in ORACLES.own:
        facts = ORACLES.entry(name).facts
        limit, edu_only = facts.get("units"), facts.get("edu_only", False)
        for unit in ("sentence", "edu"):
            if edu_only and unit == "sentence":
                continue
            equal, slow, fast = 0, 0.0, 0.0
            for pair, document in zip(pairs, documents, strict=True):
                texts = document.sentence_texts if unit == "sentence" else document.edu_texts
                heads = in_sentence_heads(edu_heads(document.tree), document.edu_to_sentence) if unit == "edu" else None
                labels, seconds = timed(lambda: oracle_labels(name, texts, pair.references, heads=heads))  # noqa: B023
                fast += seconds
                naive = getattr(naive_oracles, name.replace("-", "_"))
                more = (heads.tolist(),) if edu_only else ()
                chosen, seconds = timed(lambda: naive(texts, pair.references, limit, *more))  # noqa: B023
                slow += seconds
                equal += labels.nonzero()[0].tolist() == chosen
            print(f"{name:15}{unit:>10}{equal:8}{slow:10.1f}{fast:9.2f}{slow / fast:8.0f}", flush=True)
            totals = [totals[0] + slow, totals[1] + fast]
    print(f"{'all':33}{totals[0]:10.1f}{totals[1]:9.2f}{totals[0] / totals[1]:8.0f}")


if __name__ == "__main__":
    main()
