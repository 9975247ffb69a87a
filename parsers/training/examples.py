"""Documents as the parser's training targets: gold trees over gold or predicted EDUs, or pseudo-labels."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from discsum.document import Document
from discsum.errors import InputError, warn_caller
from discsum.files import sha256_of_text
from discsum.parsers.labels import Label
from discsum.parsers.segmenter import EDU_START, INSIDE, SENTENCE_START
from discsum.parsers.structure import Expected
from discsum.parsers.subwords import Subwords, first_subwords, split_subwords
from discsum.tree import RSTTree

# Share of EDUs that begin inside of subwords above which a warning is issued.
MOVED = 0.01
# Share of unknown words above which a warning about the tokenizer is issued.
UNKNOWN = 0.1
# Bytes of a document's training chart above which a warning about memory is issued.
LARGEST_CHART = 2 << 30


@dataclass(frozen=True)
class Targets:
    """Training targets of the tree builder over some EDUs.

    Attributes:
        edu_starts: `(edus,)` first subword of each EDU.
        sentence_starts: `(sentences,)` first subword of each sentence.
        nodes: `(nodes, 3)` first, last and split of each target node.
        labels: `(nodes,)` index of each node's label, or `(nodes, labels)` probabilities.
        expected: Target distribution over trees, if there is one instead of a tree.
    """

    edu_starts: NDArray[np.int64]
    sentence_starts: NDArray[np.int64]
    nodes: NDArray[np.int64]
    labels: NDArray[np.int64] | NDArray[np.float32]
    expected: Expected | None = None


@dataclass(frozen=True)
class Example:
    """A document in subwords with its training targets.

    Attributes:
        id: The document's name, or the first characters of a pseudo-labelled text.
        tree: Its gold tree; none for pseudo-labelled texts.
        tags: `(subwords, 3)` probability of each boundary tag: 0 or 1 in gold documents.
        targets: Targets over gold EDUs, or over those of the first teacher.
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
    """Return `document` as an example; `labels` has the labels of all nodes of its tree.

    Raises:
        InputError: A document without a tree, or with EDUs that share a subword.
    """
    tree = document.require_tree("training")
    subwords = split_subwords(document.text, tokenizer)
    edu_starts, sentence_starts = first_subwords(subwords, document.edus), first_subwords(subwords, document.sentences)
    shared = np.flatnonzero(np.diff(edu_starts, prepend=-1) <= 0)
    if len(shared):
        place, text = shared[0], document.edu_texts[shared[0] - 1]
        raise InputError(
            f"{document.id}: expected no two EDUs to share a subword, but EDUs {place - 1} and {place} do: {text!r}"
        )
    tags = np.full(len(subwords), INSIDE)
    tags[edu_starts] = EDU_START
    tags[sentence_starts] = SENTENCE_START
    index = {label: position for position, label in enumerate(labels)}
    targets = [index[node.nuclearity, node.relation] for node in tree.nodes]
    gold = Targets(edu_starts, sentence_starts, tree.spans, np.array(targets, dtype=np.int64))
    return Example(document.id, tree, subwords, np.eye(3, dtype=np.float32)[tags], gold)


class GoldExamples:
    """Gold documents to train on, all drawn with the same weight.

    Attributes:
        documents: The documents that could be converted.
    """

    def __init__(self, documents: Sequence[Document], tokenizer: Tokenizer, labels: Sequence[Label]) -> None:
        """Convert each document to an example; see `make_example`.

        Documents that cannot be converted are left out with a warning.

        Raises:
            InputError: No document can be converted.
        """
        self.documents: list[Document] = []
        self._examples: list[Example] = []
        for document in documents:
            try:
                self._examples.append(make_example(document, tokenizer, labels))
                self.documents.append(document)
            except InputError as error:
                warn_caller(f"left out: {error}")
                last = error
        if documents and not self._examples:
            raise InputError(f"expected at least one usable training document, got none: {last}")
        # Windows are padded, whole documents are not, so documents need no sorting by length.
        self.lengths: NDArray[np.int64] = np.ones(len(self._examples), dtype=np.int64)
        self.weights: NDArray[np.float64] = np.ones(len(self._examples))
        # All are in memory.
        self.blocks: NDArray[np.int64] = np.zeros((len(self._examples), 2), dtype=np.int64)
        _warn_of_unknown(self._examples, tokenizer)
        _warn_of_moved(self.documents, self._examples)

    @property
    def digest(self) -> str:
        """Digest of the examples."""
        return digest(self._examples)

    def __len__(self) -> int:
        """Return the number of examples."""
        return len(self._examples)

    def __getitem__(self, index: int, /) -> Example:
        """Return one example."""
        return self._examples[index]

    def texts(self) -> list[str]:
        """Return a digest of each document's text."""
        return [sha256_of_text(document.text) for document in self.documents]

    def ids(self, examples: Sequence[int]) -> list[str]:
        """Return the documents' names."""
        return [self[index].id for index in examples]


