"""Documents as the parser's training targets: gold trees over gold or predicted EDUs, or what teachers say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from discsum.document import Document
from discsum.errors import InputError
from discsum.parsers.labels import Label
from discsum.parsers.segmenter import EDU_START, INSIDE, SENTENCE_START
from discsum.parsers.structure import Expected
from discsum.parsers.subwords import Subwords, first_subwords, split_subwords
from discsum.tree import RSTTree


@dataclass(frozen=True)
class Targets:
    """What the tree builder is to find over some EDUs.

    Attributes:
        edu_starts: `(edus,)` first subword of each EDU.
        sentence_starts: First subword of each sentence.
        nodes: `(nodes, 3)` first, last and split of each node to learn that these EDUs can express.
        labels: `(nodes,)` index of each node's label, or `(nodes, labels)` how probable each is.
        expected: The distribution over trees to learn, where there is one instead of a tree.
    """

    edu_starts: NDArray[np.int64]
    sentence_starts: NDArray[np.int64]
    nodes: NDArray[np.int64]
    labels: NDArray[np.int64] | NDArray[np.float32]
    expected: Expected | None = None


@dataclass(frozen=True)
class Example:
    """A document in subwords, with all that is to be learned from it.

    Attributes:
        id: The document's name, or how its text begins.
        tree: Its gold tree; none where teachers stand in for gold.
        subwords: Its subwords.
        tags: `(subwords, 3)` how probable each boundary tag is: 0 or 1 in gold documents.
        targets: What the tree builder is to find, over gold EDUs or the teachers'.
    """

    id: str
    tree: RSTTree | None
    subwords: Subwords
    tags: NDArray[np.float32]
    targets: Targets


def label_set(documents: Sequence[Document]) -> list[Label]:
    """Return the labels of the documents' trees, sorted."""
    nodes = [node for document in documents if document.tree for node in document.tree.nodes]
    return sorted({(node.nuclearity, node.relation) for node in nodes})


def make_example(document: Document, tokenizer: Tokenizer, labels: Sequence[Label]) -> Example:
    """Return `document` as an example; a node whose label is not among `labels` gets label -1."""
    if document.tree is None:
        raise InputError(f"{document.id}: expected a document with a tree")
    subwords = split_subwords(document.text, tokenizer)
    edu_starts, sentence_starts = first_subwords(subwords, document.edus), first_subwords(subwords, document.sentences)
    shared = np.flatnonzero(np.diff(edu_starts, prepend=-1) <= 0)
    if len(shared):
        place, text = shared[0], document.edu_texts[shared[0] - 1]
        raise InputError(
            f"{document.id}: expected every EDU to have a subword of its own, "
            f"EDUs {place - 1} and {place} share one: {text!r}"
        )
    tags = np.full(len(subwords), INSIDE)
    tags[edu_starts] = EDU_START
    tags[sentence_starts] = SENTENCE_START
    index = {label: position for position, label in enumerate(labels)}
    targets = [index.get((node.nuclearity, node.relation), -1) for node in document.tree.nodes]
    gold = Targets(edu_starts, sentence_starts, document.tree.spans, np.array(targets, dtype=np.int64))
    return Example(document.id, document.tree, subwords, np.eye(3, dtype=np.float32)[tags], gold)


def over_predicted(example: Example, edu_starts: NDArray[np.int64], sentence_starts: NDArray[np.int64]) -> Targets:
    """Return the gold nodes whose beginning, split and end are all borders between the predicted EDUs."""
    borders = np.append(example.targets.edu_starts, len(example.subwords))
    predicted = np.append(edu_starts, len(example.subwords))
    place = np.searchsorted(predicted, borders)
    held = np.isin(borders, predicted)
    first, last, split = example.targets.nodes.T
    kept = held[first] & held[last + 1] & held[split + 1]
    nodes = np.stack([place[first], place[last + 1] - 1, place[split + 1] - 1], axis=1)[kept]
    return Targets(edu_starts, sentence_starts, nodes, example.targets.labels[kept])
