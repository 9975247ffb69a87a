"""Systems to compare: a unit scorer with its policy, the oracle, an abstractive model, or a table of summaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discsum.abstractive.folder import is_sequence_to_sequence
from discsum.abstractive.generation import Generation
from discsum.constants import ORACLE, SHIPPED_PARSER
from discsum.data.summaries import SummaryTable, is_summaries
from discsum.document import Document
from discsum.experiments.blocks import Block, parser_name
from discsum.parsers.loading import load_parser
from discsum.parsers.parser import Parser
from discsum.parsers.parsing import split_lines
from discsum.scoring import UnitScorer, extract
from discsum.selection import Policy
from discsum.signature import Signature
from discsum.summarizer.loading import load_scorer
from discsum.summary import Summary
from discsum.writing import count_words

if TYPE_CHECKING:
    from discsum.abstractive.summarizer import AbstractiveSummarizer


@dataclass(frozen=True)
class SystemSummary:
    """A system's summary of a document.

    Attributes:
        lines: The summary with one sentence per line, for ROUGE-Lsum.
        words: Number of words.
        selected: Indices of the selected units; None for an abstractive summary.
        read_whole: Whether a model that selects sentences read all instead, see `AbstractiveSummary.is_whole`.
    """

    lines: str
    words: int
    selected: tuple[int, ...] | None
    read_whole: bool = False

    @classmethod
    def of(cls, summary: Summary) -> SystemSummary:
        """Convert an extractive summary."""
        selected = tuple(unit.index for unit in summary.selected)
        return cls("\n".join(summary.lines), count_words(summary.text), selected)


@dataclass(frozen=True)
class System:
    """A named system that summarizes documents.

    Attributes:
        signature: The settings that scores depend on.
        summaries: Returns the summaries of a block.
        parameters: Number of trained parameters, without frozen encoder layers; None for an untrained system.
        check: Raises `InputError` for documents that the system cannot summarize; None if it can summarize all.
        default_units: Its own default length in units; None for the oracle and for abstractive systems.
        labelled: Whether its summaries are the documents' oracle labels, so that it needs them.
        outputs: The summaries that another program wrote; None for systems that summarize when they are measured.
        parser: The parser whose vectors it reads; None if it reads none.
    """

    name: str
    signature: Signature
    summaries: Callable[[Block], list[SystemSummary]]
    parameters: int | None = None
    check: Callable[[Sequence[Document]], object] | None = None
    default_units: int | None = None
    labelled: bool = False
    outputs: SummaryTable | None = None
    parser: Parser | None = None


def extractive_system(name: str, scorer: UnitScorer, policy: Policy) -> System:
    """Return a baseline or trained extractive model as a system; the scorer fills in what the policy leaves open."""
    policy = scorer.complete(policy)

    def summaries(block: Block) -> list[SystemSummary]:
        scores = scorer.scores(block.documents, policy.unit)
        return [
            SystemSummary.of(extract(item.document, scorer, policy, scores=values))
            for item, values in zip(block.documents, scores, strict=True)
        ]

    count, signature = scorer.parameter_count(), policy.signature.with_(**scorer.settings)
    return System(
        name,
        signature,
        summaries,
        None if count is None else count.whole,
        default_units=scorer.default_units(policy.unit),
        parser=scorer.parser,
    )


def oracle_system(unit: str) -> System:
    """Return the oracle, which selects the units with label 1; the documents' signature has the oracle's limit."""

    def summaries(block: Block) -> list[SystemSummary]:
        found = []
        for item, labels in zip(block.documents, block.labels, strict=True):
            chosen = np.flatnonzero(labels).tolist()
            found.append(SystemSummary.of(Summary.from_indices(item.document, unit, ORACLE, labels, chosen)))
        return found

    return System(ORACLE, Signature.of(unit=unit, layout="keep"), summaries, labelled=True)


def abstractive_system(
    name: str, summarizer: AbstractiveSummarizer, generation: Generation, parser: Callable[[], Parser]
) -> System:
    """Return a sequence-to-sequence model as a system; the parser splits its summaries into sentences."""

    def summaries(block: Block) -> list[SystemSummary]:
        documents = [item.document for item in block.documents]
        written = list(summarizer.summarize_many(documents, **generation.options))
        lines = split_lines([one.text for one in written], parser())
        return [
            SystemSummary(own, count_words(one.text), None, one.is_whole)
            for own, one in zip(lines, written, strict=True)
        ]

    parameters = sum(parameter.numel() for parameter in summarizer.model.parameters())
    settings = summarizer.family.settings() | {"summary_sentences": parser_name(parser())}
    signature = generation.signature.with_(**settings)
    check = partial(summarizer.lengths, **generation.options)
    return System(name, signature, summaries, parameters, check)


def output_system(name: str, parser: Callable[[], Parser]) -> System:
    """Return the summaries of another program, in a `SummaryTable`, as a system.

    The parser splits those with a single line into sentences. Raises the errors of `SummaryTable.read`.
    """
    table = SummaryTable.read(Path(name))

    def summaries(block: Block) -> list[SystemSummary]:
        names = [item.document.id for item in block.documents]
        lines = {name: table.texts[name] for name in names}
        if whole := [name for name in names if name in table.whole]:
            lines |= zip(whole, split_lines([lines[name] for name in whole], parser()), strict=True)
        return [SystemSummary(lines[name], count_words(table.texts[name]), None) for name in names]

    settings = {"summary_sentences": parser_name(parser())} if table.whole else {}
    signature = Signature.of(summaries=table.digest[:8], **settings)
    return System(name, signature, summaries, outputs=table)


def load_systems(
    names: Sequence[str],
    policy: Policy,
    parser: str | None = None,
    generation: Generation | None = None,
    selector: str | None = None,
    r: int | None = None,
    device: str = "cpu",
) -> tuple[list[System], Callable[[], Parser]]:
    """Return systems by name, and a function that returns the parser to measure them with.

    Args:
        names: `oracle`, names for `load_scorer`, folders or `hf:NAME` of sequence-to-sequence models, or tables of
            summaries.
        policy: Policy of extractive summaries.
        parser: Name or folder of the parser. By default it is that of the trained models, or the shipped one if there
            are none or they have different ones.
        generation: Settings of the search for abstractive summaries.
        selector: Sentence selector of sparse abstractive models; by default as in training.
        r: Number of sentences that it selects at each step; by default as in training.
        device: Device of the systems and the parser.

    Raises:
        WeightsError: No such parser or model, or an extractive model that scores the other unit.
    """
    own: dict[str, Parser] = {}

    def shared() -> Parser:
        if parser is None and len(own) == 1:
            return next(iter(own.values()))
        return load_parser(parser or SHIPPED_PARSER, device)

    def load(name: str) -> System:
        if name == ORACLE:
            return oracle_system(policy.unit)
        if is_summaries(name):
            return output_system(name, shared)
        if is_sequence_to_sequence(name):
            from discsum.abstractive.summarizer import AbstractiveSummarizer

            given = {"selector": selector, "r": r}
            options: dict[str, Any] = {option: value for option, value in given.items() if value is not None}
            summarizer = AbstractiveSummarizer.from_pretrained(name, device=device, **options)
            return abstractive_system(name, summarizer, generation or Generation(), shared)
        return extractive_system(name, load_scorer(name, policy.unit, device), policy)

    systems: dict[str, System] = {}
    # Trained models first: the others use their parser to split summaries.
    for name in sorted(names, key=lambda name: is_summaries(name) or is_sequence_to_sequence(name)):
        systems[name] = load(name)
        if (its := systems[name].parser) is not None:
            own[its.fingerprint] = its
    return [systems[name] for name in names], shared
