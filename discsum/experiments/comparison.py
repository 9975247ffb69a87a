"""Compare summarizers: ROUGE, selected units, and significance of the differences."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discsum.data.failures import Failure
from discsum.data.made_folder import is_dataset_folder
from discsum.data.pairs import PairSource
from discsum.data.storage import Location
from discsum.errors import InputError, InputWarning, warn_caller
from discsum.experiments.blocks import Block, DatasetBlocks, TextBlocks, parser_name
from discsum.experiments.systems import System, SystemSummary
from discsum.metrics.rouge import METRICS, RougeScores, rouge
from discsum.metrics.significance import SAMPLES, SEED, bootstrap_interval, paired_bootstrap
from discsum.parsers.parser import Parser
from discsum.selection import Policy

# Opens a progress display, given what happens to documents and their number; returns a function that takes the number
# done.
Counting = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]


@dataclass(frozen=True)
class Selection:
    """A model's summary of a document; `overlap` is the share of its units that the oracle selects too.

    `overlap` is None for a summary without selected units, and for a document without labels.
    """

    id: str
    summary: SystemSummary
    unit_count: int
    overlap: float | None


@dataclass(frozen=True)
class ModelScores:
    """Scores of one model's summaries.

    Attributes:
        rouge: ROUGE of every document; the signature has all settings that it depends on.
        selections: The summary of each document.
        seconds: Time of summarizing, without parsing; None for a table of summaries. It includes encoding only if
            vectors are neither cached nor the parser's.
        parameters: Number of trained parameters, without frozen encoder layers; None for an untrained model.
    """

    name: str
    rouge: RougeScores
    selections: Sequence[Selection]
    seconds: float | None
    parameters: int | None = None

    def row(self, against: Sequence[ModelScores]) -> dict[str, Any]:
        """Return the model's figures.

        These are: ROUGE means with 95% bootstrap intervals in percent and the paired bootstrap against other models;
        words per summary; the mean position of the selected units, from 0 for the first to 1 for the last; the mean
        share of a summary's units that the oracle selects too, over summaries that have units and labels; parameters;
        documents per second.
        """
        result: dict[str, Any] = {"model": self.name}
        for metric in METRICS:
            values = 100 * self.rouge.metric(metric)
            interval = bootstrap_interval(values)
            signature = self.rouge.signature + interval.signature
            found: dict[str, Any] = {"mean": interval.mean, "low": interval.low, "high": interval.high}
            result[metric] = found | {"signature": str(signature), "against": []}
            for other in against:
                if other is not self:
                    paired = paired_bootstrap(values, 100 * other.rouge.metric(metric))
                    entry = {"model": other.name, **paired.to_dict(), "signature": str(paired.signature)}
                    result[metric]["against"].append(entry)
        positions = [
            place / max(1, one.unit_count - 1) for one in self.selections for place in one.summary.selected or ()
        ]
        overlaps = [one.overlap for one in self.selections if one.overlap is not None]
        result["words"] = float(np.mean([one.summary.words for one in self.selections]))
        result["place"] = float(np.mean(positions)) if positions else None
        result["overlap"] = float(np.mean(overlaps)) if overlaps else None
        result["parameters"] = self.parameters
        result["documents_a_second"] = None if self.seconds is None else len(self.selections) / max(self.seconds, 1e-9)
        return result

    def documents(self) -> Iterator[dict[str, Any]]:
        """Yield each document's scores and selected units."""
        for one, values in zip(self.selections, self.rouge.values.tolist(), strict=True):
            scores = dict(zip(METRICS, values, strict=True))
            selected = None if one.summary.selected is None else list(one.summary.selected)
            yield {"id": one.id, "model": self.name, **scores, "selected": selected, "words": one.summary.words}


@dataclass(frozen=True)
class MeasuredRows:
    """Rows `first` to `last`, exclusive, of a table or a dataset folder; only tables have columns to name.

    Unless `texts`, the rows of a table need references only, for summaries that are there already.
    """

    path: Location
    text_column: str | None = None
    summary_column: str | None = None
    first: int = 0
    last: int | None = None
    texts: bool = True


