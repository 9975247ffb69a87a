"""What summarizes documents, seen alike: a scorer of units with its policy, the oracle, an abstractive model."""

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
    """Some parsed documents with references.

    Attributes:
        documents: The documents, with the vectors that are known of them.
        references: Each one's reference summaries.
        labels: `(units,)` of each, 1 for the units of the oracle.
    """

    documents: Sequence[ParsedDocument]
    references: Sequence[tuple[str, ...]]
    labels: Sequence[NDArray[np.int8]]

    def with_units(self, unit: str) -> Block:
        """Return the documents that have a unit."""
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
        lines: One sentence a line, as ROUGE-Lsum reads it.
        words: Its words.
        selected: The units that it is made of; none where it has words of its own.
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
    """What summarizes documents.

    Attributes:
        name: Its name in tables.
    """

    name: str

    @property
    @abstractmethod
    def signature(self) -> Signature:
        """Everything that changes a figure."""

    @property
    def parameters(self) -> int | None:
        """Its trained parameters, the encoder of unit vectors left out; none where nothing is trained."""
        return None

    @abstractmethod
    def summaries(self, block: Block) -> list[SystemSummary]:
        """Return the summaries of documents that have units."""


@dataclass(frozen=True)
class ExtractiveSystem(System):
    """A baseline or a trained extractive model with the policy of its summaries."""

    name: str
    scorer: UnitScorer
    policy: Policy

    @property
    def signature(self) -> Signature:
        """The policy's."""
        return self.policy.signature

    @property
    def parameters(self) -> int | None:
        """The scorer's."""
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
    """The oracle, which sees the references; its units follow from the labels of the documents."""

    policy: Policy
    name: str = ORACLE

    @property
    def signature(self) -> Signature:
        """The policy's."""
        return self.policy.signature

    def summaries(self, block: Block) -> list[SystemSummary]:
        """Return the units that the oracle labelled."""
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
    """A sequence-to-sequence model, how it generates, and the parser that finds the sentences of what it wrote."""

    name: str
    summarizer: AbstractiveSummarizer
    generation: Generation
    parser: Callable[[], Parser]

    @property
    def signature(self) -> Signature:
        """How summaries are generated, and from which sentences."""
        chosen = self.summarizer.selector
        read = {"selector": chosen.selector} | ({} if chosen.r is None else {"r": chosen.r})
        return self.generation.signature.with_(**read)

    @property
    def parameters(self) -> int:
        """All of the model's."""
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
        parser: Gives the parser that finds the sentences of abstractive summaries.
        generation: How abstractive summaries are generated.
        selector: Which sentences an abstractive model reads a step; by default as it was trained.
        r: How many of them.

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
