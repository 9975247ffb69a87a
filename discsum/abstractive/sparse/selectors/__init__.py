"""Selectors of the sentences that a decoder step reads, one per file."""

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

# Called with the shape of a layer's attention and the selector's options, once per layer. Fact `shared`: a sentence
# encoder, called with the model's width, once for all layers.
SELECTORS: Registry[Callable[..., Any]] = Registry(
    "selector", "discsum.abstractive.sparse.selectors", "discsum.selectors"
)
register, register_file = SELECTORS.register, SELECTORS.register_file
# Full attention: every sentence is read.
ALL = "all"


def names() -> list[str]:
    """Return the names of the selectors."""
    return [ALL, *SELECTORS]


def sentence_encoders() -> list[str]:
    """Return the names of the selectors with a trained sentence encoder, which all layers share."""
    return [name for name in SELECTORS if SELECTORS.entry(name).facts.get("shared")]


def make_selectors(
    name: str, shapes: list[AttentionShape], *, beta: float | None = None, **options: Any
) -> tuple[list[Selector] | None, nn.Module | None]:
    """Return a selector for each layer, and the shared sentence encoder if there is one; none for `all`.

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
    if SELECTORS.entry(name).facts.get("shared"):
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
    """Check the name and options of a selector; all selectors but `all` have the option `beta`.

    Raises:
        InputError: An unknown name or option; the message lists the known ones.
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