def measure(
    systems: Sequence[System],
    rows: MeasuredRows,
    policy: Policy,
    parser: Callable[[], Parser],
    failed: Callable[[Failure], None],
    counting: Counting,
) -> list[ModelScores]:
    """Return the scores of systems on rows of a table or a dataset folder.

    `parser` returns the parser for a table's texts, and `failed` receives the rows that cannot be read.

    Raises:
        InputError: No documents, or one that a system cannot summarize.
    """
    documents: TextBlocks | DatasetBlocks
    whole = not rows.first and rows.last is None
    if is_dataset_folder(rows.path):
        labelled = any(system.labelled for system in systems)
        documents = DatasetBlocks(rows.path, policy.unit, rows.first, rows.last, labelled=labelled)
    else:
        pairs = []
        source = PairSource(str(rows.path), rows.text_column, rows.summary_column, texts=rows.texts)
        for pair in source.pairs(rows.first, rows.last):
            if isinstance(pair, Failure):
                whole = False
                failed(pair)
            else:
                pairs.append(pair)
        documents = TextBlocks(pairs, parser, policy, parsed=any(system.outputs is None for system in systems))
    if not documents:
        if rows.first or rows.last is not None:
            last = "the last" if rows.last is None else rows.last
            raise InputError(f"{rows.path}: expected rows between {rows.first} and {last}, found none")
        raise InputError(f"{rows.path}: expected texts with reference summaries, got none")
    for system in systems:
        if system.outputs is not None:
            system.outputs.check_ids(documents.ids, whole=whole)
        elif system.parser is not None:
            _check_parser(documents, system.name, parser_name(system.parser))
    if any(system.check for system in systems):
        with counting("checked", len(documents)) as show:
            _check(documents, systems, show)
    with counting("evaluated", len(documents)) as show:
        return compare_models(documents, systems, show)


def _check_parser(documents: TextBlocks | DatasetBlocks, system: str, own: str) -> None:
    """Warn if documents are split and parsed by another parser than a system's own."""
    # Names of the same parser may differ: a folder records the name or path that its run was given.
    theirs = documents.parser_name
    if theirs is not None and theirs.rpartition("@")[2] != own.rpartition("@")[2]:
        warn_caller(
            f"{system}: measured on sentences, EDUs and trees of the parser {theirs}, but it was trained with {own}"
        )


def _check(blocks: TextBlocks | DatasetBlocks, systems: Sequence[System], report: Callable[[int], None]) -> None:
    """Raise `InputError` for a document that a system cannot summarize, before any is summarized."""
    checks, parsed, done = [system.check for system in systems if system.check is not None], [], 0
    for block in blocks:
        for check in checks:
            check([item.document for item in block.documents])
        if isinstance(blocks, TextBlocks):
            parsed.append(block)
        done += len(block.documents)
        report(done)
    if isinstance(blocks, TextBlocks):
        blocks.keep(parsed)


def compare_models(
    blocks: TextBlocks | DatasetBlocks,
    systems: Sequence[System],
    report: Callable[[int], None] = lambda done: None,
) -> list[ModelScores]:
    """Return the scores of each system's summaries of the same documents.

    `report` receives the number of finished documents.
    """
    selections: list[list[Selection]] = [[] for _ in systems]
    seconds = [0.0] * len(systems)
    references: list[tuple[str, ...]] = []
    done = 0
    for block in blocks:
        if not done:
            _warm_up(systems, block)
        references += block.references
        for place, system in enumerate(systems):
            started = time.perf_counter()
            summaries = system.summaries(block)
            seconds[place] += time.perf_counter() - started
            for item, summary, labels in zip(block.documents, summaries, block.labels, strict=True):
                overlap = float(np.mean(labels[list(summary.selected)])) if summary.selected and len(labels) else None
                units = len(item.document.units(blocks.unit))
                selections[place].append(Selection(item.document.id, summary, units, overlap))
        done += len(block.documents)
        report(done)
    results = []
    for system, found, own in zip(systems, selections, seconds, strict=True):
        taken = own if system.outputs is None else None
        scores = rouge([one.summary.lines for one in found], references)
        signature = scores.signature + system.signature
        if system.outputs is None:
            signature += blocks.signature
        signature = signature.with_(bs=SAMPLES, rs=SEED)
        results.append(ModelScores(system.name, replace(scores, signature=signature), found, taken, system.parameters))
    return results


def _warm_up(systems: Sequence[System], block: Block) -> None:
    """Let each system summarize a document, without warnings, so that loading does not count as its time."""
    # A copy, whose vectors are not kept.
    first = replace(block.documents[0], vectors=dict(block.documents[0].vectors))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        for system in systems:
            system.summaries(Block([first], block.references[:1], block.labels[:1]))
