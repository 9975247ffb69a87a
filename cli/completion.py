"""Shell completion with names that are known without importing torch; if none fits, the shell completes files."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from discsum.abstractive.sparse.selectors import SELECTORS
from discsum.baselines import BASELINES
from discsum.constants import ORACLE, PARSER_KIND, SUMMARIZER_KIND
from discsum.persistence import shipped
from discsum.recipes import names

Completer = Callable[[str], list[str]]


def among(names: Callable[[], Iterable[str]]) -> Completer:
    """Return a completer of names; `names` is called at each completion."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


parsers = among(lambda: shipped(PARSER_KIND))
scorers = among(lambda: [*shipped(SUMMARIZER_KIND), *BASELINES.own])
systems = among(lambda: [*shipped(), *BASELINES.own, ORACLE])
recipes = among(names)
selectors = among(lambda: ["all", *SELECTORS.own])
