"""Extractive summarizers that need no training, registered by name in `BASELINES`; one file each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from discsum.errors import InputError
from discsum.registry import Registry, call_problem

if TYPE_CHECKING:
    from discsum.scoring import UnitScorer

BASELINES: Registry[Callable[..., UnitScorer]] = Registry(
    "baseline", "discsum.baselines", "discsum.baselines", dashes=True
)
register = BASELINES.register


def baseline(name: str, **options: object) -> UnitScorer:
    """Return the baseline of this name; `options` set its fields, such as `seed` of `random`.

    Raises:
        InputError: An unknown name (the message lists the choices), or an entry that makes no `UnitScorer`.
    """
    from discsum.scoring import UnitScorer

    make = BASELINES[name]
    if lacking := ", ".join(sorted(getattr(make, "__abstractmethods__", ()))):
        raise InputError(f"{name}: expected a baseline with all methods of a UnitScorer, got one without {lacking}")
    if problem := call_problem(make, **options):
        given = f"the options {', '.join(options)}" if options else "no arguments"
        raise InputError(f"{name}: expected a baseline that takes {given}, got {problem}")
    made = make(**options)
    if not isinstance(made, UnitScorer):
        raise InputError(f"{name}: expected a baseline that makes a discsum.scoring.UnitScorer, got {made!r}")
    return made


__all__ = ["BASELINES", "baseline", "register"]
