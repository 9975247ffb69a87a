"""Settings of a compressed encoder and data of one call, which all its self-attention modules share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from discsum.abstractive.compressed.blocks import BlockTables
from discsum.abstractive.compressed.config import SETTINGS, CompressionConfig
from discsum.abstractive.entry_points import Conversion
from discsum.abstractive.projections import encoder_layers
from discsum.abstractive.sentence_layout import SentenceLayout, check_fit, check_layout
from discsum.document import Document
from discsum.errors import InputError, warn_caller

if TYPE_CHECKING:
    from transformers import BatchEncoding


@dataclass(frozen=True, eq=False)
class Call:
    """The data of one call.

    Attributes:
        borders: Units of the documents, if blocks begin and end at their borders.
        tables: Blocks of the encoder's current pass.
    """

    borders: SentenceLayout | None = None
    tables: BlockTables | None = None


@dataclass(eq=False)
class CompressionSettings(Conversion):
    """Settings of a compressed encoder, kept as the model's attribute `compressed`.

    Attributes:
        config: Arguments of `compress`, which are saved.
    """

    name = "compressed"
    argument = "borders"
    key = SETTINGS

    config: CompressionConfig

    @property
    def call(self) -> Call:
        """The current call of this thread or task; outside of calls, an empty one."""
        return self.current_call or Call()

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return self.config.to_dict()

    def layers(self, model: Any) -> list[Any]:
        """Return the encoder's layers."""
        return encoder_layers(model)

    def forward_context(
        self, model: Any, given: SentenceLayout | None, arguments: tuple[Any, ...], options: Mapping[str, Any]
    ) -> AbstractContextManager[None]:
        """Return the context of a forward pass: the current call, or a new one if borders are given.

        `tables` checks whether the borders fit the inputs.

        Raises:
            InputError: Borders that are not a layout, or that the encoder does not use.
        """
        if given is not None:
            check_layout(given)
            if self.config.borders is None:
                raise InputError("borders: expected none for an encoder with blocks of a fixed size, got a layout")
        return self.within(self.call if given is None else Call(given.to(model.device)))

    def generate_context(
        self, model: Any, given: SentenceLayout | None, arguments: tuple[Any, ...], options: Mapping[str, Any]
    ) -> AbstractContextManager[None]:
        """Return the context of `generate`."""
        if given is not None:
            check_fit(given, arguments, options)
        return self.forward_context(model, given, arguments, options)

    def recompute_context(self) -> Callable[[], AbstractContextManager[None]]:
        """Return a function that makes the context for each run of a layer."""
        return partial(self.within, self.call)

    def tables(self, mask: Tensor) -> BlockTables:
        """Return the blocks of documents with a `mask` `(documents, tokens)`.

        Raises:
            InputError: Missing borders, or borders of other documents.
        """
        borders, unit = self.call.borders, self.config.borders
        if unit is None:
            borders = None
        elif borders is None:
            raise InputError(
                f"expected the borders of the inputs' {unit}, where this encoder's blocks begin, got none; pass "
                f"borders=SentenceLayout.from_documents(documents, encoding, unit={unit!r})"
            )
        elif borders.owner.shape != mask.shape or not torch.equal(borders.owner >= 0, mask):
            raise InputError(
                f"expected borders for the encoder's inputs {tuple(mask.shape)}, with units for exactly the tokens "
                f"that attention_mask leaves unmasked, got borders for {tuple(borders.owner.shape)}"
            )
        return BlockTables.of(mask, self.config.blocks if self.config.strides else 1, borders)


def borders_of(model: Any, documents: Sequence[Document], encoding: BatchEncoding) -> dict[str, Any]:
    """Return the argument `borders` for encoded documents; nothing if the model's encoder needs none.

    Raises:
        InputError: A document without the units.
    """
    settings = getattr(model, CompressionSettings.name, None)
    unit = None if settings is None else settings.config.borders
    return {} if unit is None else {"borders": SentenceLayout.from_documents(documents, encoding, unit=unit)}


def encoder_settings(model: Any) -> dict[str, Any]:
    """Return the settings of a compressed encoder that affect scores; nothing for an uncompressed one."""
    settings = getattr(model, CompressionSettings.name, None)
    if settings is None:
        return {}
    config = settings.config
    found = {"encoder": config.variant}
    if config.strides:
        found |= {"blocks": config.blocks} | ({"borders": config.borders} if config.borders else {})
    if config.convolves:
        found |= {"kernel": config.kernel} | ({"groups": config.groups} if config.groups != 1 else {})
    return found


@dataclass(eq=False)
class EncoderForward:
    """The forward pass of a compressed encoder: its own, within a call that has the blocks of its inputs.

    Layers get no mask, which stock attention would expand to `(documents, tokens, tokens)`.
    """

    encoder: Any
    settings: CompressionSettings

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Run the encoder's own forward pass."""
        named = dict(self.__signature__.bind(*arguments, **options).arguments)
        named |= named.pop("kwargs", {})
        if named.get("output_attentions"):
            warn_caller(
                "attention weights of a compressed encoder are left out: it never computes them for all pairs of tokens"
            )
        ids = named.get("input_ids")
        inputs = ids if ids is not None else named.get("inputs_embeds")
        if inputs is None:
            raise InputError("expected input_ids or inputs_embeds for the encoder, got neither")
        mask = named.pop("attention_mask", None)
        if mask is None:
            mask = torch.ones(inputs.shape[:2], dtype=torch.bool, device=inputs.device)
        elif mask.dim() != 2:
            raise InputError(f"attention_mask: expected 2 dimensions, documents and tokens, got {mask.dim()}")
        call = replace(self.settings.call, tables=self.settings.tables(mask.bool()))
        with self.settings.within(call):
            return type(self.encoder).forward(self.encoder, **named)

    @property
    def __signature__(self) -> inspect.Signature:
        """The encoder's own signature, which `generate` inspects."""
        return inspect.signature(partial(type(self.encoder).forward, self.encoder))
