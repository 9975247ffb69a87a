"""Options of extractive summaries, checked without loading a model or importing torch."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, TypedDict

from discsum.baselines import BASELINES, baseline
from discsum.constants import HUB, PARSER_KIND, SENTENCES, SUMMARIZER_KIND
from discsum.devices import check_device, check_none_beside, check_precision
from discsum.errors import InputError, WeightsError
from discsum.hub import local_only
from discsum.persistence import OF_HUB, fingerprint, read_config, shipped
from discsum.registry import suggestion
from discsum.selection import Budget, Policy

if TYPE_CHECKING:
    import torch

    from discsum.parsers.parser import Parser
    from discsum.scoring import UnitScorer

SHIPPED = {"sentence": "discsum-news-sentence", "edu": "discsum-news-edu"}


class SelectionArguments(TypedDict, total=False):
    """The fields of `SummaryOptions` that a loaded summarizer leaves open, as keyword arguments for type checkers."""

    units: int | None
    words: int | None
    ratio: float | None
    dependencies: bool | None
    block_trigrams: bool | None
    redundancy: float | None
    brevity: float | None
    layout: str
    tidy: bool
    sentences: str
    query: str | None


class SummaryArguments(SelectionArguments, total=False):
    """The fields of `SummaryOptions` as keyword arguments of `discsum.summarize`, for type checkers.

    A `Path` and a `torch.device` become strings.
    """

    model: str | Path | UnitScorer | None
    unit: str | None
    parser: str | Path | Parser | None
    device: str | torch.device
    precision: str


def check_names(options: Mapping[str, object], arguments: type = SummaryArguments) -> None:
    """Raise `TypeError` for options that are not among the `arguments`."""
    known = [name for name in SummaryOptions.__dataclass_fields__ if name in arguments.__annotations__]
    if unknown := [name for name in options if name not in known]:
        fixed = unknown[0] in SummaryArguments.__annotations__
        near = "; a loaded model has its own" if fixed else suggestion(unknown[0], known)
        raise TypeError(f"expected options among {', '.join(known)}, got {', '.join(unknown)}{near}")


@dataclass(frozen=True)
class SummaryOptions:
    """The options of a summary, checked.

    Attributes:
        model: A shipped model, a folder, `hf:NAME` on the hub, or a baseline such as `lead`; or a loaded model, or any
            other `UnitScorer`. By default the shipped model of the unit.
        unit: `sentence` or `edu`; by default the model's unit.
        units: Maximum number of units; if no length is given, the model's default.
        words: Maximum number of words.
        ratio: Maximum number of words, as a share of the words in the text.
        dependencies: Whether each EDU is selected with the EDUs of its sentence that it depends on; true by default
            for EDUs.
        block_trigrams: Whether units that share a trigram with the summary are skipped; by default the model's setting.
        redundancy: Penalty for repetition, see `Policy`; by default the model's setting.
        brevity: Penalty for length, see `Policy`; by default the model's setting.
        layout: `skip` or `keep` headings, bylines, list fragments and the like.
        tidy: Whether the EDUs of each sentence are capitalised and punctuated.
        sentences: Sentence segmentation: `model`, `nltk`, or `newline`.
        parser: Name or folder of a parser, or a loaded one, for baselines; trained models have their own.
        device: Device of the models: `cpu`, `cuda`, ...; a loaded model or parser has its own.
        precision: Numeric precision of the parser's encoder, see `Parser.from_pretrained`; likewise.
        query: Words, a question or a text that the summary should be about; similar units get higher scores.

    Raises:
        TypeError: A text option that is not a string, or a switch that is not a bool.
        InputError: Options out of range or in conflict.
        WeightsError: No such model, or a model that scores the other unit.
    """

    model: str | UnitScorer | None = None
    unit: str | None = None
    units: int | None = None
    words: int | None = None
    ratio: float | None = None
    dependencies: bool | None = None
    block_trigrams: bool | None = None
    redundancy: float | None = None
    brevity: float | None = None
    layout: str = "skip"
    tidy: bool = False
    sentences: str = "model"
    parser: str | Parser | None = None
    device: str = "cpu"
    precision: str = "fp32"
    query: str | None = None

    def __post_init__(self) -> None:
        """Check the options together, without loading a model."""
        for name in ("model", "parser"):
            if isinstance(value := getattr(self, name), PurePath):
                object.__setattr__(self, name, str(value))
        _check_model(self.model)
        _check_types((str, type(None)), unit=self.unit, query=self.query)
        _check_types(
            (bool, type(None)), dependencies=self.dependencies, block_trigrams=self.block_trigrams, tidy=self.tidy
        )
        object.__setattr__(self, "device", check_device(self.device))
        check_precision(self.precision, self.device)
        if self.sentences not in SENTENCES:
            raise InputError(
                f"sentences: expected one of {', '.join(SENTENCES)}, got {self.sentences!r}"
                f"{suggestion(self.sentences, SENTENCES)}"
            )
        if self.query is not None and not re.search(r"\w", self.query):
            raise InputError(
                f"query: expected words that the summary should be about, got {self.query!r}; leave it out"
            )
        own = check_scorer(self.model)
        # The unit of a model on the hub is only known after loading.
        on_hub = isinstance(self.model, str) and self.model.startswith(HUB)
        policy = self.policy(own or ("edu" if on_hub else "sentence"))
        scorer = None if isinstance(self.model, str) else self.model
        check_unit(str(self.model) if scorer is None else scorer.name, own, self.unit)
        self._check_parser()
        if scorer is not None:
            scorer.complete(policy)
            if scorer.parser is not None:
                check_none_beside(f"model {scorer.name}", self.device, self.precision)
        elif is_baseline(self.model):
            baseline(str(self.model)).complete(policy)

    def _check_parser(self) -> None:
        """Raise `TypeError` or `InputError` unless the parser is a name, loaded on its own device, or None."""
        if self.parser is None or isinstance(self.parser, str):
            return
        from discsum.parsers.parser import Parser

        if not isinstance(self.parser, Parser):
            raise TypeError(f"parser: expected str, a Parser or nothing, got {self.parser!r}")
        check_none_beside(f"parser {self.parser.name}", self.device, self.precision)

    def policy(self, unit: str, default_units: Callable[[str], int] = lambda unit: 1) -> Policy:
        """Return the rules of selection.

        Args:
            unit: The unit, if the options name none.
            default_units: The number of units, if the options have no length.

        Raises:
            InputError: A unit, length or layout out of range, or in conflict.
        """
        chosen, length = self.unit or unit, (self.units, self.words, self.ratio)
        budget = Budget(*length) if length != (None, None, None) else Budget(default_units(chosen))
        dependencies = chosen == "edu" if self.dependencies is None else self.dependencies
        return Policy(budget, chosen, self.block_trigrams, self.redundancy, self.brevity, dependencies, self.layout)


def _check_types(kinds: tuple[type, ...], **options: object) -> None:
    for name, value in options.items():
        if not isinstance(value, kinds):
            raise TypeError(f"{name}: expected {kinds[0].__name__} or nothing, got {value!r}")


def _check_model(model: object) -> None:
    """Raise `TypeError` unless this is the name of a model, a scorer, or None."""
    if model is None or isinstance(model, str):
        return
    from discsum.scoring import UnitScorer

    if not isinstance(model, UnitScorer):
        hint = "; call its method summarize" if hasattr(model, "summarize") else ""
        kind = type(model).__name__
        raise TypeError(f"model: expected str, a discsum.scoring.UnitScorer or nothing, got {kind}{hint}")


def is_baseline(name: object) -> bool:
    """Return whether a model is a baseline, own or of an installed package."""
    # Names of packages take time to find, so names that are known otherwise come first.
    return isinstance(name, str) and name not in shipped() and not name.startswith(HUB) and name in BASELINES


def check_scorer(name: str | UnitScorer | None, unit: str | None = None) -> str | None:
    """Return the unit that a trained summarizer scores, or None if it is open.

    It is open for discsum's own baselines, which score both units, and for a model on the hub, of which only the name
    is checked.

    Raises:
        WeightsError: No such model, or a model that scores the other unit.
    """
    if name is None or name in BASELINES.own:
        return None
    if not isinstance(name, str):
        check_unit(name.name, name.unit, unit)
        return name.unit
    if is_baseline(name):
        scored = baseline(name).unit
        check_unit(name, scored, unit)
        return scored
    if name.startswith(HUB):
        # Raises if the hub has no such model.
        local_only(name)
        return None
    if name in shipped(PARSER_KIND):
        raise WeightsError(
            f"{name}: expected a summarizer, got a parser, which discsum evaluate measures on a treebank"
        )
    known = shipped(SUMMARIZER_KIND)
    if name not in known and not Path(name).exists():
        raise WeightsError(
            f"{name}: expected a model's folder, a shipped model ({', '.join(known) or 'none installed'}) "
            f"or one of {', '.join(BASELINES)}{suggestion(name, [*known, *BASELINES])}; found no such folder; {OF_HUB}"
        )
    settings = read_config(name, SUMMARIZER_KIND).get("summarizer")
    own = settings.get("unit") if isinstance(settings, dict) else None
    check_unit(name, own, unit)
    return own


def check_unit(name: str | None, own: str | None, unit: str | None) -> None:
    """Raise `WeightsError` if a model's `own` unit differs from the requested `unit`; either may be None (unknown)."""
    if None not in (unit, own) and unit != own:
        raise WeightsError(
            f"{name}: expected a model that scores units of the kind {unit}, got one for {own}; add --unit {own} "
            f"(Python: unit={own!r}), or name another model"
        )


def check_parser(name: str, own: str, given: str | Parser) -> None:
    """Raise `InputError` unless a parser is the model's `own`, which is given by its fingerprint."""
    parser = given if isinstance(given, str) else given.name
    found = fingerprint(given, PARSER_KIND) if isinstance(given, str) else given.fingerprint
    if found != own:
        raise InputError(
            f"parser: {name} reads the vectors of its own parser; leave {parser} out, use a baseline such as lead, or "
            f"train a summarizer with parser={parser}"
        )
