"""Raw English text to RST discourse tree to summary, offline."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discsum.document import EDU, Document, Span
    from discsum.parsers.parser import Parser
    from discsum.summarizer.extractive import ExtractiveSummarizer
    from discsum.summary import Summary
    from discsum.tree import Node, RSTTree

__version__ = "0.1.0"

# Imported on first use: `import discsum` is light, and the command line answers at once.
_HOMES = {
    "Document": "discsum.document",
    "EDU": "discsum.document",
    "Span": "discsum.document",
    "Node": "discsum.tree",
    "RSTTree": "discsum.tree",
    "Summary": "discsum.summary",
    "ExtractiveSummarizer": "discsum.summarizer.extractive",
    "Parser": "discsum.parsers.parser",
}

__all__ = [
    "EDU",
    "Document",
    "ExtractiveSummarizer",
    "Node",
    "Parser",
    "RSTTree",
    "Span",
    "Summary",
    "parse",
    "summarize",
]


def parse(text: str) -> Document:
    """Return the document of a text, with sentences, EDUs and discourse tree, by the shipped parser."""
    document: Document = import_module("discsum.parsers.loading").load_parser().parse(text)
    return document


def summarize(text: str, *, units: int | None = None, unit: str = "sentence") -> Summary:
    """Return the summary of a text in `units` sentences or EDUs, 3 or 6 by default, by the shipped summarizer.

    Raises:
        InputError: Another unit, or less than one of them.
    """
    summarizer = import_module("discsum.summarizer.loading").shipped_summarizer(unit)
    summary: Summary = summarizer.summarize(text, units=units)
    return summary


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'discsum' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
