"""Load unit scorers by name (baselines; summarizers that are shipped, in folders or on the hub) and their pipelines."""

from __future__ import annotations

from functools import lru_cache

from discsum.baselines import baseline
from discsum.constants import SUMMARIZER_KIND
from discsum.files import sha256
from discsum.parsers.loading import MOST, loading_lock
from discsum.persistence import CONFIG, locate
from discsum.scoring import UnitScorer
from discsum.summarizer.extractive import ExtractiveSummarizer
from discsum.summarizer.options import SHIPPED, SummaryOptions, check_scorer, check_unit, is_baseline
from discsum.summarizer.pipeline import SummaryPipeline


def load_scorer(
    name: str | UnitScorer | None, unit: str | None = None, device: str = "cpu", precision: str = "fp32"
) -> UnitScorer:
    """Return a baseline, or a summarizer: shipped, in a folder, or `hf:NAME` on the Hugging Face hub.

    Args:
        name: Its name, or the loaded scorer itself. By default the shipped summarizer for the unit.
        unit: `sentence` or `edu`; by default the unit that the model scores.
        device: Device of a trained model.
        precision: Numeric precision of its parser's encoder.

    Raises:
        WeightsError: No such model, or a model that scores the other unit.
    """
    check_scorer(name, unit)
    if name is not None and not isinstance(name, str):
        return name
    if is_baseline(name):
        return baseline(str(name))
    folder = locate(name if name is not None else SHIPPED[unit or "sentence"], SUMMARIZER_KIND).resolve()
    with loading_lock():
        model = _loaded(str(folder), sha256(folder / CONFIG), device, precision)
    check_unit(name, model.unit, unit)
    return model


def load_pipeline(options: SummaryOptions) -> SummaryPipeline:
    """Return the pipeline for these options; loaded models are cached.

    Raises:
        InputError: A parser other than the model's own, or options that do not fit the unit of a model from the hub.
        WeightsError: No such model or parser.
    """
    scorer = load_scorer(options.model, options.unit, options.device, options.precision)
    return SummaryPipeline.of(scorer, options)


@lru_cache(maxsize=MOST)
def _loaded(folder: str, digest: str, device: str, precision: str) -> ExtractiveSummarizer:
    return ExtractiveSummarizer.from_pretrained(folder, device=device, precision=precision)
