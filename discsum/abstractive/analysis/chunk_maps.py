"""Attention to chunks while a summary is written (Ling and Rush 2017, table 2 and figure 3)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.document import Document
from discsum.errors import InputError


@dataclass(frozen=True, eq=False)
class ChunkMaps:
    """Attention of a coarse-to-fine model over one document, at each token that it wrote.

    Attributes:
        written: Tokens of the summary.
        chunks: Words of each chunk; empty for padding.
        read: Tokens of the document.
        coarse: `(written, chunks)` attention to chunks before any choice; for `standard`, summed over their words.
        words: `(written, read)` attention to the document's tokens.
        padding: `(written,)` attention to padding.
        filled: Number of chunks with words.
        encoded: Number of chunks that were encoded for the summary.
    """

    summary: str
    written: list[str]
    chunks: list[str]
    read: list[str]
    coarse: NDArray[np.float32]
    words: NDArray[np.float32]
    padding: NDArray[np.float32]
    filled: int
    encoded: int

    @property
    def entropies(self) -> NDArray[np.float64]:
        """`(written,)`: entropy of attention to chunks, in nats."""
        shares = self.coarse.astype(np.float64)
        found: NDArray[np.float64] = -(shares * np.log(np.maximum(shares, 1e-300))).sum(axis=1)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the maps as a JSON object."""
        lists = {name: getattr(self, name).round(6).tolist() for name in ("coarse", "words", "padding")}
        return {**asdict(self), **lists, "entropy": float(self.entropies.mean())}


@torch.inference_mode()
def chunk_maps(summarizer: AbstractiveSummarizer, document: Document, **generation: Any) -> ChunkMaps:
    """Return the maps of a document's summary, from a second, teacher-forced pass.

    Options are those of `AbstractiveSummarizer.summarize`.

    Raises:
        InputError: A model of another family, or a document with more words than the model reads.
    """
    model, tokenizer = summarizer.model, summarizer.tokenizer
    if model.config.model_type != "coarse_to_fine":
        raise InputError(f"{summarizer.name}: expected a coarse-to-fine model, got one of {model.config.model_type}")
    found = summarizer.summarize(document, **generation)
    encoding, inputs = summarizer.encoded([document], truncate=found.truncated)
    output = model(
        **inputs, decoder_input_ids=torch.tensor([found.ids[:-1]], device=model.device), output_attentions=True
    )
    owners = inputs["chunk_ids"][0].cpu().numpy()
    read = np.array(tokenizer.convert_ids_to_tokens(encoding["input_ids"][0].tolist()))
    coarse = output.coarse_attentions[0].float().cpu().numpy()
    return ChunkMaps(
        found.text,
        tokenizer.convert_ids_to_tokens(found.ids[1:]),
        [" ".join(read[owners == chunk]) for chunk in range(coarse.shape[1])],
        read.tolist(),
        coarse,
        output.word_attentions[0].float().cpu().numpy(),
        # 1 minus the attention to words may be a rounding error below 0.
        output.padding_attentions[0].float().clamp(min=0).cpu().numpy(),
        found.details["chunks"],
        found.details["encoded"],
    )
