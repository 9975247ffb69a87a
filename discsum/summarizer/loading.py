"""Load unit scorers by name (baselines; summarizers that are shipped, in folders or on the hub) and their pipelines."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from discsum.baselines import baseline
from discsum.constants import HUB, PARSER_KIND, SHIPPED_PARSER
from discsum.errors import InputError, warn_caller
from discsum.files import sha256
from discsum.parsers.loading import MOST, load_parser, loading_lock
from discsum.persistence import CONFIG, fingerprint, locate
from discsum.scoring import UnitScorer
from discsum.summarizer.extractive import ExtractiveSummarizer
from discsum.summarizer.options import SHIPPED, SummaryOptions, check_scorer, check_unit, is_baseline
from discsum.summarizer.pipeline import SummaryPipeline

if TYPE_CHECKING:
    from discsum.parsers.parser import Parser


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
    if name is not None and name.startswith(HUB):
        model = ExtractiveSummarizer.from_pretrained(name, device=device, precision=precision)
    else:
        folder = locate(name if name is not None else SHIPPED[unit or "sentence"]).resolve()
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
    policy = scorer.complete(options.policy(scorer.unit or "sentence", scorer.default_units))
    if options.tidy and policy.unit != "edu":
        warn_caller(f"tidy: expected unit edu, got {policy.unit}; sentences are left as they are")
    parser = _parser(scorer, options)
    return SummaryPipeline(scorer, policy, parser, options.sentences, options.tidy, options.query)


def _parser(scorer: UnitScorer, options: SummaryOptions) -> Callable[[], Parser]:
    """Return a function that returns the parser: the scorer's own if it has one, otherwise the named one."""
    own, name = scorer.parser, options.parser
    if own is None:
        return lambda: load_parser(name or SHIPPED_PARSER, options.device, options.precision)
    if name is not None and fingerprint(name, PARSER_KIND) != own.fingerprint:
        raise InputError(
            f"parser: {scorer.name} reads the vectors of its own parser; leave {name} out, use a "
            f"baseline such as lead, or train a summarizer with parser={name}"
        )
    return lambda: own


@lru_cache(maxsize=MOST)
def _loaded(folder: str, digest: str, device: str, precision: str) -> ExtractiveSummarizer:
    return ExtractiveSummarizer.from_pretrained(folder, device=device, precision=precision)
