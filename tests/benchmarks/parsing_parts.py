"""Profile parsing: CPU time of its parts, relative to the encoder's in the same run.

    python tests/benchmarks/parsing_parts.py [COPIES...]

Uses one thread. A part's time excludes other parts that it calls; "other" is the time outside all parts.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from inspect import isgenerator
from pathlib import Path
from typing import Any

import torch

from discsum.parsers import edu_vectors, labels, network, parser, trees
from discsum.parsers.bert import Bert
from discsum.parsers.segmenter import BoundaryTagger
from discsum.parsers.structure import chart, cohesion, scores

SAMPLE = Path(__file__).parents[2] / "data" / "samples" / "harbour.txt"
# The functions of each part: (owner, name).
PARTS: dict[str, list[tuple[Any, str]]] = {
    "encoder": [(Bert, "forward")],
    "subwords": [(parser, "split_texts")],
    "segmenter": [(BoundaryTagger, "_tag")],
    "pooling": [(edu_vectors.EDUEncoder, "pool")],
    "LSTM": [(edu_vectors, "run_in_pieces")],
    "Transformer": [(edu_vectors.EDUEncoder, "_attended")],
    "lexical bags": [(network, "lexical_bags")],
    "split factors": [(scores.SplitScorer, "forward")],
    "split scores": [(scores.SplitScores, "charts")],
    "cohesion": [(cohesion.Cohesion, "both"), (cohesion, "_across")],
    "chart": [(chart, "posterior"), (chart, "best_splits"), (chart, "best_tree"), (chart, "by_width")],
    "labels": [(labels.LabelScorer, "forward"), (trees, "choose")],
    "documents": [(trees.Nodes, "tree"), (parser.Parser, "_document")],
}
REPEATS = 5


class Clock:
    """CPU seconds of each part; parts may call each other."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inner: list[float] = []

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function so that its time counts for a part."""

        def call(*arguments: Any, **options: Any) -> Any:
            start = time.process_time()
            self._inner.append(0.0)
            try:
                found = function(*arguments, **options)
                # A generator works only while it is read.
                return iter([*found]) if isgenerator(found) else found
            finally:
                took = time.process_time() - start
                self.seconds[part] += took - self._inner.pop()
                if self._inner:
                    self._inner[-1] += took

        return call


def main() -> None:
    """Print a table for each number of copies."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("copies", type=int, nargs="*", default=[1, 10])
    torch.set_num_threads(1)
    clock = Clock()
    for part, functions in PARTS.items():
        for owner, name in functions:
            setattr(owner, name, clock.timed(part, getattr(owner, name)))
    parse = parser.Parser.from_pretrained().parse
    article = SAMPLE.read_text(encoding="utf-8")
    for copies in options.parse_args().copies:
        text = "\n\n".join([article] * copies)
        parse(text)
        clock.seconds.clear()
        start = time.process_time()
        for _ in range(REPEATS):
            parse(text)
        whole = time.process_time() - start
        rows = dict(clock.seconds) | {"other": whole - sum(clock.seconds.values())}
        print(f"{copies} copies: {whole / REPEATS:.3f} CPU s")
        for part, seconds in sorted(rows.items(), key=lambda row: -row[1]):
            print(f"  {part:14}{1000 * seconds / REPEATS:9.1f} ms{100 * seconds / rows['encoder']:8.2f}%")


if __name__ == "__main__":
    main()
