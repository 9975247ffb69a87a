"""Options of extractive summaries, and checks of them that load no model and do not import torch."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TypedDict

from discsum.baselines import BASELINES
from discsum.constants import HUB, SENTENCES, SUMMARIZER_KIND
from discsum.errors import InputError, WeightsError
from discsum.hub import local_only
from discsum.persistence import read_config, shipped
from discsum.registry import suggestion
from discsum.selection import Budget, Policy

SHIPPED = {"sentence": "discsum-news-sentence", "edu": "discsum-news-edu"}


class SummaryOptions(TypedDict, total=False):
    """The arguments of `SummaryPipeline.load`."""

    model: str | None
    unit: str | None
    units: int | None
    words: int | None
    ratio: float | None
    dependencies: bool | None
    block_trigrams: bool
    layout: str
    tidy: bool
    sentences: str
    parser: str | None
    device: str
    query: str | None


def check_options(
    *,
    model: str | None = None,
    unit: str | None = None,
    units: int | None = None,
    words: int | None = None,
    ratio: float | None = None,
    dependencies: bool | None = None,
    block_trigrams: bool = False,
    layout: str = "skip",
    sentences: str = "model",
    query: str | None = None,
    tidy: bool = False,
    parser: str | None = None,
    **others: object,
) -> Budget | None:
    """Check options as `SummaryPipeline.load` takes them; return the length, if one is given.

    Raises:
        TypeError: Something else than text or a truth value.
        InputError: Options out of range or in conflict.
        WeightsError: No such model, or a model of the other unit.
    """
    _check_types((str, type(None)), model=model, unit=unit, query=query, parser=parser)
    _check_types((bool, type(None)), dependencies=dependencies, block_trigrams=block_trigrams, tidy=tidy)
    budget = Budget(units, words, ratio) if (units, words, ratio) != (None, None, None) else None
    if sentences not in SENTENCES:
        raise InputError(
            f"sentences: expected one of {', '.join(SENTENCES)}, got {sentences!r}{suggestion(sentences, SENTENCES)}"
        )
    if query is not None and not re.search(r"\w", query):
        raise InputError(f"query: expected words that the summary should be about, got {query!r}; leave it out")
    Policy(budget or Budget(1), unit or "sentence", block_trigrams, False, layout)
    # The unit of a model on the hub is known when it is loaded.
    chosen = unit or check_scorer(model) or ("edu" if (model or "").startswith(HUB) else "sentence")
    check_scorer(model, unit)
    Policy(budget or Budget(1), chosen, block_trigrams, bool(dependencies), layout)
    if block_trigrams and model in BASELINES.own and getattr(BASELINES[str(model)], "own_selection", False):
        raise InputError(f"block_trigrams: {model} selects by a rule of its own; leave it out")
    return budget


def _check_types(kinds: tuple[type, ...], **options: object) -> None:
    for name, value in options.items():
        if not isinstance(value, kinds):
            raise TypeError(f"{name}: expected {kinds[0].__name__} or nothing, got {value!r}")


def check_scorer(name: str | None, unit: str | None = None) -> str | None:
    """Return the unit that a trained summarizer scores; none for a baseline, which scores both, and on the hub.

    Of a model on the hub only the name is checked.

    Raises:
        WeightsError: No such model, or a model of the other unit.
    """
    if name is None or name in BASELINES:
        return None
    if name.startswith(HUB):
        # Raises if it is no name of the hub.
        local_only(name)
        return None
    known = shipped(SUMMARIZER_KIND)
    if name not in known and not Path(name).exists():
        raise WeightsError(
            f"{name}: expected a model's folder, a shipped model ({', '.join(known) or 'none installed'}) "
            f"or one of {', '.join(BASELINES)}{suggestion(name, [*known, *BASELINES])}; found no such folder"
        )
    settings = read_config(name, SUMMARIZER_KIND).get("summarizer")
    own = settings.get("unit") if isinstance(settings, dict) else None
    if None not in (unit, own) and unit != own:
        raise WeightsError(
            f"{name}: expected a model that scores {unit} units, got one for --unit {own} (Python: unit={own!r})"
        )
    return own
