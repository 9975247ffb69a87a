"""The parser: raw text to a document with sentences, EDUs and a discourse tree."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from discsum.batches import batches
from discsum.constants import SHIPPED_PARSER
from discsum.devices import check_device
from discsum.document import Document, Span
from discsum.errors import InputWarning
from discsum.layout import Layout
from discsum.parsers.edu_vectors import EDULayout
from discsum.parsers.labels import choose
from discsum.parsers.network import ParserNetwork
from discsum.parsers.segmenter import boundary_probabilities, spans_from, split_sentences, starts_from
from discsum.parsers.structure import Bracketing, design
from discsum.parsers.subwords import Subwords, first_subwords, split_subwords
from discsum.text_checks import ENGLISH, doubts
from discsum.tree import Node, RSTTree

Spans = Sequence[Span]


@dataclass(frozen=True)
class Encoded:
    """A parsed document with its subwords and their contextual vectors `(subwords, width)`."""

    document: Document
    subwords: Subwords
    vectors: Tensor


class Parser:
    """Segments and parses texts of any length; see `Parser.from_pretrained`."""

    def __init__(
        self, network: ParserNetwork, tokenizer: Tokenizer, name: str, fingerprint: str = "", language: str = ENGLISH
    ) -> None:
        """Wrap a network.

        Args:
            network: The network.
            tokenizer: That of its encoder.
            name: Documents record it.
            fingerprint: Identifies the content of its folder.
            language: ISO 639-1 code of its treebank's language; texts that look like another one get a warning. Empty
                if it is not known.
        """
        self.network, self.tokenizer = network.eval(), tokenizer
        self.name, self.fingerprint, self.language = name, fingerprint, language

    @classmethod
    def from_pretrained(cls, name_or_path: str | Path = SHIPPED_PARSER, *, device: str = "cpu") -> Parser:
        """Return the shipped parser, or the one in a folder that training or `save_pretrained` wrote.

        Raises:
            InputError: A device that is not here.
            WeightsError: A folder that is missing or damaged.
        """
        from discsum.parsers.pretrained import load

        check_device(device)
        loaded = load(name_or_path)
        return cls(loaded.network.to(device), loaded.tokenizer, loaded.name, loaded.fingerprint, loaded.language)

    def save_pretrained(self, folder: str | Path, card: str = "") -> None:
        """Write configuration, float16 weights, tokenizer and model card to `folder`."""
        from discsum.parsers.pretrained import save

        save(self.network, self.tokenizer, self.name, Path(folder), card, self.language)

    def parse(
        self,
        text: str,
        *,
        sentences: str | Spans = "model",
        edus: Spans | None = None,
        id: str = "",
    ) -> Document:
        """Return the document of `text`.

        Args:
            text: Any string; offsets in the result count its characters.
            sentences: Where sentences come from: `model`, `nltk`, `newline`, or spans.
            edus: Known EDU spans, which must tile the text.
            id: The document's name.
        """
        return self.encode([text], sentences=sentences, edus=None if edus is None else [edus], ids=[id])[0].document

    def parse_many(
        self,
        texts: Iterable[str],
        *,
        batch_size: int = 8,
        sentences: str = "model",
        ids: Iterable[str] | None = None,
    ) -> Iterator[Document]:
        """Yield the document of each text, in order, `batch_size` texts encoded together."""
        names = iter(ids) if ids is not None else None
        for batch in batches(texts, batch_size):
            batch_ids = list(islice(names, len(batch))) if names is not None else None
            for encoded in self.encode(batch, sentences=sentences, ids=batch_ids):
                yield encoded.document

    @torch.inference_mode()
    def encode(
        self,
        texts: Sequence[str],
        *,
        sentences: str | Spans = "model",
        edus: Sequence[Spans] | None = None,
        ids: Sequence[str] | None = None,
    ) -> list[Encoded]:
        """Return the document of each text together with its subword vectors; arguments as in `parse`."""
        subwords, vectors = self._encode(texts)
        documents = self._segment(texts, subwords, vectors, sentences, edus, ids)
        trees = self._build(documents, subwords, vectors)
        return [
            Encoded(document if tree is None else replace(document, tree=tree), words, states)
            for document, tree, words, states in zip(documents, trees, subwords, vectors, strict=True)
        ]

    @torch.inference_mode()
    def segment(
        self, texts: Sequence[str], *, sentences: str = "model", ids: Sequence[str] | None = None
    ) -> list[Document]:
        """Return the document of each text with sentences and EDUs, without a tree; arguments as in `parse`."""
        return self._segment(texts, *self._encode(texts), sentences, None, ids)

    @torch.inference_mode()
    def vectors(self, documents: Sequence[Document]) -> list[Encoded]:
        """Return the documents unchanged with their subword vectors; no tree is built."""
        subwords, vectors = self._encode([document.text for document in documents])
        return [Encoded(*parts) for parts in zip(documents, subwords, vectors, strict=True)]

    def _encode(self, texts: Sequence[str]) -> tuple[list[Subwords], list[Tensor]]:
        """Return the subwords of each text and their `(subwords, width)` vectors."""
        for text in texts:
            if not isinstance(text, str):
                raise TypeError(f"text: expected str, got {type(text).__name__}")
        subwords = [split_subwords(text, self.tokenizer) for text in texts]
        return subwords, self.network.encoder(subwords)

    def _segment(
        self,
        texts: Sequence[str],
        subwords: Sequence[Subwords],
        vectors: Sequence[Tensor],
        sentences: str | Spans,
        edus: Sequence[Spans] | None,
        ids: Sequence[str] | None,
    ) -> list[Document]:
        """Return the documents of texts, without trees."""
        # The tagger is not needed if all spans are known.
        tagged = edus is None or sentences == "model"
        logits: Sequence[Tensor | None] = self.network.tag(vectors, subwords) if tagged else [None] * len(texts)
        known: Sequence[Spans | None] = edus if edus is not None else [None] * len(texts)
        names = ids if ids is not None else [""] * len(texts)
        documents = [
            Document.from_spans(text, *self._split(text, words, tags, sentences, given), None, name, self.name)
            for text, words, tags, given, name in zip(texts, subwords, logits, known, names, strict=True)
        ]
        return [self.checked(document) for document in documents]

    def checked(self, document: Document) -> Document:
        """Return the document with what should be doubted of it, and warn of that."""
        found = doubts(document.text, self.language)
        for doubt in found:
            warnings.warn(f"{document.id or 'text'}: {doubt}", InputWarning, stacklevel=2)
        new = [doubt for doubt in found if doubt not in document.warnings]
        return replace(document, warnings=(*document.warnings, *new)) if new else document

    def _split(
        self, text: str, words: Subwords, logits: Tensor | None, sentences: str | Spans, edus: Spans | None
    ) -> tuple[Spans, Spans]:
        """Return the sentences and EDUs of one text; without logits both are known."""
        if not len(words):
            return [], []
        config = self.network.config
        found: Spans | None = None
        if sentences != "model":
            found = split_sentences(text, sentences) if isinstance(sentences, str) else sentences
        if logits is None or (found is not None and edus is not None):
            return found or [], edus or []
        edu_starts, sentence_starts = boundary_probabilities(logits)
        if found is None:
            opened = first_subwords(words, [Span(offset, offset + 1) for offset in Layout(text).openings()])
            found = _spans(text, words, starts_from(sentence_starts, words, config.sentence_threshold, opened))
        if edus is None:
            edus = _spans(text, words, starts_from(edu_starts, words, config.edu_threshold), found)
        return found, edus

    def _build(
        self, documents: Sequence[Document], subwords: Sequence[Subwords], vectors: Sequence[Tensor]
    ) -> list[RSTTree | None]:
        """Return the tree over the EDUs of each document; none for a document without EDUs."""
        trees: list[RSTTree | None] = [RSTTree(1) if len(document.edus) == 1 else None for document in documents]
        several = [index for index, document in enumerate(documents) if len(document.edus) > 1]
        layouts = [self.network.document_layout(subwords[index], documents[index]) for index in several]
        states = self.network.edus([vectors[index] for index in several], layouts)
        for index, state, layout in zip(several, states, layouts, strict=True):
            bracketing = design(self.network.config.design).decode(self.network.splits(state, layout))
            trees[index] = self._label(vectors[index], state, layout, bracketing)
        return trees

    def _label(self, vectors: Tensor, states: Tensor, layout: EDULayout, bracketing: Bracketing) -> RSTTree:
        scorer = self.network.labels
        chosen = choose(self.network.label(vectors, states, layout, bracketing.nodes)[-1], scorer)
        probabilities = np.round(bracketing.probabilities * chosen.probabilities, 4)
        rows = zip(bracketing.nodes.tolist(), chosen.labels.tolist(), probabilities.tolist(), strict=True)
        return RSTTree.from_unordered(
            len(states),
            [
                Node(first, last, split, scorer.labels[label][0], scorer.labels[label][1], probability)
                for (first, last, split), label, probability in rows
            ],
        )


def _spans(text: str, words: Subwords, starts: NDArray[np.int64], around: Spans = ()) -> list[Span]:
    """Return the spans that begin at these subwords and with every span of `around`.

    The first span includes characters before the first subword, such as control characters.
    """
    return spans_from(text, sorted({*words.starts[starts[1:]].tolist(), *(span.start for span in around)}))
