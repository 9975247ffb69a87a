"""Assignment of encoder tokens to sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.constants import BORDERS
from discsum.document import Document, Span
from discsum.errors import InputError, few
from discsum.priors import c_tree_nuc, project_to_sentences
from discsum.registry import suggestion

if TYPE_CHECKING:
    from transformers import BatchEncoding


# Largest error of the sum of a prior's row, which half precision does not reach.
TOLERANCE = 0.05


@dataclass(frozen=True, eq=False)
class SentenceLayout:
    """The sentences of a batch of token sequences: runs of tokens that cover all tokens except padding.

    Attributes:
        owner: `(documents, tokens)` the sentence of each token, counted from 0 in its document; -1 for padding.
        sentences: For each document, the indices in its `Document` of these sentences, which are those with a token.
        prior: `(documents, sentences)` centrality of each sentence in its document's discourse tree, rows sum to 1;
            see `with_prior`.
        unit: `sentences`, or `edus` if EDUs take their place.

    Raises:
        TypeError: A prior that is not a tensor.
        InputError: A prior of another shape, with negative numbers, or with rows that do not sum to 1.
    """

    owner: Tensor
    sentences: tuple[tuple[int, ...], ...]
    prior: Tensor | None = None
    unit: str = "sentences"

    def __post_init__(self) -> None:
        """Check that a prior has a share for each sentence."""
        if self.prior is None:
            return
        if not isinstance(self.prior, Tensor):
            raise TypeError(f"prior: expected a tensor, got {type(self.prior).__name__}")
        if self.prior.shape != self.lengths.shape:
            wanted, got = (tuple(one.shape) for one in (self.lengths, self.prior))
            raise InputError(f"prior: expected the shape {wanted}, (documents, sentences), got {got}")
        sums = self.prior.float().sum(dim=1)
        # Not `>`, which does not find NaN.
        wrong = ~((sums - 1).abs() <= TOLERANCE) & self.mask.any(dim=1)
        if wrong.any() or (self.prior < 0).any():
            raise InputError(
                "prior: expected numbers of at least 0 in rows that sum to 1, got the smallest number "
                f"{self.prior.min().item():g} and rows with the sums {few([f'{value:g}' for value in sums.tolist()])}"
            )

    @property
    def documents(self) -> int:
        """Number of documents."""
        return len(self.owner)

    @cached_property
    def lengths(self) -> Tensor:
        """`(documents, sentences)`: tokens of each sentence, 0 for padding."""
        # The first column counts the padding.
        counts = self.owner.new_zeros(self.documents, int(self.owner.max()) + 2)
        return counts.scatter_add(1, self.owner + 1, torch.ones_like(self.owner))[:, 1:]

    @cached_property
    def mask(self) -> Tensor:
        """`(documents, sentences)`: true where there is a sentence."""
        return self.lengths > 0

    @cached_property
    def inside(self) -> Tensor | None:
        """`(documents, 1, 1, tokens)`: true for tokens, false for padding; None if there is no padding."""
        # Computed once for all layers and steps, because a GPU is waited for.
        inside = self.owner >= 0
        return None if bool(inside.all()) else inside[:, None, None, :]

    @cached_property
    def starts(self) -> Tensor:
        """`(documents, sentences)`: first token of each sentence, 0 for padding."""
        first = (self.owner >= 0).long().argmax(dim=1, keepdim=True)
        return (first + self.lengths.cumsum(1) - self.lengths) * self.mask

    @cached_property
    def spans(self) -> list[list[tuple[int, int]]]:
        """For each document the half-open token range of each sentence, as Python integers."""
        rows = zip(self.starts.tolist(), self.lengths.tolist(), strict=True)
        return [[(start, start + length) for start, length in zip(*row, strict=True) if length] for row in rows]

    def tokens(self, document: int, sentences: Sequence[int]) -> Tensor:
        """Return the positions `(tokens,)` of the tokens of some sentences of a document."""
        spans = self.spans[document]
        return torch.cat([torch.arange(*spans[sentence]) for sentence in sentences]).to(self.owner.device)

    @classmethod
    def from_owner(cls, owner: Tensor, sentences: Sequence[Sequence[int]] | None = None) -> SentenceLayout:
        """Return the layout with these attributes; by default `sentences` are 0, 1, ...

        Raises:
            InputError: Sentences that are not consecutive runs of tokens.
        """
        counts = []
        for place, row in enumerate(owner.tolist()):
            runs = [sentence for sentence, _ in groupby(row)]
            inside = runs[runs[:1] == [-1] : len(runs) - (runs[-1:] == [-1])]
            if not inside or inside != list(range(len(inside))):
                raise InputError(
                    f"document {place}: expected sentences 0, 1, ... as runs of tokens, with padding only before or "
                    f"after them, got {row}"
                )
            counts.append(len(inside))
        return cls(owner, tuple(map(tuple, sentences or map(range, counts))))

    @classmethod
    def from_documents(
        cls, documents: Sequence[Document], encoding: BatchEncoding, unit: str = "sentences"
    ) -> SentenceLayout:
        """Return the layout of encoded documents.

        A token belongs to the sentence of its first character; a special token before the text to the first sentence,
        any other special token to the sentence before it. Truncated text belongs to no sentence.

        Args:
            documents: What was encoded.
            encoding: Its tokens.
            unit: `sentences`, or `edus` to use EDUs in place of sentences.

        Raises:
            InputError: Another unit, an encoding by a slow tokenizer, of pairs of texts or of longer texts, or a
                document without sentences.
        """
        if unit not in BORDERS:
            choices = " or ".join(BORDERS)
            raise InputError(f"unit: expected {choices}, got {unit!r}{suggestion(unit, BORDERS)}")
        if wrong := [type(one).__name__ for one in documents if not isinstance(one, Document)]:
            raise TypeError(f"documents: expected Document, got {wrong[0]}; parse the texts first")
        if not hasattr(encoding, "is_fast"):
            raise TypeError(f"encoding: expected what the tokenizer returns, got {type(encoding).__name__}")
        if not encoding.is_fast:
            raise InputError(
                "expected an encoding with offsets, got one from a slow tokenizer; use a model with a fast tokenizer "
                "(tokenizer.json)"
            )
        if len(encoding.encodings or ()) != len(documents):
            raise InputError(f"expected {len(documents)} encoded texts, got {len(encoding.encodings or ())}")
        rows, names = [], []
        for document, encoded in zip(documents, encoding.encodings or (), strict=True):
            found = _owners(document, encoded, unit)
            there, new = np.unique(found[found >= 0], return_inverse=True)
            found[found >= 0] = new
            rows.append(torch.from_numpy(found))
            names.append(there.tolist())
        return replace(cls.from_owner(torch.stack(rows), names), unit=unit)

    def with_prior(self, documents: Sequence[Document]) -> SentenceLayout:
        """Return the layout with a prior from the documents' trees.

        The prior is the attention that a unit receives: the column sum of the C-Tree w/Nuc, for sentences projected.
        Sentences without a token are left out and the rest is renormalised.

        Raises:
            InputError: A wrong number of documents, or a document without a tree.
        """
        if len(documents) != self.documents:
            raise InputError(f"expected {self.documents} documents, got {len(documents)}")
        for document, kept in zip(documents, self.sentences, strict=True):
            count = len(_spans(document, self.unit))
            if kept and kept[-1] >= count:
                raise InputError(
                    f"{document.label}: expected the document of the layout, with {kept[-1] + 1} {self.unit} or more, "
                    f"got one with {count}"
                )
        prior = torch.zeros(self.lengths.shape)
        for row, document, kept in zip(prior, documents, self.sentences, strict=True):
            tree = document.require_tree("the discourse prior")
            matrix = c_tree_nuc(tree)
            if self.unit == "sentences":
                matrix = project_to_sentences(matrix, document.edu_to_sentence, len(document.sentences))
            mass = matrix.sum(axis=0)[list(kept)]
            row[: len(kept)] = torch.from_numpy(mass / mass.sum())
        return replace(self, prior=prior.to(self.owner.device))

    def to(self, device: torch.device | str) -> SentenceLayout:
        """Return the layout on a device; the layout itself if it is already there."""
        if self.owner.device == torch.device(device):
            return self
        prior = None if self.prior is None else self.prior.to(device)
        return replace(self, owner=self.owner.to(device), prior=prior)

    def sums(self, values: Tensor) -> Tensor:
        """Return `(documents, ..., sentences)`: the sums of `(documents, ..., tokens)` values over each sentence.

        Half precision is summed and returned in float32.
        """
        values = values if values.dtype == torch.float64 else values.float()
        # The last column sums the padding.
        zeros = values.new_zeros(*values.shape[:-1], self.mask.shape[1] + 1)
        return zeros.scatter_add(-1, self.columns(values), values)[..., :-1]

    def spread(self, values: Tensor) -> Tensor:
        """Return `(documents, ..., tokens)`: for each token its sentence's value of `(documents, ..., sentences)`.

        Padding gets 0.
        """
        return torch.nn.functional.pad(values, (0, 1)).gather(-1, self.columns(values))

    def columns(self, values: Tensor) -> Tensor:
        """Return the sentence of each token, in the shape of the values; padding gets the index after the last one."""
        owner = self.owner % (self.mask.shape[1] + 1)
        return owner.view(self.documents, *[1] * (values.dim() - 2), -1).expand(*values.shape[:-1], -1)


def _spans(document: Document, unit: str) -> tuple[Span, ...]:
    return document.edus if unit == "edus" else document.sentences


def _owners(document: Document, encoded: Any, unit: str) -> NDArray[np.int64]:
    """Return `(tokens,)` the unit of each token of a document, -1 for padding."""
    spans = _spans(document, unit)
    if not spans:
        got = f"a text without {unit}; parse it first" if document.text.strip() else "an empty one"
        raise InputError(f"{document.label}: expected a text with {unit}, got {got}")
    if 1 in encoded.sequence_ids:
        raise InputError(f"{document.label}: expected the encoding of one text, got that of a pair of texts")
    begins = np.array([span.start for span in spans])
    owners = np.full(len(encoded.ids), -1, dtype=np.int64)
    special = np.array(encoded.special_tokens_mask, dtype=bool)
    current = 0
    for token, ((start, end), masked) in enumerate(zip(encoded.offsets, encoded.attention_mask, strict=True)):
        if not masked:
            continue
        if not special[token]:
            if end > len(document.text):
                raise InputError(f"{document.label}: expected the encoding of its text, got that of a longer one")
            # Offsets of some tokenizers include the white space before a word, which belongs to the sentence before.
            inside = document.text[start:end]
            first = start + len(inside) - len(inside.lstrip())
            if first < end:
                # White space before the first sentence belongs to it.
                current = max(current, int(np.searchsorted(begins, first, side="right")) - 1, 0)
        owners[token] = current
    return owners


def check_layout(layout: Any) -> None:
    """Raise `InputError` if an object is not a `SentenceLayout`."""
    if not isinstance(layout, SentenceLayout):
        raise InputError(
            f"expected a SentenceLayout, got {type(layout).__name__}; make one with SentenceLayout.from_documents or "
            "from_owner"
        )


def check_fit(layout: SentenceLayout, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> None:
    """Check that a layout fits the arguments of `forward` or `generate`, the first of which is the token ids.

    Raises:
        InputError: An object that is not a layout, a wrong number of tokens, or padding that differs from the mask's.
    """
    check_layout(layout)
    ids = next(
        (one for one in (*arguments[:1], options.get("inputs"), options.get("input_ids")) if one is not None), None
    )
    states = options.get("encoder_outputs")
    given = ids if ids is not None else states[0] if states is not None else options.get("inputs_embeds")
    if given is not None and given.shape[:2] != layout.owner.shape:
        raise InputError(
            f"expected a layout of {tuple(given.shape[:2])} tokens, got one of {tuple(layout.owner.shape)}"
        )
    mask = options.get("attention_mask")
    if mask is not None and not torch.equal(mask.bool().cpu(), (layout.owner >= 0).cpu()):
        raise InputError("expected a layout with sentences for exactly the tokens that attention_mask leaves unmasked")
