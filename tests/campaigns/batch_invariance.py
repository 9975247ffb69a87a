"""Batch invariance: trees do not depend on batch size, order of the texts or number of threads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from discsum.document import Document
from discsum.parsers.loading import load_parser

TEXTS = Path(__file__).resolve().parents[1] / "texts"


def texts(count: int, random: np.random.Generator) -> list[str]:
    """Return random excerpts, each of consecutive lines, of the texts in `tests/texts`."""
    lines = [path.read_text(encoding="utf-8").split("\n") for path in sorted(TEXTS.glob("*.txt"))]
    found = []
    for number in range(count):
        whole = lines[number % len(lines)]
        first = int(random.integers(len(whole)))
        found.append("\n".join(whole[first : first + int(random.integers(1, 12))]))
    return found


def shape(document: Document) -> tuple[object, ...]:
    """Return the segmentation and the tree of a document, without probabilities."""
    nodes = document.tree.nodes if document.tree is not None else ()
    labels = [(node.first, node.last, node.split, node.nuclearity, node.relation) for node in nodes]
    return document.sentences, document.edus, labels


def attack(count: int, seed: int) -> Mapping[str, object]:
    """Parse `count` texts one by one, in batches of several sizes and orders, and with one to four threads."""
    random = np.random.default_rng(seed)
    parser, given = load_parser("discsum-gum", "cpu"), texts(count, random)
    before = torch.get_num_threads()
    alone = [parser.parse(text) for text in given]
    most = 0.0
    try:
        for threads, size in ((1, 3), (1, 8), (2, 64), (4, 8)):
            torch.set_num_threads(threads)
            order = random.permutation(count)
            for index, document in zip(
                order, parser.parse_many([given[i] for i in order], batch_size=size), strict=True
            ):
                assert shape(document) == shape(alone[index]), f"{threads} threads, batches of {size}: {given[index]!r}"
                if document.tree is not None and alone[index].tree is not None:
                    pairs = zip(document.tree.nodes, alone[index].tree.nodes, strict=True)
                    most = max([most, *(abs(one.probability - other.probability) for one, other in pairs)])
    finally:
        torch.set_num_threads(before)
    assert most < 0.01
    return {"texts": count, "largest difference of a probability": round(most, 6)}
