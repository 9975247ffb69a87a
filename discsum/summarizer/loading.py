"""Unit scorers by name: baselines, and summarizers that are shipped, in folders or on the hub."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from discsum.baselines import BASELINES, baseline
from discsum.constants import HUB
from discsum.errors import WeightsError
from discsum.persistence import shipped
from discsum.registry import suggestion
from discsum.scoring import UnitScorer
from discsum.summarizer.extractive import ExtractiveSummarizer


def load_scorer(name: str | None, unit: str | None = None, device: str = "cpu") -> UnitScorer:
    """Return a baseline, or a summarizer: shipped, in a folder, or `hf:NAME` on the Hugging Face hub.

    Args:
        name: By default the shipped summarizer for the unit.
        unit: `sentence` or `edu`; by default the unit that the model scores.
        device: Device of a trained model.

    Raises:
        WeightsError: No such model, or a model of the other unit.
    """
    if name is not None and name in BASELINES:
        return baseline(name)
    if name is not None and name not in shipped() and not name.startswith(HUB) and not Path(name).exists():
        raise WeightsError(
            f"{name}: expected a model's folder, a shipped model ({', '.join(shipped()) or 'none installed'}) "
            f"or one of {', '.join(BASELINES)}{suggestion(name, [*shipped(), *BASELINES])}; found no such folder"
        )
    model = ExtractiveSummarizer.from_pretrained(name, unit=unit or "sentence", device=device)
    if unit is not None and model.unit != unit:
        raise WeightsError(f"{name}: expected a model that scores {unit} units, got one for --unit {model.unit}")
    return model


@cache
def shipped_summarizer(unit: str) -> ExtractiveSummarizer:
    """Return the shipped summarizer of a unit, loaded once; both share the cached parser.

    Raises:
        InputError: Another unit than `sentence` or `edu`.
    """
    return ExtractiveSummarizer.from_pretrained(unit=unit)
