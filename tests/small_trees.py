"""All small trees, random large trees, and documents for them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

from discsum.document import Document, Span
from discsum.tree import NUCLEARITIES, RSTTree

# A nested tree is the index of an EDU, or (nuclearity, left, right).
Nested = Any


@cache
def nested_trees(first: int, last: int) -> tuple[Nested, ...]:
    """Return every binary tree over the EDUs `first` to `last`, inclusive, with every assignment of nuclearity."""
    if first == last:
        return (first,)
    return tuple(
        (nuclearity, left, right)
        for split in range(first, last)
        for left in nested_trees(first, split)
        for right in nested_trees(split + 1, last)
        for nuclearity in NUCLEARITIES
    )


def leaves(nested: Nested) -> list[int]:
    return [nested] if isinstance(nested, int) else leaves(nested[1]) + leaves(nested[2])


def to_tree(nested: Nested) -> RSTTree:
    nodes = []
    stack = [nested]
    while stack:
        node = stack.pop()
        if not isinstance(node, int):
            left, right = leaves(node[1]), leaves(node[2])
            relation = "joint-list" if node[0] == "NN" else "elaboration-additional"
            nodes.append(
                {"first": left[0], "last": right[-1], "split": left[-1], "nuclearity": node[0], "relation": relation}
            )
            stack += [node[2], node[1]]
    return RSTTree(len(leaves(nested)), nodes)


def every_tree(edus: int) -> Iterator[tuple[Nested, RSTTree]]:
    for nested in nested_trees(0, edus - 1):
        yield nested, to_tree(nested)


def random_tree(edus: int, seed: int) -> RSTTree:
    choose = random.Random(seed)
    nodes, stack = [], [(0, edus - 1)]
    while stack:
        first, last = stack.pop()
        if first < last:
            split = choose.choice([first, last - 1, choose.randint(first, last - 1)])
            nuclearity = choose.choice(NUCLEARITIES)
            nodes.append(
                {"first": first, "last": last, "split": split, "nuclearity": nuclearity, "relation": "joint-list"}
            )
            stack += [(split + 1, last), (first, split)]
    return RSTTree(edus, nodes)


def document_of(sentences: list[list[str]], tree: RSTTree | None = None, id: str = "toy") -> Document:
    """Return the document of these sentences, each a list of EDU texts; all are joined by spaces."""
    text, edus, spans = "", [], []
    for sentence in sentences:
        start = len(text)
        for edu in sentence:
            edus.append(Span(len(text), len(text) + len(edu)))
            text += edu + " "
        spans.append(Span(start, len(text) - 1))
    return Document.from_spans(text.rstrip(), spans, edus, tree, id)
