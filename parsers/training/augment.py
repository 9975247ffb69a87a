"""Other documents in a document: a part of it that is one too, or the same laid out in other lines.

A treebank of two hundred documents teaches little of how documents are built. A constituent is a text with a
tree of its own, and so is a text without some of its satellites; both have other lengths and neighbours.
And a treebank's texts are laid out in one way, all others' in many.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from discsum.errors import InputError
from discsum.parsers.subwords import GAPS, Subwords
from discsum.parsers.training.examples import Example, Targets

SMALLEST = 20
SPACE, NEWLINE = GAPS.index("space"), GAPS.index("newline")
# The width that wrapped texts are wrapped to.
COLUMNS = 72


def pruned(example: Example, random: np.random.Generator, section: float, drop: float) -> Example:
    """Return a smaller example, or the same.

    Only whole sentences go, so that what stays reads as text.

    Args:
        example: A gold document.
        random: Source of all choices.
        section: Probability of keeping one constituent only, of at least `SMALLEST` EDUs.
        drop: Probability, for each satellite of at most a third of the document, that it goes.
    """
    tree = example.tree
    if tree is None:
        raise InputError(f"{example.id}: expected a document with a tree")
    edus = len(example.targets.edu_starts)
    opens = np.append(np.isin(example.targets.edu_starts, example.targets.sentence_starts), True)
    kept = np.ones(edus, dtype=bool)
    if random.random() < section:
        first, last, _ = tree.spans.T
        large = tree.spans[(last - first + 1 >= SMALLEST) & opens[first] & opens[last + 1]]
        if len(large):
            first, last, _ = large[random.integers(len(large))]
            kept[:first] = kept[last + 1 :] = False
    for node in tree.nodes:
        if node.nuclearity == "NN":
            continue
        first, last = (node.split + 1, node.last) if node.nuclearity == "NS" else (node.first, node.split)
        small = 3 * (last - first + 1) <= edus
        if small and opens[first] and opens[last + 1] and random.random() < drop:
            kept[first : last + 1] = False
    return example if kept.all() or kept.sum() < 2 else restricted(example, kept)


def restricted(example: Example, kept: NDArray[np.bool_]) -> Example:
    """Return the example without the EDUs that are not `kept` `(edus,)`; a node stays if both its children do."""
    gold = example.targets
    starts = gold.edu_starts
    sizes = np.diff(np.append(starts, len(example.subwords)))
    # What stands before the first EDU's first subword goes with that EDU.
    inside = np.concatenate([np.full(starts[0], kept[0]), np.repeat(kept, sizes)])
    words = Subwords(**{item.name: getattr(example.subwords, item.name)[inside] for item in fields(Subwords)})
    moved = np.concatenate([[0], inside.cumsum()])
    count = np.concatenate([[0], kept.cumsum()])
    first, last, split = gold.nodes.T
    holds = (count[split + 1] > count[first]) & (count[last + 1] > count[split + 1])
    nodes = np.stack([count[first], count[last + 1] - 1, count[split + 1] - 1], axis=1)[holds]
    sentences = gold.sentence_starts[inside[gold.sentence_starts]]
    targets = Targets(moved[starts[kept]], moved[sentences], nodes, gold.labels[holds])
    return replace(example, subwords=words, tags=example.tags[inside], targets=targets)


def relaid(subwords: Subwords, share: float, random: np.random.Generator) -> Subwords:
    """Return the subwords, sometimes with other line breaks and sometimes without case, as plain texts come.

    Args:
        subwords: A document's.
        share: Probability of other line breaks, and, apart from it, of losing case.
        random: Source of all choices.
    """
    gaps, cases = subwords.gaps, subwords.cases
    if random.random() < share:
        gaps = LAYOUTS[random.integers(len(LAYOUTS))](subwords)
        gaps[:1] = subwords.gaps[:1]
    if random.random() < share:
        cases = np.where((cases == 1) | (cases == 2), 0, cases)
    return Subwords(subwords.ids, subwords.starts, subwords.ends, gaps, cases, subwords.opens)


def _one_line(subwords: Subwords) -> NDArray[np.int64]:
    return np.minimum(subwords.gaps, SPACE)


def _a_paragraph_a_line(subwords: Subwords) -> NDArray[np.int64]:
    return np.minimum(subwords.gaps, NEWLINE)


def _wrapped(subwords: Subwords) -> NDArray[np.int64]:
    gaps = subwords.gaps.copy()
    words = np.flatnonzero(gaps >= SPACE)
    starts = subwords.starts[words]
    # Columns count from the last line break that was there.
    begins = np.maximum.accumulate(np.where(gaps[words] >= NEWLINE, starts, 0))
    column = (starts - begins) // COLUMNS
    wraps = (np.diff(column, prepend=0) > 0) & (gaps[words] == SPACE)
    gaps[words[wraps]] = NEWLINE
    return gaps


LAYOUTS = (_one_line, _a_paragraph_a_line, _wrapped)
