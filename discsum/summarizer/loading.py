"""Unit scorers by name: baselines, and summarizers that are shipped, in folders or on the hub."""

from __future__ import annotations

from functools import lru_cache

from discsum.baselines import BASELINES, baseline
from discsum.constants import HUB
from discsum.files import sha256
from discsum.parsers.loading import MOST
from discsum.persistence import CONFIG, locate
from discsum.scoring import UnitScorer
from discsum.summarizer.extractive import ExtractiveSummarizer
from discsum.summarizer.options import SHIPPED, check_scorer, check_unit


def load_scorer(name: str | None, unit: str | None = None, device: str = "cpu", precision: str = "fp32") -> UnitScorer:
    """Return a baseline, or a summarizer: shipped, in a folder, or `hf:NAME` on the Hugging Face hub.

    Args:
        name: By default the shipped summarizer for the unit.
        unit: `sentence` or `edu`; by default the unit that the model scores.
        device: Device of a trained model.
        precision: Of its parser's encoder.

    Raises:
        WeightsError: No such model, or a model of the other unit.
    """
    if name is not None and name in BASELINES:
        return baseline(name)
    check_scorer(name, unit)
    if name is not None and name.startswith(HUB):
        model = ExtractiveSummarizer.from_pretrained(name, device=device, precision=precision)
    else:
        folder = locate(name if name is not None else SHIPPED[unit or "sentence"]).resolve()
        model = _loaded(str(folder), sha256(folder / CONFIG), device, precision)
    check_unit(name, model.unit, unit)
    return model


@lru_cache(maxsize=MOST)
def _loaded(folder: str, fingerprint: str, device: str, precision: str) -> ExtractiveSummarizer:
    return ExtractiveSummarizer.from_pretrained(folder, device=device, precision=precision)
