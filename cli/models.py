"""Models by name, loaded once a command."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discsum.extract import Scorer
    from discsum.parsers.parser import Parser


@cache
def load_parser(name: str) -> Parser:
    """Return a shipped parser, or the one in a folder."""
    from discsum.parsers.parser import Parser

    return Parser.from_pretrained(name)


@cache
def load_scorer(name: str | None, unit: str) -> Scorer:
    """Return a baseline, a shipped summarizer, or the one in a folder; without a name the shipped one for `unit`."""
    from discsum.baselines import BASELINES, baseline

    if name in BASELINES:
        return baseline(name)
    from discsum.summarizer import ExtractiveSummarizer

    return ExtractiveSummarizer.from_pretrained(name, unit=unit)
