"""Random sentence selection, the baseline (Manakul and Gales 2021, Table 2)."""

from __future__ import annotations

from typing import Any, Self

import torch
from torch import Tensor

from discsum.abstractive.sentence_layout import SentenceLayout
from discsum.abstractive.sparse.selectors import SELECTORS
from discsum.abstractive.sparse.selectors.base import AttentionShape, EncodedTokens, Queries, Selector
from discsum.errors import InputError


@SELECTORS.register("random", by_chance=True)
class RandomSelector(Selector):
    """Draws random sentences for every layer and query."""

    def __init__(self, shape: AttentionShape, seed: int = 0) -> None:
        """Seed the draws, differently for each layer; raise `InputError` unless the seed has up to 32 bits."""
        super().__init__(shape)
        if not (isinstance(seed, int) and 0 <= seed < 2**32):
            raise InputError(f"seed: expected a whole number from 0 to 2**32 - 1, got {seed!r}")
        self.layer_seed = seed * 1009 + shape.layer
        self.generator = torch.Generator().manual_seed(self.layer_seed)

    def train(self, mode: bool = True) -> Self:
        """Change the mode; draws begin anew with each evaluation, so that a resumed run validates like any other."""
        if not mode:
            self.generator.manual_seed(self.layer_seed)
        return super().train(mode)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy or a pickle, which continues the draws independently of this selector."""
        return {**self.__dict__, "generator": self.generator.get_state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy."""
        drawn = state.pop("generator")
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self.generator = torch.Generator()
        self.generator.set_state(drawn)

    def summarise(self, source: EncodedTokens) -> tuple[Tensor, ...]:
        """Return nothing."""
        return ()

    def logits(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return zeros: all sentences are equally likely."""
        return queries.hidden.new_zeros(layout.documents, 1, queries.hidden.shape[1], layout.mask.shape[1])

    def scores(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return random numbers."""
        shape = (layout.documents, queries.hidden.shape[1], layout.mask.shape[1])
        # In training, use the global generator, which the run seeds again after each validation, for resumed runs.
        own = None if self.training else self.generator
        return torch.rand(shape, generator=own).to(queries.hidden)
