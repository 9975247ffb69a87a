"""Texts for the tokenizer, and the chunk of each of their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.abstractive.coarse_to_fine.choices import SENTENCES
from discsum.abstractive.coarse_to_fine.config import CoarseToFineConfig
from discsum.abstractive.coarse_to_fine.grid import rows_of_words
from discsum.document import Document
from discsum.errors import InputError

if TYPE_CHECKING:
    from transformers import BatchEncoding


def text_of(document: Document, end: str) -> str:
    """Return the sentences of a document, joined by the token `end`, or by a space if `end` is empty.

    Raises:
        InputError: A document without sentences.
    """
    if not document.sentences:
        got = "a text without sentences; parse it first" if document.text.strip() else "an empty one"
        raise InputError(f"{document.label}: expected a text with sentences, got {got}")
    return _separator(end).join(document.sentence_texts)


def chunk_ids(
    documents: Sequence[Document], encoding: BatchEncoding, config: CoarseToFineConfig, end: str = ""
) -> Tensor:
    """Return `(documents, tokens)` the chunk of each token of encoded documents, -1 for padding.

    Args:
        documents: The documents.
        encoding: The encoding of their `text_of`.
        config: Defines the chunks.
        end: The token between sentences.

    Raises:
        InputError: More words than the shape has, or no tree where chunks are subtrees.
    """
    if config.shape is not None:
        return rows_of_words(torch.as_tensor(encoding["attention_mask"]), config.shape)
    rows = []
    for document, encoded in zip(documents, encoding.encodings or (), strict=True):
        read = np.array(encoded.attention_mask, dtype=bool)
        sentences, characters = _places(document, encoded, end)
        if config.chunks == SENTENCES:
            found = sentences
        else:
            edus = np.searchsorted([edu.start for edu in document.edus], characters, side="right") - 1
            found = subtrees(document, np.bincount(edus[read], minlength=len(document.edus)), config.subtree_words)[
                edus
            ]
        rows.append(np.where(read, found, -1))
    return torch.from_numpy(np.stack(rows).astype(np.int64))


def subtrees(document: Document, sizes: NDArray[np.int64], words: int) -> NDArray[np.int64]:
    """Return `(edus,)` the chunk of each EDU: the largest subtrees of at most `words` words, or single EDUs.

    `sizes` `(edus,)` are the numbers of words, counted as in rows: including punctuation marks and end tokens.

    Raises:
        InputError: A document without a tree.
    """
    tree = document.require_tree("chunks that are subtrees")
    splits = {(node.first, node.last): node.split for node in tree.nodes}
    before = np.cumsum([0, *sizes])
    owners = np.zeros(len(document.edus), dtype=np.int64)
    stack, chunk = [(0, len(document.edus) - 1)], 0
    while stack:
        first, last = stack.pop()
        if first == last or before[last + 1] - before[first] <= words:
            owners[first : last + 1] = chunk
            chunk += 1
        else:
            split = splits[first, last]
            # The left one is popped first.
            stack += [(split + 1, last), (first, split)]
    return owners


def _separator(end: str) -> str:
    return f" {end} " if end else " "


def _places(document: Document, encoded: Any, end: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return `(tokens,)` the sentence of each token, and the character of the document where it begins.

    Tokens between sentences and after the text belong to the sentence before them, at its last character.
    """
    starts = np.array([span.start for span in document.sentences])
    ends = np.array([span.end for span in document.sentences])
    lengths = ends - starts
    begins = np.cumsum([0, *(lengths[:-1] + len(_separator(end)))])
    offsets = np.array([offset[0] for offset in encoded.offsets])
    special = np.array(encoded.special_tokens_mask, dtype=bool) & (np.array(encoded.offsets)[:, 1] == 0)
    # Tokens that the tokenizer adds have no offset in the text.
    offsets = np.maximum.accumulate(np.where(special, 0, offsets))
    sentences = np.searchsorted(begins, offsets, side="right") - 1
    inside = np.minimum(offsets - begins[sentences], lengths[sentences] - 1)
    return sentences, starts[sentences] + inside
