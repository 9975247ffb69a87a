"""Options with a fixed set of values: their metavar, their completion, and the error for other values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import typer

from discsum.cli.completion import among
from discsum.registry import suggestion


def choice(*names: str) -> dict[str, Any]:
    """Return the arguments of an option whose value is one of these names."""
    return {**open_choice(*names), "callback": one_of(lambda: names)}


def open_choice(*names: str) -> dict[str, Any]:
    """Return the arguments of an option that has further values, as a registry's; the program checks them."""
    return {"metavar": "|".join(names), "autocompletion": among(lambda: names)}


def one_of(names: Callable[[], Iterable[str]]) -> Callable[[str | None], str | None]:
    """Return a callback that refuses other values than these names, which are listed when it runs."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in (known := [*names()]):
            raise typer.BadParameter(f"expected one of {', '.join(known)}, got {value!r}{suggestion(value, known)}")
        return value

    return check
