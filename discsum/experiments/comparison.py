"""Comparison of summarizers: ROUGE, selected units, and significance of differences."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discsum.batches import batches
from discsum.data.pairs import Pair
from discsum.experiments.systems import Block, System, SystemSummary
from discsum.metrics.rouge import METRICS, RougeScores, rouge
from discsum.metrics.significance import SAMPLES, SEED, bootstrap_interval, paired_bootstrap
from discsum.oracles import oracle_labels
from discsum.parsers.parsing import ensure_parsed
from discsum.selection import Policy, unit_texts
from discsum.signature import Signature

if TYPE_CHECKING:
    from discsum.parsers.parser import Parser

BATCH = 8


@dataclass(frozen=True)
class Selection:
    """Statistics of a model's summary of a document.

    Attributes:
        indices: The selected units; none for abstractive summaries.
        unit_count: Number of units of the document.
        overlap: Share of the selected units that the oracle selects too; none for abstractive summaries.
    """

    id: str
    indices: tuple[int, ...] | None
    unit_count: int
    words: int
    overlap: float | None

    @classmethod
    def of(cls, id: str, summary: SystemSummary, labels: NDArray[np.int8]) -> Selection:
        """Return the statistics of a summary; `labels` `(units,)` are those of the oracle."""
        indices, overlap = summary.selected, None
        if indices is not None:
            overlap = float(np.mean(labels[list(indices)])) if indices else 0.0
        return cls(id, indices, len(labels), summary.words, overlap)


@dataclass(frozen=True)
class ModelScores:
    """Scores of one model's summaries.

    Attributes:
        rouge: ROUGE of every document, with the settings that it depends on in the signature.
        selections: Statistics of each document's summary.
        seconds: Time of summarizing, without parsing, and without encoding where vectors are cached or in a dataset
            folder.
        parameters: Parameters of a trained model, without the encoder of its unit vectors.
    """

    name: str
    rouge: RougeScores
    selections: Sequence[Selection]
    seconds: float
    parameters: int | None = None

    def row(self, against: Sequence[ModelScores]) -> dict[str, Any]:
        """Return the model's figures.

        ROUGE means and 95% bootstrap intervals in percent, with the paired bootstrap against other models; words per
        summary; the mean position of a selected unit, from 0 for the first to 1 for the last, and the share of
        selected units that the oracle selects too, none without selected units; parameters; documents per second.
        """
        result: dict[str, Any] = {"model": self.name}
        for metric in METRICS:
            values = 100 * self.rouge.metric(metric)
            interval = bootstrap_interval(values)
            found: dict[str, Any] = {"mean": interval.mean, "low": interval.low, "high": interval.high}
            found["signature"] = str(self.rouge.signature.with_(ci=0.95, docs=len(values)))
            found["against"] = [
                {
                    "model": other.name,
                    "difference": paired.difference,
                    "p": paired.p_value,
                    "signature": str(paired.signature),
                }
                for other in against
                if other is not self
                for paired in [paired_bootstrap(values, 100 * other.rouge.metric(metric))]
            ]
            result[metric] = found
        positions = [place / max(1, one.unit_count - 1) for one in self.selections for place in one.indices or ()]
        overlaps = [one.overlap for one in self.selections if one.overlap is not None]
        result["words"] = float(np.mean([one.words for one in self.selections]))
        result["place"] = float(np.mean(positions)) if positions else None
        result["overlap"] = float(np.mean(overlaps)) if overlaps else None
        result["parameters"] = self.parameters
        result["documents_a_second"] = len(self.selections) / max(self.seconds, 1e-9)
        return result

    def documents(self) -> Iterator[dict[str, Any]]:
        """Yield each document's scores and selected units."""
        for one, values in zip(self.selections, self.rouge.values.tolist(), strict=True):
            scores = dict(zip(METRICS, values, strict=True))
            selected = None if one.indices is None else list(one.indices)
            yield {"id": one.id, "model": self.name, **scores, "selected": selected, "words": one.words}


@dataclass
class _Tally:
    """Summaries of one system so far."""

    lines: list[str] = field(default_factory=list)
    selections: list[Selection] = field(default_factory=list)
    seconds: float = 0.0


def compare_models(blocks: Iterable[Block], systems: Sequence[System], unit: str, made: Signature) -> list[ModelScores]:
    """Return the scores of each system's summaries of the same documents.

    Args:
        blocks: Parsed documents; those without a unit are left out.
        systems: The summarizers.
        unit: Unit of the oracle's labels.
        made: Signature of the documents: parser and oracle.
    """
    tallies = [_Tally() for _ in systems]
    references: list[tuple[str, ...]] = []
    for block in (block.with_units(unit) for block in blocks):
        references += block.references
        for tally, system in zip(tallies, systems, strict=True):
            started = time.perf_counter()
            summaries = system.summaries(block)
            tally.seconds += time.perf_counter() - started
            tally.lines += [summary.lines for summary in summaries]
            tally.selections += [
                Selection.of(item.document.id, summary, labels)
                for item, summary, labels in zip(block.documents, summaries, block.labels, strict=True)
            ]
    results = []
    for tally, system in zip(tallies, systems, strict=True):
        scores = rouge(tally.lines, references)
        whole = (scores.signature + system.signature + made).with_(bs=SAMPLES, rs=SEED)
        scores = replace(scores, signature=whole)
        results.append(ModelScores(system.name, scores, tally.selections, tally.seconds, system.parameters))
    return results


def text_blocks(
    pairs: Iterable[Pair], parser: Parser, policy: Policy, report: Callable[[int], None] = lambda done: None
) -> Iterator[Block]:
    """Yield the pairs parsed, once for all models, with labels of the oracle `rouge12-f`.

    Args:
        pairs: Texts with references.
        parser: Parses and encodes the texts; trained models encode them by their own parser if it is another.
        policy: Unit of the labels, and their maximum number if the budget counts units.
        report: Receives the number of documents done.
    """
    done = 0
    for block in batches(pairs, BATCH):
        documents = ensure_parsed(block, lambda: parser, vectors=True)
        labels = [
            oracle_labels("rouge12-f", unit_texts(item.document, policy.unit), pair.references, policy.budget.units)
            for item, pair in zip(documents, block, strict=True)
        ]
        yield Block(documents, [pair.references for pair in block], labels)
        done += len(block)
        report(done)


def text_signature(parser: Parser) -> Signature:
    """Return the signature of `text_blocks`: parser and oracle."""
    named = f"{parser.name}@{parser.fingerprint[:8]}"
    return Signature.of(parser=named, oracle="rouge12-f", oracle_units="as-summaries")
