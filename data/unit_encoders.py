"""What makes unit vectors for a dataset: the parser's own encoder in two ways, or any Hugging Face encoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from discsum.encoder.units import VECTORS, unit_vectors

if TYPE_CHECKING:
    from discsum.parsers.parser import Encoded, Parser

# From a parsed document and a unit to `(units, width)` vectors.
UnitEncoder = Callable[["Encoded", str], Tensor]


def unit_encoder(name: str, parser: Parser) -> UnitEncoder | None:
    """Return the encoder of that name; none for `none`.

    Args:
        name: `none`, `contextual`, `isolated`, or the name or folder of a Hugging Face encoder, which reads each unit
            on its own, as `[CLS] unit [SEP]`, and gives the first token's state (Xiao et al. 2020, section 3).
        parser: Whose encoder the first two are.
    """
    if name == "none":
        return None
    if name in VECTORS:
        return lambda encoded, unit: unit_vectors(encoded, unit, name, parser)
    from discsum.parsers.encoder import WindowEncoder
    from discsum.parsers.pretrained import pretrained_encoder
    from discsum.parsers.subwords import split_subwords

    pretrained = pretrained_encoder(name)
    window = min(512, int(getattr(pretrained.encoder.config, "max_position_embeddings", 512)))
    encoder = WindowEncoder(pretrained.encoder, pretrained.special, window=window).eval()

    @torch.inference_mode()
    def encode(encoded: Encoded, unit: str) -> Tensor:
        document = encoded.document
        texts = [document.text[span.start : span.end] for span in document.units(unit)]
        return encoder.first_tokens([split_subwords(text, pretrained.tokenizer) for text in texts])

    return encode
