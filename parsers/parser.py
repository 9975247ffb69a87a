"""The parser: raw text to a document with sentences, EDUs and a discourse tree."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from discsum.batches import batches
from discsum.constants import SHIPPED_PARSER
from discsum.devices import check_device
from discsum.document import Document, Span, check_tiling
from discsum.errors import InputWarning
from discsum.parsers.edu_vectors import EDULayout
from discsum.parsers.labels import choose
from discsum.parsers.network import ParserNetwork
from discsum.parsers.reading import EDGES, STATES, Reading, kept, read
from discsum.parsers.segmenter import split_sentences
from discsum.parsers.structure import Bracketing, design
from discsum.parsers.subwords import Subwords, split_subwords
from discsum.text_checks import ENGLISH, doubts
from discsum.tree import Node, RSTTree

Spans = Sequence[Span]


@dataclass(frozen=True)
class Encoded:
    """A parsed document with its subwords and those of their vectors that were to be kept.

    Attributes:
        document: The document.
        subwords: Its subwords.
        vectors: By name, of what is in `reading`: `(subwords, width)` contextual vectors, `(units, width)` means of
            sentences or EDUs, `(edus, hidden)` states of EDUs.
    """

    document: Document
    subwords: Subwords
    vectors: Mapping[str, Tensor]


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
        keep: Collection[str] = (),
    ) -> list[Encoded]:
        """Return the document of each text; arguments as in `parse`.

        Args:
            texts: The texts.
            sentences: Where sentences come from.
            edus: Known EDUs of each.
            ids: Their names.
            keep: Which vectors are kept: `sentence`, `edu`, `STATES`, `SUBWORDS`.
        """
        readings = self._read(texts, sentences, edus, {*keep, STATES})
        documents = self._documents(texts, readings, ids)
        return [self._built(*of, keep) for of in zip(documents, readings, strict=True)]

    @torch.inference_mode()
    def segment(
        self, texts: Sequence[str], *, sentences: str = "model", ids: Sequence[str] | None = None
    ) -> list[Document]:
        """Return the document of each text with sentences and EDUs, without a tree; arguments as in `parse`."""
        return self._documents(texts, self._read(texts, sentences, None, ()), ids)

    @torch.inference_mode()
    def vectors(self, documents: Sequence[Document], keep: Collection[str]) -> list[Encoded]:
        """Return the documents unchanged with the vectors that are kept; no tree is built."""
        readings = [
            Reading(
                self.network,
                document.text,
                split_subwords(document.text, self.tokenizer),
                document.sentences,
                document.edus,
                keep,
            )
            for document in documents
        ]
        read(self.network.encoder, readings)
        return [
            Encoded(document, reading.words, kept(self.network, reading, keep))
            for document, reading in zip(documents, readings, strict=True)
        ]

    def _read(
        self, texts: Sequence[str], sentences: str | Spans, edus: Sequence[Spans] | None, keep: Collection[str]
    ) -> list[Reading]:
        """Return the texts read to their ends."""
        readings = []
        for text, given in zip(texts, edus if edus is not None else [None] * len(texts), strict=True):
            if not isinstance(text, str):
                raise TypeError(f"text: expected str, got {type(text).__name__}")
            words = split_subwords(text, self.tokenizer)
            known = sentences if not isinstance(sentences, str) else None
            if isinstance(sentences, str) and sentences != "model":
                known = split_sentences(text, sentences)
            if len(words):
                _check(text, known, given)
            readings.append(Reading(self.network, text, words, known, given, keep))
        read(self.network.encoder, readings)
        return readings

    def _documents(
        self, texts: Sequence[str], readings: Sequence[Reading], ids: Sequence[str] | None
    ) -> list[Document]:
        """Return the documents of texts that have been read, without trees."""
        names = ids if ids is not None else [""] * len(texts)
        return [
            self.checked(Document.from_spans(text, reading.sentences.spans, reading.edus.spans, None, name, self.name))
            for text, reading, name in zip(texts, readings, names, strict=True)
        ]

    def checked(self, document: Document) -> Document:
        """Return the document with what should be doubted of it, and warn of that."""
        found = doubts(document.text, self.language)
        for doubt in found:
            warnings.warn(f"{document.id or 'text'}: {doubt}", InputWarning, stacklevel=2)
        new = [doubt for doubt in found if doubt not in document.warnings]
        return replace(document, warnings=(*document.warnings, *new)) if new else document

    def _built(self, document: Document, reading: Reading, keep: Collection[str]) -> Encoded:
        """Return a document that has been read with its tree, if it has EDUs, and the vectors that are kept."""
        network, edus = self.network, len(document.edus)
        tree = RSTTree(1) if edus == 1 else None
        edges = reading.taken(EDGES) if network.config.label_edges else None
        vectors = kept(network, reading, {*keep, STATES} if edus > 1 else keep)
        if edus > 1:
            states = vectors[STATES] if STATES in keep else vectors.pop(STATES)
            layout = network.layout(reading.words, reading.edus.starts, reading.sentences.starts)
            bracketing = design(network.config.design).decode(network.splits(states, layout))
            # Labels do not depend on bags, which leave memory.
            layout = replace(layout, bags=None)
            tree = self._label(states, layout, edges, bracketing)
        return Encoded(document if tree is None else replace(document, tree=tree), reading.words, vectors)

    def _label(self, states: Tensor, layout: EDULayout, edges: Tensor | None, bracketing: Bracketing) -> RSTTree:
        scorer = self.network.labels
        chosen = choose(self.network.label(states, layout, edges, bracketing.nodes)[-1], scorer)
        probabilities = np.round(bracketing.probabilities * chosen.probabilities, 4)
        rows = zip(bracketing.nodes.tolist(), chosen.labels.tolist(), probabilities.tolist(), strict=True)
        return RSTTree.from_unordered(
            len(states),
            [
                Node(first, last, split, scorer.labels[label][0], scorer.labels[label][1], probability)
                for (first, last, split), label, probability in rows
            ],
        )


def _check(text: str, sentences: Spans | None, edus: Spans | None) -> None:
    """Raise unless given spans tile the text."""
    if sentences is not None and edus is not None:
        Document.from_spans(text, sentences, edus)
    for spans, kind in ((sentences, "sentence"), (edus, "EDU")):
        if spans is not None:
            check_tiling(text, spans, kind)
