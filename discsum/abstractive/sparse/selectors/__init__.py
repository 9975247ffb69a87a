"""Selectors: which sentences a step of the decoder looks at. One small file each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from torch import nn

from discsum.abstractive.sparse.selectors.attention_pooling import AttentionPoolingSentences
from discsum.abstractive.sparse.selectors.base import AttentionShape, EncodedTokens, Queries, Selector
from discsum.abstractive.sparse.selectors.discourse_prior import DiscoursePriorSelector
from discsum.abstractive.sparse.selectors.gru import GRUSentences
from discsum.abstractive.sparse.selectors.ideal import IdealSelector
from discsum.abstractive.sparse.selectors.learned import LearnedSelector, SentenceEncoder
from discsum.abstractive.sparse.selectors.mean_key import MeanKeySelector
from discsum.abstractive.sparse.selectors.mean_variance import MeanVarianceSelector
from discsum.abstractive.sparse.selectors.min_max import MinMaxSelector
from discsum.abstractive.sparse.selectors.model_free import ModelFreeSelector
from discsum.abstractive.sparse.selectors.random_sentences import RandomSelector
from discsum.errors import InputError

# Every layer's own, made from the sizes of its attention.
SELECTORS: dict[str, Callable[..., Selector]] = {
    "ideal": IdealSelector,
    "random": RandomSelector,
    "model_free": ModelFreeSelector,
    "mean_key": MeanKeySelector,
    "mean_variance": MeanVarianceSelector,
    "min_max": MinMaxSelector,
}
# With sentence vectors that all layers share, made from the model's width.
SENTENCE_ENCODERS: dict[str, Callable[..., SentenceEncoder]] = {
    "gru": GRUSentences,
    "attention_pooling": AttentionPoolingSentences,
}
# Keeps every sentence: full attention.
ALL = "all"


def names() -> list[str]:
    """Return the names of the selectors."""
    return [ALL, *SELECTORS, *SENTENCE_ENCODERS]


def make_selectors(
    name: str, shapes: list[AttentionShape], *, beta: float | None = None, **options: Any
) -> tuple[list[Selector] | None, nn.Module | None]:
    """Return a selector for each layer, and what the layers share; none for `all`.

    Args:
        name: One of `names()`.
        shapes: Sizes of each layer's attention.
        beta: Weight of the discourse prior, which is then added to the selector.
        options: The selector's own.

    Raises:
        InputError: An unknown name; the message lists the selectors. An option that the selector does not have, or a
            `beta` or option of `all`.
    """
    check_options(name, options if beta is None else {**options, "beta": beta})
    if name == ALL:
        return None, None
    shared: SentenceEncoder | None = None
    if name in SENTENCE_ENCODERS:
        shared = SENTENCE_ENCODERS[name](shapes[0].width, **options)
        selectors: list[Selector] = [LearnedSelector(shape, shared) for shape in shapes]
    else:
        selectors = [SELECTORS[name](shape, **options) for shape in shapes]
    if beta is not None:
        selectors = [DiscoursePriorSelector(selector, beta) for selector in selectors]
    return selectors, shared


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Check that there is such a selector and that it has such options; `beta` is an option of all that select.

    Raises:
        InputError: It has not; the message lists what there is.
    """
    if name not in names():
        raise InputError(f"selector: expected one of {', '.join(names())}, got {name!r}")
    if name == ALL:
        if options:
            raise InputError(f"selector: expected one that selects for {', '.join(options)}, got {ALL!r}")
        return
    beta = options.get("beta", 0.0)
    if not (isinstance(beta, int | float) and math.isfinite(beta)):
        raise InputError(f"beta: expected a finite number, got {beta!r}")
    # The first is the shape or the width.
    known = list(signature((SENTENCE_ENCODERS | SELECTORS)[name]).parameters)[1:]
    unknown = [option for option in options if option not in (*known, "beta")]
    if unknown:
        raise InputError(
            f"selector {name}: expected options among {', '.join(known) or 'none'}, got {', '.join(unknown)}"
        )


__all__ = [
    "ALL",
    "SELECTORS",
    "SENTENCE_ENCODERS",
    "AttentionShape",
    "EncodedTokens",
    "Queries",
    "Selector",
    "SentenceEncoder",
    "check_options",
    "make_selectors",
    "names",
]
