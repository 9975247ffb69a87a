"""Selectors: which sentences a step of the decoder looks at. One small file each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any

from discsum.errors import InputError
from discsum.registry import Registry, suggestion

if TYPE_CHECKING:
    from torch import nn

    from discsum.abstractive.sparse.selectors.base import AttentionShape, Selector

# Made from the sizes of a layer's attention and options of its own, for every layer. Fact: `shared`, that it gives
# sentence vectors, is made once from the model's width, and all layers share it.
SELECTORS: Registry[Callable[..., Any]] = Registry(
    "selector", "discsum.abstractive.sparse.selectors", "discsum.selectors"
)
register, register_file = SELECTORS.register, SELECTORS.register_file
# Keeps every sentence: full attention.
ALL = "all"


def names() -> list[str]:
    """Return the names of the selectors."""
    return [ALL, *SELECTORS]


def sentence_encoders() -> list[str]:
    """Return the names of those that give sentence vectors, which all layers share and which are trained."""
    return SELECTORS.names(having="shared")


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
    shared: Any = None
    selectors: list[Selector]
    if SELECTORS.facts(name).get("shared"):
        from discsum.abstractive.sparse.selectors._learned import LearnedSelector

        shared = SELECTORS[name](shapes[0].width, **options)
        selectors = [LearnedSelector(shape, shared) for shape in shapes]
    else:
        selectors = [SELECTORS[name](shape, **options) for shape in shapes]
    if beta is not None:
        from discsum.abstractive.sparse.selectors._discourse_prior import DiscoursePriorSelector

        selectors = [DiscoursePriorSelector(selector, beta) for selector in selectors]
    return selectors, shared


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Check that there is such a selector and that it has such options; `beta` is an option of all that select.

    Raises:
        InputError: It has not; the message lists what there is.
    """
    if name == ALL:
        if options:
            raise InputError(f"selector: expected one that selects for {', '.join(options)}, got {ALL!r}")
        return
    if name not in SELECTORS:
        raise InputError(f"selector: expected one of {', '.join(names())}, got {name!r}{suggestion(name, names())}")
    beta = options.get("beta", 0.0)
    if not (isinstance(beta, int | float) and math.isfinite(beta)):
        raise InputError(f"beta: expected a finite number, got {beta!r}")
    # The first is the shape or the width.
    known = list(signature(SELECTORS[name]).parameters)[1:]
    unknown = [option for option in options if option not in (*known, "beta")]
    if unknown:
        raise InputError(
            f"selector {name}: expected options among {', '.join(known) or 'none'}, got {', '.join(unknown)}"
        )


__all__ = ["ALL", "SELECTORS", "check_options", "make_selectors", "names", "register", "sentence_encoders"]
