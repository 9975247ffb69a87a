"""Text of HTML and Markdown, with the marks that `discsum.layout` knows: what is a heading there is one in the text."""

from __future__ import annotations

from collections.abc import Callable

from discsum.constants import INPUTS, TEXT
from discsum.errors import InputError
from discsum.markup.html import from_html
from discsum.markup.markdown import from_markdown
from discsum.registry import suggestion

__all__ = ["READERS", "check_input", "from_html", "from_markdown", "to_text"]

READERS: dict[str, Callable[[str], str]] = {TEXT: str, "markdown": from_markdown, "html": from_html}
assert tuple(READERS) == INPUTS


def check_input(input: str) -> None:
    """Raise `InputError` unless texts can be written in `input`."""
    if input not in INPUTS:
        raise InputError(f"input: expected one of {', '.join(INPUTS)}, got {input!r}{suggestion(input, INPUTS)}")


def to_text(content: str, input: str) -> str:
    """Return the text of `content`, which is written in `input`: `text` (returned unchanged), `markdown`, or `html`.

    Raises:
        TypeError: The content is no string.
        InputError: No such `input`, or HTML of which nothing can be extracted.
        MissingExtraError: The extra `web` is not installed.
    """
    check_input(input)
    if not isinstance(content, str):
        raise TypeError(f"text: expected str, got {type(content).__name__}")
    return READERS[input](content)
