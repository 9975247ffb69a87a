"""Data augmentation: parts of documents as documents, and documents with other line breaks or without case.

A treebank of two hundred documents is small. A constituent is itself a text with a tree, and so is a document without
some of its satellites; both vary lengths and neighbours. A treebank's texts also share one layout, unlike other texts.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from discsum.parsers.subwords import CASES, GAPS, Subwords
from discsum.parsers.training.examples import Example, Targets

# Smallest constituent that is used as a document, in EDUs.
SMALLEST = 20
SPACE, NEWLINE = GAPS.index("space"), GAPS.index("newline")
LOWER, CAPITALIZED, UPPER = (CASES.index(name) for name in ("lower", "capitalized", "upper"))
# Characters per line of wrapped texts.
COLUMNS = 72


def prune(example: Example, random: np.random.Generator, section: float, drop: float) -> Example:
    """Return the example without some of its EDUs, or unchanged; only whole sentences are removed.

    Args:
        example: A gold document.
        random: Random generator.
        section: Probability of keeping one constituent only, of at least `SMALLEST` EDUs.
        drop: Probability of removing each satellite of at most a third of the document.
    """
    tree = example.tree
    assert tree is not None, "gold documents have trees"
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
    return example if kept.all() or kept.sum() < 2 else restrict(example, kept)


def restrict(example: Example, kept: NDArray[np.bool_]) -> Example:
    """Return the example without the EDUs that are not `kept` `(edus,)`; a node stays if both its children do."""
    gold = example.targets
    starts = gold.edu_starts
    sizes = np.diff(np.append(starts, len(example.subwords)))
    # Subwords before the first EDU's first subword are kept or removed with that EDU.
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


def relayout(subwords: Subwords, share: float, random: np.random.Generator) -> Subwords:
    """Return the subwords with other line breaks and, independently, without case, each with probability `share`."""
    gaps, cases = subwords.gaps, subwords.cases
    if random.random() < share:
        # All on one line, no blank lines, or wrapped lines.
        layout = random.integers(3)
        gaps = _wrapped(subwords) if layout == 2 else np.minimum(gaps, (SPACE, NEWLINE)[layout])
        gaps[:1] = subwords.gaps[:1]
    if random.random() < share:
        cases = np.where(np.isin(cases, (CAPITALIZED, UPPER)), LOWER, cases)
    return replace(subwords, gaps=gaps, cases=cases)


def _wrapped(subwords: Subwords) -> NDArray[np.int64]:
    gaps = subwords.gaps.copy()
    words = np.flatnonzero(gaps >= SPACE)
    starts = subwords.starts[words]
    # Columns are counted from the last line break of the original text.
    begins = np.maximum.accumulate(np.where(gaps[words] >= NEWLINE, starts, 0))
    column = (starts - begins) // COLUMNS
    wraps = (np.diff(column, prepend=0) > 0) & (gaps[words] == SPACE)
    gaps[words[wraps]] = NEWLINE
    return gaps
