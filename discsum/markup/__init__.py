"""Convert HTML and Markdown to text, keeping headings and other structure as marks that `discsum.layout` recognises."""

from __future__ import annotations

from collections.abc import Callable

from discsum.constants import INPUTS, TEXT
from discsum.errors import InputError
from discsum.markup.html import from_html
from discsum.markup.markdown import from_markdown
from discsum.registry import suggestion

__all__ = ["check_input", "from_html", "from_markdown", "to_text"]

READERS: dict[str, Callable[[str], str]] = {TEXT: str, "markdown": from_markdown, "html": from_html}


def check_input(input: str) -> None:
    """Raise `InputError` if `input` is not a known input format."""
    if input not in INPUTS:
        raise InputError(f"input: expected one of {', '.join(INPUTS)}, got {input!r}{suggestion(input, INPUTS)}")


def to_text(content: str, input: str) -> str:
    """Return the text of `content` in the format `input`: `text` (returned unchanged), `markdown`, or `html`.

    Raises:
        TypeError: The content is not a string.
        InputError: An unknown format, HTML from which no text can be extracted, or markup that is nested too deeply.
        MissingExtraError: The extra `web` is not installed.
    """
    check_input(input)
    if not isinstance(content, str):
        raise TypeError(f"text: expected str, got {type(content).__name__}")
    return READERS[input](content)
