"""The Typer app of a command, set up the same way for all, and the options that its user gave."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from discsum.errors import InputError


def command_app(**settings: Any) -> typer.Typer:
    """Return an app whose help is plain text, which wraps between words at any width; Rich's columns break them."""
    return typer.Typer(rich_markup_mode=None, add_completion=False, **settings)


@contextmanager
def as_usage() -> Iterator[None]:
    """Raise an `InputError` of the block as `BadParameter`, which exits with 2."""
    try:
        yield
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


def given_options(context: typer.Context) -> dict[str, str]:
    """Return the parameters that are on the command line: name, and option as `--help` has it."""
    given = {}
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if source is not None and source.name != "DEFAULT":
            given[name] = max(parameter.opts, key=len)
    return given
