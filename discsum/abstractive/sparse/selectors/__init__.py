"""Selectors of the sentences that a decoder step reads, one per file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from inspect import isclass
from typing import TYPE_CHECKING, Any, get_type_hints

from discsum.errors import InputError
from discsum.recipes.fields import check_value
from discsum.registry import Registry, signature_of, suggestion

if TYPE_CHECKING:
    from torch import nn

    from discsum.abstractive.sparse.selectors.base import AttentionShape, Selector

# Called once per layer, with the shape of its attention and the selector's options. Entries with the fact `shared` are
# sentence encoders, called once for all layers, with the model's width and the options. Those with the fact `by_chance`
# have no scores that a prior could change.
SELECTORS: Registry[Callable[..., Any]] = Registry(
    "selector", "discsum.abstractive.sparse.selectors", "discsum.selectors"
)
register = SELECTORS.register
# Full attention: every sentence is read.
ALL = "all"


def names() -> list[str]:
    """Return the names of the selectors."""
    return [ALL, *SELECTORS]


def learns(name: str, options: Mapping[str, Any]) -> bool:
    """Return whether a selector has parameters of its own, which must be trained before it selects.

    It is made once for the attention of bart-large. One that cannot be made for that counts as having none.
    """
    if name == ALL:
        return False
    entry = SELECTORS.entry(name)
    if entry.facts.get("shared"):
        return True
    # Imported here, so that listing the selectors does not import torch.
    import torch

    from discsum.abstractive.sparse.selectors.base import AttentionShape

    try:
        # On this device parameters take neither memory nor random numbers.
        with torch.device("meta"):
            return any(
                True for _ in entry.value(AttentionShape(width=1024, heads=16, head_size=64), **options).parameters()
            )
    except Exception:
        # A selector of another package may raise anything. If it also fails for the model's own sizes, making it there
        # raises that error.
        return False


def learned_selectors() -> list[str]:
    """Return the names of the own selectors that have to be trained."""
    return [name for name in SELECTORS.own if learns(name, {})]


def make_selectors(
    name: str, shapes: list[AttentionShape], *, beta: float | None = None, **options: Any
) -> tuple[list[Selector] | None, nn.Module | None]:
    """Return a selector for each layer, and the shared sentence encoder if there is one; None for `all`.

    With a `beta` the discourse prior is added to the selector, with that weight.

    Raises:
        InputError: An unknown name or option, of which the message lists the known ones; an option of another type or
            out of range; a `beta` or option of `all`; a `beta` of a selector that selects by chance; or a `beta` that
            is not a finite number.
    """
    check_options(name, options, beta)
    if name == ALL:
        return None, None
    # Imported here, so that listing the selectors does not import torch.
    from discsum.abstractive.sparse.selectors import _learned

    shared: Any = None
    selectors: list[Selector]
    if SELECTORS.entry(name).facts.get("shared"):
        shared = SELECTORS[name](shapes[0].width, **options)
        selectors = [_learned.LearnedSelector(shape, shared) for shape in shapes]
    else:
        selectors = [SELECTORS[name](shape, **options) for shape in shapes]
    if beta is not None:
        selectors = [_learned.DiscoursePriorSelector(selector, beta) for selector in selectors]
    return selectors, shared


def check_name(name: str | None) -> None:
    """Raise `InputError` for an unknown selector, without importing any. None stands for the model's own selector."""
    if name not in (None, *names()):
        raise InputError(f"selector: expected one of {', '.join(names())}, got {name!r}{suggestion(name, names())}")


def check_options(name: str, options: Mapping[str, Any], beta: float | None = None, r: int | None = None) -> None:
    """Check the name and options of a selector, and the weight of the prior; errors as in `make_selectors`.

    The selector `all` does not take a number of sentences `r` either.
    """
    if name == ALL:
        given = [*options, *(option for option, value in (("beta", beta), ("r", r)) if value is not None)]
        if given:
            near = suggestion(given[0], ("selector", "share_beams"))
            raise InputError(
                f"{', '.join(given)}: expected a selector that selects sentences, such as mean_key, got {ALL!r}, which "
                f"reads all of them{near}"
            )
        return
    check_name(name)
    if beta is not None and not (isinstance(beta, int | float) and math.isfinite(beta)):
        raise InputError(f"beta: expected a finite number, got {beta!r}")
    if beta is not None and SELECTORS.entry(name).facts.get("by_chance"):
        raise InputError(f"beta: expected none for the selector {name}, which selects by chance, got {beta!r}")
    # The first parameter is the shape or the width.
    known = list(signature_of(SELECTORS[name]).parameters)[1:]
    unknown = [option for option in options if option not in known]
    if unknown:
        raise InputError(
            f"selector {name}: expected one of its options ({', '.join(known) or 'it has none'}), got "
            f"{', '.join(unknown)}"
        )
    hints = _hints(SELECTORS[name])
    for option, value in options.items():
        check_value(hints.get(option, Any), value, f"selector {name}: {option}")


def changed_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a selector that differ from its defaults."""
    if not options:
        return {}
    known = signature_of(SELECTORS[name]).parameters
    return {option: value for option, value in options.items() if value != known[option].default}


def _hints(made: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of a selector's options; nothing if its annotations name something that is not imported."""
    try:
        return get_type_hints(made.__init__ if isclass(made) else made, include_extras=True)
    except NameError:
        return {}


__all__ = [
    "ALL",
    "SELECTORS",
    "changed_options",
    "check_options",
    "learned_selectors",
    "learns",
    "make_selectors",
    "names",
    "register",
]
