"""The parser: raw text to a document with sentences, EDUs and a discourse tree."""

from __future__ import annotations

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
from discsum.document import Document, Span
from discsum.parsers.labels import choose
from discsum.parsers.network import ParserNetwork
from discsum.parsers.segmenter import boundary_probabilities, spans_from, starts_from
from discsum.parsers.sentences import split_sentences
from discsum.parsers.structure import Bracketing, design
from discsum.parsers.subwords import Subwords, first_subwords, split_subwords
from discsum.tree import Node, RSTTree

Units = Sequence[Span]


@dataclass(frozen=True)
class Encoded:
    """A parsed document with the vectors that parsing computed, for whoever summarizes it.

    Attributes:
        document: The document with its tree.
        subwords: Its subwords.
        vectors: `(subwords, width)` contextual vectors.
    """

    document: Document
    subwords: Subwords
    vectors: Tensor


class Parser:
    """Segments and parses texts of any length; see `Parser.from_pretrained`."""

    def __init__(self, network: ParserNetwork, tokenizer: Tokenizer, name: str, fingerprint: str = "") -> None:
        """Wrap a network and its tokenizer; documents carry `name`, and `fingerprint` tells parsers apart."""
        self.network = network.eval()
        self.tokenizer = tokenizer
        self.name = name
        self.fingerprint = fingerprint

    @classmethod
    def from_pretrained(cls, name_or_path: str | Path = SHIPPED_PARSER, *, device: str | None = None) -> Parser:
        """Return the shipped parser, or the one in a folder that training or `save_pretrained` wrote.

        Raises:
            WeightsError: A folder that is missing or damaged.
        """
        from discsum.parsers.pretrained import load

        loaded = load(name_or_path)
        return cls(loaded.network.to(device or "cpu"), loaded.tokenizer, loaded.name, loaded.fingerprint)

    def save_pretrained(self, folder: str | Path, card: str = "") -> None:
        """Write configuration, float16 weights, tokenizer and model card to `folder`."""
        from discsum.parsers.pretrained import save

        save(self.network, self.tokenizer, self.name, Path(folder), card)

    def parse(
        self, text: str, *, sentences: str | Units = "model", edus: Units | None = None, id: str = ""
    ) -> Document:
        """Return the document of `text`.

        Args:
            text: Any string; offsets in the result count its characters.
            sentences: Where sentences come from: `model`, `nltk`, `newline`, or spans.
            edus: EDU spans, if they are known; they must tile the text.
            id: The document's name.
        """
        return self.encode([text], sentences=sentences, edus=None if edus is None else [edus], ids=[id])[0].document

    def parse_many(
        self, texts: Iterable[str], *, batch_size: int = 8, sentences: str = "model", ids: Iterable[str] | None = None
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
        sentences: str | Units = "model",
        edus: Sequence[Units] | None = None,
        ids: Sequence[str] | None = None,
    ) -> list[Encoded]:
        """Return the document of each text together with its subword vectors; arguments as in `parse`."""
        subwords = [split_subwords(text, self.tokenizer) for text in texts]
        vectors = self.network.encoder(subwords)
        logits = self.network.tag(vectors, subwords)
        units = [
            self._segment(text, words, tags, sentences, edus[index] if edus is not None else None)
            for index, (text, words, tags) in enumerate(zip(texts, subwords, logits, strict=True))
        ]
        trees = self._build(subwords, vectors, [spans for _, spans in units], [spans for spans, _ in units])
        names = ids if ids is not None else [""] * len(texts)
        return [
            Encoded(Document.from_spans(text, found, divided, tree, name, self.name), words, states)
            for text, (found, divided), tree, name, words, states in zip(
                texts, units, trees, names, subwords, vectors, strict=True
            )
        ]

    def encode_document(self, document: Document) -> Encoded:
        """Return the vectors of a document; its units and tree stay as they are, what it lacks of them is added."""
        edus = [document.edus] if document.edus else None
        encoded = self.encode([document.text], sentences=document.sentences or "model", edus=edus, ids=[document.id])[0]
        return replace(encoded, document=document if document.tree is not None else encoded.document)

    def _segment(
        self, text: str, words: Subwords, logits: Tensor, sentences: str | Units, edus: Units | None
    ) -> tuple[list[Span], list[Span]]:
        """Return the sentences and EDUs of one text."""
        if not len(words):
            return [], []
        edu_starts, sentence_starts = boundary_probabilities(logits)
        config = self.network.config
        if isinstance(sentences, str) and sentences == "model":
            starts = starts_from(sentence_starts, words, config.sentence_threshold)
            found = _spans(text, words, starts)
        else:
            found = split_sentences(text, sentences) if isinstance(sentences, str) else list(sentences)
        if edus is not None:
            return found, list(edus)
        starts = starts_from(edu_starts, words, config.edu_threshold)
        return found, _spans(text, words, starts, found)

    def _build(
        self,
        subwords: Sequence[Subwords],
        vectors: Sequence[Tensor],
        edus: Sequence[Units],
        sentences: Sequence[Units],
    ) -> list[RSTTree | None]:
        trees: list[RSTTree | None] = [RSTTree(1) if len(spans) == 1 else None for spans in edus]
        wanted = [index for index, spans in enumerate(edus) if len(spans) > 1]
        starts = {index: first_subwords(subwords[index], edus[index]) for index in wanted}
        layouts = [
            self.network.layout(subwords[index], starts[index], first_subwords(subwords[index], sentences[index]))
            for index in wanted
        ]
        if not wanted:
            return trees
        states = self.network.edus([vectors[index] for index in wanted], layouts)
        for index, state, layout in zip(wanted, states, layouts, strict=True):
            bracketing = design(self.network.config.design).decode(self.network.splits(state, layout))
            trees[index] = self._label(state, layout.openings, bracketing)
        return trees

    def _label(self, states: Tensor, openings: Tensor, bracketing: Bracketing) -> RSTTree:
        scorer = self.network.labels
        nodes = torch.from_numpy(bracketing.nodes).to(self.network.device)
        chosen = choose(scorer(states, openings, nodes), scorer)
        probabilities = np.round(bracketing.probabilities * chosen.probabilities, 4)
        rows = zip(bracketing.nodes.tolist(), chosen.labels.tolist(), probabilities.tolist(), strict=True)
        return RSTTree.from_unordered(
            len(states),
            [
                Node(first, last, split, scorer.labels[label][0], scorer.labels[label][1], probability)
                for (first, last, split), label, probability in rows
            ],
        )


def _spans(text: str, words: Subwords, starts: NDArray[np.int64], around: Units = ()) -> list[Span]:
    """Return the spans that begin at these subwords and with every span of `around`.

    The first takes along what no subword stands for at the text's beginning, control characters for one.
    """
    return spans_from(text, sorted({*words.starts[starts[1:]].tolist(), *(span.start for span in around)}))
