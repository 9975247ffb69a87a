"""The Typer app of a command, set up the same way for all."""

from __future__ import annotations

from typing import Any

import typer


def command_app(**settings: Any) -> typer.Typer:
    """Return an app whose help is plain text, which wraps between words at any width; Rich's columns break them."""
    return typer.Typer(rich_markup_mode=None, add_completion=False, **settings)
