"""Segmentation into sentences and EDUs, from subword vectors, layout and case; and sentences from lines or NLTK."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.constants import SENTENCES
from discsum.document import Span
from discsum.errors import InputError, MissingExtraError
from discsum.parsers.subwords import CASES, GAPS, Subwords

INSIDE, EDU_START, SENTENCE_START = range(3)
# Subwords tagged at once, so that intermediate results fit the processor's cache.
PIECE = 2048


class BoundaryTagger(nn.Module):
    """Tags every subword as inside a unit, the start of an EDU, or the start of a sentence (and an EDU)."""

    def __init__(self, width: int, hidden: int = 192, layers: int = 2, kernel: int = 5, dropout: float = 0.2) -> None:
        """Build convolutions of `hidden` channels over vectors of `width`."""
        super().__init__()
        self.gap = nn.Embedding(len(GAPS), hidden)
        self.case = nn.Embedding(len(CASES), hidden)
        self.input = nn.Linear(width, hidden)
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(layers + 1))
        self.convolutions = nn.ModuleList(nn.Conv1d(hidden, hidden, kernel, padding=kernel // 2) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(hidden, 3)
        # Subwords on either side that a tag depends on.
        self.reach = layers * (kernel // 2)

    def forward(self, vectors: Sequence[Tensor], gaps: Sequence[Tensor], cases: Sequence[Tensor]) -> list[Tensor]:
        """Return `(subwords, 3)` logits for each document, whose vectors are `(subwords, width)`."""
        # One by one: padded to the longest, short documents would cost as much as a long one in the batch.
        return [self._tag_in_pieces(*document) for document in zip(vectors, gaps, cases, strict=True)]

    def _tag_in_pieces(self, vectors: Tensor, gaps: Tensor, cases: Tensor) -> Tensor:
        """Return a document's logits, computed in pieces of `PIECE` subwords."""
        pieces = [vectors.new_zeros(0, self.output.out_features)]
        for start in range(0, len(vectors), PIECE):
            first, end = max(0, start - self.reach), min(start + PIECE, len(vectors))
            seen = slice(first, end + self.reach)
            logits = self._tag(vectors[seen], gaps[seen], cases[seen])
            pieces.append(logits[start - first : end - first])
        return torch.cat(pieces)

    def _tag(self, vectors: Tensor, gaps: Tensor, cases: Tensor) -> Tensor:
        states = self.norms[0](self.input(self.dropout(vectors)) + self.gap(gaps) + self.case(cases))
        for norm, convolution in zip(list(self.norms)[1:], self.convolutions, strict=True):
            update = torch.nn.functional.gelu(convolution(states.T[None])[0].T)
            states = norm(states + self.dropout(update))
        logits: Tensor = self.output(self.dropout(states))
        return logits


def boundary_probabilities(logits: Tensor) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return `(subwords,)` probabilities that an EDU and that a sentence begins."""
    tags = torch.softmax(logits.detach().float(), dim=-1).cpu().numpy()
    return tags[:, EDU_START] + tags[:, SENTENCE_START], tags[:, SENTENCE_START]


def starts_from(
    probabilities: NDArray[np.float32], subwords: Subwords, threshold: float, forced: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Return the indices of subwords with a probability above `threshold`, the first subword and the `forced` ones."""
    begins = (probabilities > threshold) & subwords.opens
    if len(begins):
        begins[0] = True
    if forced is not None:
        begins[forced] = True
    return np.flatnonzero(begins)


def spans_from(text: str, starts: Sequence[int]) -> list[Span]:
    """Return the spans between the given character offsets, without white space at their ends.

    The first span begins at the text's first non-space character, so that the spans tile the text.
    """
    if not text.strip():
        return []
    beginning = len(text) - len(text.lstrip())
    bounds = [beginning, *(start for start in starts if start > beginning), len(text)]
    return [
        Span(start, start + len(text[start:end].rstrip())) for start, end in pairwise(bounds) if text[start:end].strip()
    ]


def split_sentences(text: str, splitter: str) -> list[Span]:
    """Return the sentences of `text`: `newline`, one per line; `nltk`, by NLTK's English Punkt model.

    Raises:
        InputError: An unknown splitter.
        MissingExtraError: NLTK's model is not installed.
    """
    if splitter == "newline":
        return spans_from(text, [match.start() for match in re.finditer(r"\S[^\n\r]*", text)])
    if splitter != "nltk":
        raise InputError(f"expected sentences from {', '.join(SENTENCES)}, got {splitter!r}")
    from nltk.tokenize import PunktTokenizer

    try:
        tokenizer = PunktTokenizer("english")
    except LookupError as error:
        raise MissingExtraError(
            "NLTK's sentence model is not installed. Please run: python -m nltk.downloader punkt_tab"
        ) from error
    return spans_from(text, [start for start, _ in tokenizer.span_tokenize(text)])
