"""Conversion of a Hugging Face model to a compressed encoder, in place, and back."""

from __future__ import annotations

from typing import Any

from discsum.abstractive.compressed.attention import CompressedSelfAttention
from discsum.abstractive.compressed.calls import CompressionSettings, EncoderForward
from discsum.abstractive.compressed.config import CompressionConfig
from discsum.abstractive.compressed.convolution import KeyValueConvolution
from discsum.abstractive.entry_points import attach, detach
from discsum.abstractive.projections import encoder_attentions
from discsum.errors import InputError

# Name of the module added to each self-attention of the encoder.
ADDED = "compression"


def compress(
    model: Any,
    variant: str,
    *,
    blocks: int = 3,
    kernel: int = 3,
    groups: int = 1,
    borders: str | None = None,
) -> Any:
    """Compress the self-attention of a model's encoder in place, and return the model.

    Existing parameters keep their names; convolutions add parameters, which start as the mean of a window. With
    `borders`, `forward` and `generate` take `borders`, the `SentenceLayout` of the inputs' sentences or EDUs. Calls on
    one model may run in several threads at once. `save_pretrained` keeps settings and convolutions; `from_pretrained`
    of this package reads them. The model may also be made sparse (`discsum.abstractive.sparse`), before or after.

    Args:
        model: A sequence-to-sequence model of transformers whose encoder has plain full attention:
            BART, mBART, PLBart, PEGASUS, Marian, M2M100, Blenderbot, BlenderbotSmall.
        variant: `conv`, `conv_pool`, `strided` or `strided_conv`; see `CompressionConfig`.
        blocks: Blocks of a document (`strided`, `strided_conv`).
        kernel: Number of tokens that share one key and value (`conv`, `conv_pool`, `strided_conv`).
        groups: Groups of channels that are convolved separately.
        borders: `sentences` or `edus`, at whose borders blocks begin and end (`strided`, `strided_conv`).

    Raises:
        InputError: An unsupported model, a model whose encoder is already compressed, or settings that do not fit.
    """
    config = CompressionConfig(variant, blocks, kernel, groups, borders)
    if hasattr(model, CompressionSettings.name):
        raise InputError("expected a model with its original encoder, got a compressed one; decompress it first")
    attentions = encoder_attentions(model)
    settings = CompressionSettings(config)
    for projections in attentions:
        module, width = projections.module, projections.key.in_features
        if config.convolves:
            if width % groups:
                raise InputError(f"groups: expected a divisor of the model's width {width}, got {groups}")
            added = KeyValueConvolution(width, config).to(projections.key.weight)
            setattr(module, ADDED, added.train(module.training))
        module.forward = CompressedSelfAttention(projections, settings)
    encoder = model.get_encoder()
    encoder.forward = EncoderForward(encoder, settings)
    attach(model, settings)
    return model


def decompress(model: Any) -> Any:
    """Undo `compress`; return the model.

    Raises:
        InputError: A model whose encoder is not compressed.
    """
    if not hasattr(model, CompressionSettings.name):
        raise InputError("expected a model with a compressed encoder, got one with its original encoder")
    for projections in encoder_attentions(model):
        module = projections.module
        del module.forward
        if hasattr(module, ADDED):
            delattr(module, ADDED)
    del model.get_encoder().forward
    detach(model, model.compressed)
    return model


def is_convolution(name: str) -> bool:
    """Return whether a parameter of this name belongs to the convolutions of a compressed model."""
    return f".{ADDED}." in name
