"""Systems to compare: a unit scorer with its policy, the oracle, or an abstractive model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discsum.abstractive.folder import is_sequence_to_sequence
from discsum.abstractive.generation import Generation
from discsum.parsers.parsing import split_lines
from discsum.scoring import ParsedDocument, UnitScorer, extract
from discsum.selection import Policy
from discsum.signature import Signature
from discsum.summarizer.loading import load_scorer
from discsum.summary import Summary

if TYPE_CHECKING:
    from discsum.abstractive.summarizer import AbstractiveSummarizer
    from discsum.parsers.parser import Parser

ORACLE = "oracle"


@dataclass(frozen=True)
class Block:
    """Parsed documents with their references and oracle labels `(units,)`."""

    documents: Sequence[ParsedDocument]
    references: Sequence[tuple[str, ...]]
    labels: Sequence[NDArray[np.int8]]

    def with_units(self, unit: str) -> Block:
        """Return the documents with at least one unit."""
        kept = [index for index, item in enumerate(self.documents) if item.document.units(unit)]
        return Block(
            [self.documents[index] for index in kept],
            [self.references[index] for index in kept],
            [self.labels[index] for index in kept],
        )


@dataclass(frozen=True)
class SystemSummary:
    """A system's summary of a document.

    Attributes:
        lines: The summary with one sentence per line, for ROUGE-Lsum.
        selected: The selected units; none for an abstractive summary.
    """

    lines: str
    words: int
    selected: tuple[int, ...] | None

    @classmethod
    def of(cls, summary: Summary) -> SystemSummary:
        """Return an extractive summary."""
        selected = tuple(unit.index for unit in summary.selected)
        return cls("\n".join(summary.lines), len(summary.text.split()), selected)


class System(ABC):
    """Summarizes documents under a name."""

    name: str

    @property
    @abstractmethod
    def signature(self) -> Signature:
        """Settings that scores depend on."""

    @property
    def parameters(self) -> int | None:
        """Number of trained parameters, without the encoder of unit vectors; none for an untrained system."""
        return None

    @abstractmethod
    def summaries(self, block: Block) -> list[SystemSummary]:
        """Return the summaries of documents with units."""


@dataclass(frozen=True)
class ExtractiveSystem(System):
    """A baseline or a trained extractive model with the policy of its summaries."""

    name: str
    scorer: UnitScorer
    policy: Policy

    @property
    def signature(self) -> Signature:
        """Signature of the policy."""
        return self.policy.signature

    @property
    def parameters(self) -> int | None:
        """Parameters of the scorer."""
        count = self.scorer.parameter_count()
        return None if count is None else count.whole

    def summaries(self, block: Block) -> list[SystemSummary]:
        """Return the summaries of documents, scored together."""
        scores = self.scorer.scores(block.documents, self.policy.unit)
        return [
            SystemSummary.of(extract(item.document, self.scorer, self.policy, scores=values))
            for item, values in zip(block.documents, scores, strict=True)
        ]


@dataclass(frozen=True)
class OracleSystem(System):
    """The oracle: selects the labelled units."""

    policy: Policy
    name: str = ORACLE

    @property
    def signature(self) -> Signature:
        """Signature of the policy."""
        return self.policy.signature

    def summaries(self, block: Block) -> list[SystemSummary]:
        """Return the summaries of labelled units."""
        return [
            SystemSummary.of(
                Summary.from_indices(
                    item.document, self.policy.unit, self.name, labels, np.flatnonzero(labels).tolist()
                )
            )
            for item, labels in zip(block.documents, block.labels, strict=True)
        ]


@dataclass(frozen=True)
class AbstractiveSystem(System):
    """A sequence-to-sequence model with its generation settings; the parser splits its summaries into sentences."""

    name: str
    summarizer: AbstractiveSummarizer
    generation: Generation
    parser: Callable[[], Parser]

    @property
    def signature(self) -> Signature:
        """Settings of generation and of the selector."""
        selector = self.summarizer.selector
        settings = {"selector": selector.selector} | ({} if selector.r is None else {"r": selector.r})
        return self.generation.signature.with_(**settings)

    @property
    def parameters(self) -> int:
        """Parameters of the model."""
        return sum(parameter.numel() for parameter in self.summarizer.model.parameters())

    def summaries(self, block: Block) -> list[SystemSummary]:
        """Return the summaries of documents, generated together."""
        documents = [item.document for item in block.documents]
        written = [one.text for one in self.summarizer.summarize(documents, **self.generation.options)]
        lines = split_lines(written, self.parser())
        return [SystemSummary(own, len(text.split()), None) for own, text in zip(lines, written, strict=True)]


def load_system(
    name: str,
    policy: Policy,
    parser: Callable[[], Parser],
    generation: Generation | None = None,
    selector: str | None = None,
    r: int | None = None,
) -> System:
    """Return the system of a name: `oracle`, a baseline, an extractive or an abstractive model.

    Args:
        name: As `load_scorer` takes it, or the folder of a sequence-to-sequence model, or `hf:NAME` of one.
        policy: Unit, length and rules of extractive summaries.
        parser: Returns the parser that splits abstractive summaries into sentences.
        generation: Generation settings of an abstractive model.
        selector: Sentence selector of an abstractive model; by default as in training.
        r: Sentences that it selects at each step.

    Raises:
        WeightsError: No such model, or an extractive one of the other unit.
    """
    if name == ORACLE:
        return OracleSystem(policy)
    if is_sequence_to_sequence(name):
        from discsum.abstractive.summarizer import AbstractiveSummarizer

        summarizer = AbstractiveSummarizer.from_pretrained(name, selector=selector, r=r)
        return AbstractiveSystem(name, summarizer, generation or Generation(), parser)
    return ExtractiveSystem(name, load_scorer(name, policy.unit), policy)