@dataclass(frozen=True)
class HeldOut:
    """Gold documents to validate on."""

    documents: Sequence[Document]

    @property
    def digest(self) -> str:
        """Digest of the documents with their trees."""
        return sha256_of_text(json.dumps([document.to_json() for document in self.documents]))[:16]

    def texts(self) -> list[str]:
        """Return a digest of each document's text."""
        return [sha256_of_text(document.text) for document in self.documents]


def _warn_of_moved(documents: Sequence[Document], examples: Sequence[Example]) -> None:
    """Warn if EDUs begin inside of subwords, as happens in scripts without spaces: their borders are moved."""
    moved = every = 0
    for document, example in zip(documents, examples, strict=True):
        starts = np.array([edu.start for edu in document.edus], dtype=np.int64)
        moved += int((example.subwords.starts[example.targets.edu_starts] < starts).sum())
        every += len(starts)
    if moved > MOVED * every:
        warn_caller(
            f"{moved} of {every} EDUs begin inside of subwords; they are learned to begin with the subword; an encoder "
            "whose subwords do not cross clauses avoids this"
        )


def _warn_of_unknown(examples: Sequence[Example], tokenizer: Tokenizer) -> None:
    """Warn if a tokenizer does not know many of the words, as happens with a tokenizer of another language."""
    names = (getattr(tokenizer.model, "unk_token", None), "<unk>", "[UNK]")
    unknown = next((index for name in names if name and (index := tokenizer.token_to_id(name)) is not None), None)
    ids = np.concatenate([example.subwords.ids for example in examples])
    share = float((ids == unknown).mean()) if unknown is not None and len(ids) else 0.0
    if share > UNKNOWN:
        warn_caller(
            f"the encoder's tokenizer does not know {share:.0%} of the words; choose an encoder of the treebank's "
            "language, for example encoder=hf:NAME"
        )


def warn_of_memory(documents: Sequence[Document]) -> None:
    """Warn of a document whose chart takes much memory; the chart loss keeps a number for every split of every span."""
    longest = max(documents, key=lambda document: len(document.edus), default=None)
    count = 0 if longest is None else len(longest.edus)
    if longest is not None and (size := count**3 * 8 // 6) > LARGEST_CHART:
        warn_caller(
            f"{longest.id}: a training chart over its {count:,} EDUs takes some {size / 2**30:.0f} GiB of memory, "
            "which grows with their cube; divide the document, or leave it out (split.leave_out)"
        )


def digest(examples: Sequence[Example]) -> str:
    """Return a digest of everything that training learns from the examples, in order."""
    found = hashlib.sha256()
    for example in examples:
        words, targets = example.subwords, example.targets
        arrays = [getattr(words, one.name) for one in fields(words)] + [example.tags, targets.nodes, targets.labels]
        if targets.expected is not None:
            arrays += [targets.expected.left, targets.expected.right]
        for array in arrays:
            found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def restrict_to_predicted(
    example: Example, edu_starts: NDArray[np.int64], sentence_starts: NDArray[np.int64]
) -> Targets:
    """Return targets over predicted EDUs: the gold nodes whose start, split and end are all borders of these EDUs."""
    borders = np.append(example.targets.edu_starts, len(example.subwords))
    predicted = np.append(edu_starts, len(example.subwords))
    place = np.searchsorted(predicted, borders)
    held = np.isin(borders, predicted)
    first, last, split = example.targets.nodes.T
    kept = held[first] & held[last + 1] & held[split + 1]
    nodes = np.stack([place[first], place[last + 1] - 1, place[split + 1] - 1], axis=1)[kept]
    return Targets(edu_starts, sentence_starts, nodes, example.targets.labels[kept])
