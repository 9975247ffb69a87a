"""Time the tree matrices of long documents: `python tests/benchmarks/priors.py [EDUs]`."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from discsum.priors import c_tree, c_tree_nuc, d_tree, project_to_sentences
from discsum.tree import NUCLEARITIES, Node, RSTTree

SHAPES: dict[str, Callable[[int, int], int]] = {
    "right-branching": lambda first, last: first,
    "left-branching": lambda first, last: last - 1,
    "balanced": lambda first, last: (first + last) // 2,
    "random": lambda first, last: random.randint(first, last - 1),
}


def build(edus: int, split_of: Callable[[int, int], int]) -> RSTTree:
    nodes, stack = [], [(0, edus - 1)]
    while stack:
        first, last = stack.pop()
        if first == last:
            continue
        split = split_of(first, last)
        nodes.append(Node(first, last, split, random.choice(NUCLEARITIES), "joint-list"))
        stack += [(split + 1, last), (first, split)]
    return RSTTree(edus, nodes)


def milliseconds(function: Callable[[], object], repeats: int = 7) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return sorted(times)[repeats // 2] * 1000


def measure(base: RSTTree, sentence: NDArray[np.int64]) -> list[float]:
    matrix = c_tree_nuc(base)
    return [
        milliseconds(lambda: d_tree(fresh(base), sentence)),
        milliseconds(lambda: c_tree(fresh(base))),
        milliseconds(lambda: c_tree_nuc(fresh(base))),
        milliseconds(lambda: project_to_sentences(matrix, sentence)),
    ]


def main() -> None:
    options = argparse.ArgumentParser(description="Time the tree matrices of long documents.")
    options.add_argument("edus", type=int, nargs="?", default=1000, help="EDUs of a document.")
    edus = options.parse_args().edus
    random.seed(0)
    sentence = np.arange(edus) * 2 // 5
    lines = [f"{edus} EDUs, {sentence[-1] + 1} sentences, median ms, no array of the tree cached"]
    lines.append("".join(f"{name:>16s}" for name in ("", "d_tree", "c_tree", "c_tree_nuc", "project")))
    for name, split_of in SHAPES.items():
        row = measure(build(edus, split_of), sentence)
        lines.append(f"{name:>16s}" + "".join(f"{value:16.1f}" for value in row))
    sys.stdout.write("\n".join(lines) + "\n")


def fresh(tree: RSTTree) -> RSTTree:
    """Return the tree without its cached arrays, and without checking it again, which should not be timed."""
    copy = object.__new__(RSTTree)
    object.__setattr__(copy, "edus", tree.edus)
    object.__setattr__(copy, "nodes", tree.nodes)
    return copy


if __name__ == "__main__":
    main()
