"""Models by name, loaded once a command."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from discsum.constants import HUB
from discsum.errors import WeightsError

if TYPE_CHECKING:
    from discsum.parsers.parser import Parser
    from discsum.scoring import Scorer


@cache
def load_parser(name: str) -> Parser:
    """Return a shipped parser, or the one in a folder."""
    from discsum.parsers.parser import Parser

    return Parser.from_pretrained(name)


@cache
def load_scorer(name: str | None, unit: str | None) -> Scorer:
    """Return a baseline, a shipped summarizer, the one in a folder, or `hf:NAME` from the Hugging Face hub.

    Args:
        name: By default the shipped summarizer for the unit.
        unit: `sentence` or `edu`; by default the one that the model was trained on, sentences for the others.

    Raises:
        WeightsError: No such model, or a model that was trained on the other unit.
    """
    from discsum.baselines import BASELINES, baseline

    if name in BASELINES:
        return baseline(name)
    from discsum.persistence import shipped
    from discsum.summarizer.extractive import ExtractiveSummarizer

    if name is not None and name not in shipped() and not name.startswith(HUB) and not Path(name).exists():
        raise WeightsError(
            f"{name}: expected a model's folder, a shipped model ({', '.join(shipped()) or 'none installed'}) "
            f"or one of {', '.join(BASELINES)}; found no such folder"
        )
    model = ExtractiveSummarizer.from_pretrained(name, unit=unit or "sentence")
    if unit is not None and model.config.unit != unit:
        raise WeightsError(f"{name}: expected a model that scores {unit} units, got one for --unit {model.config.unit}")
    return model
