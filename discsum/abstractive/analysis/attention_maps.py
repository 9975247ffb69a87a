"""Cross-attention maps of a generated summary (Manakul and Gales 2021, figures 5 to 8)."""

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
class AttentionMaps:
    """Cross-attention over one document, averaged over heads.

    Attributes:
        written: Tokens of the summary.
        read: Tokens of the document.
        sentences: Texts of the document's sentences that have a token.
        owner: `(tokens,)` the sentence of each token.
        words: `(layers, written, read)` attention of each written token to each token of the document.
    """

    summary: str
    written: list[str]
    read: list[str]
    sentences: list[str]
    owner: NDArray[np.int64]
    words: NDArray[np.float32]

    @property
    def by_sentence(self) -> NDArray[np.float32]:
        """`(layers, written, sentences)`: attention to each sentence (Eq 4)."""
        parts = [self.words[..., self.owner == sentence].sum(axis=-1) for sentence in range(len(self.sentences))]
        return np.stack(parts, axis=-1)

    def to_dict(self, layer: int) -> dict[str, Any]:
        """Return the maps of one layer, counted from 1, as a JSON object; `words` is `(written, read)`.

        Raises:
            InputError: No such layer.
        """
        if not 1 <= layer <= len(self.words):
            raise InputError(f"layer: expected 1 to {len(self.words)}, got {layer}")
        return {
            "layer": layer,
            **asdict(self),
            "owner": self.owner.tolist(),
            "words": self.words[layer - 1].round(6).tolist(),
            "by_sentence": self.by_sentence[layer - 1].round(6).tolist(),
        }


@torch.inference_mode()
def attention_maps(summarizer: AbstractiveSummarizer, document: Document, **generation: Any) -> AttentionMaps:
    """Return the attention maps of a sparse model's summary of a document, from a second, teacher-forced pass.

    Sentences that the selector leaves out get no attention. Options are those of `AbstractiveSummarizer.summarize`.

    Raises:
        InputError: A document without text, or one that is longer than the model's positions.
    """
    if not document.text.strip():
        raise InputError(f"{document.label}: expected some text, got none")
    model, tokenizer = summarizer.model, summarizer.tokenizer
    with model.sparse.using(dense_where_faster=False):
        found = summarizer.summarize(document, **generation)
        encoding, inputs = summarizer.encoded([document], truncate=found.truncated)
        # Only the eager implementation returns attention weights.
        before = model.config._attn_implementation
        model.set_attn_implementation("eager")
        try:
            output = model(
                **inputs,
                decoder_input_ids=torch.tensor([found.ids[:-1]], device=model.device),
                output_attentions=True,
            )
        finally:
            model.set_attn_implementation(before)
    layout = inputs["layout"]
    words = torch.stack([layer[0].float().mean(dim=0) for layer in output.cross_attentions]).cpu().numpy()
    return AttentionMaps(
        found.text,
        [tokenizer.decode([token]).strip() for token in found.ids[1:]],
        [tokenizer.decode([token]).strip() for token in encoding["input_ids"][0].tolist()],
        [document.sentence_texts[place] for place in layout.sentences[0]],
        layout.owner[0].numpy(),
        words,
    )
