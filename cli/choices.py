"""Options with named values: their metavar, their completion, and the error for unknown values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import typer

from discsum.cli.completion import among
from discsum.registry import suggestion


def choice(*names: str) -> dict[str, Any]:
    """Return the `typer.Option` arguments of an option that accepts only these names."""
    return {**open_choice(*names), "callback": one_of(lambda: names)}


def open_choice(*names: str) -> dict[str, Any]:
    """Return the `typer.Option` arguments of an option that suggests these names and also accepts others.

    Others are for example registered names. The command checks the value later.
    """
    return {"metavar": "|".join(names), "autocompletion": among(lambda: names)}


def one_of(names: Callable[[], Iterable[str]]) -> Callable[[str | None], str | None]:
    """Return a callback that rejects all values but these names; `names` is called when the callback runs."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in (known := [*names()]):
            raise typer.BadParameter(f"expected one of {', '.join(known)}, got {value!r}{suggestion(value, known)}")
        return value

    return check
