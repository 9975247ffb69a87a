"""Extractive summarizers against reference summaries: ROUGE of each, what they select, and whether they differ."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discsum.batches import batches
from discsum.data.pairs import Pair, encode_pairs
from discsum.document import Document
from discsum.metrics.rouge import METRICS, RougeScores, rouge
from discsum.metrics.significance import SAMPLES, SEED, bootstrap_interval, paired_bootstrap
from discsum.oracles import oracle_labels
from discsum.scoring import Scorer, extract
from discsum.selection import Policy, unit_texts
from discsum.signature import Signature
from discsum.summarizer.extractive import ExtractiveSummarizer
from discsum.summary import Summary

if TYPE_CHECKING:
    from discsum.parsers.parser import Parser

ORACLE = "oracle"
BATCH = 8
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Block:
    """Some parsed documents with references.

    Attributes:
        documents: The documents.
        references: Each one's reference summaries.
        labels: `(units,)` of each, 1 for the units of the oracle.
        scores: From a trained model to its confidences `(units,)` of each document.
    """

    documents: Sequence[Document]
    references: Sequence[tuple[str, ...]]
    labels: Sequence[NDArray[np.int8]]
    scores: Callable[[ExtractiveSummarizer], Sequence[Scores]]


@dataclass(frozen=True)
class Selection:
    """What a model selected from a document.

    Attributes:
        id: The document's name.
        indices: The units of the summary.
        units: How many units the document has.
        words: Words of the summary.
        overlap: Share of the selected units that the oracle selects too.
    """

    id: str
    indices: tuple[int, ...]
    units: int
    words: int
    overlap: float


@dataclass(frozen=True)
class ModelScores:
    """One model's summaries, measured.

    Attributes:
        name: The model's name.
        rouge: ROUGE of every document; the signature has what summaries and figures depend on.
        selections: What it selected, document by document.
        seconds: Time that scoring and selecting took. Parsing is shared and no part of it, nor is encoding where
            vectors are at hand: from the shared parser's encoding, or in a dataset folder.
        parameters: Parameters of a trained model, its encoder left out.
    """

    name: str
    rouge: RougeScores
    selections: Sequence[Selection]
    seconds: float
    parameters: int | None = None

    def row(self, against: Sequence[ModelScores]) -> dict[str, Any]:
        """Return the model's figures.

        ROUGE means and 95% bootstrap intervals in percent, with the paired bootstrap against other models; words of a
        summary; the mean place of a selected unit, from 0 for the first to 1 for the last, none where none is; the
        share of selected units that the oracle selects too; parameters; documents a second, as in `seconds`.
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
        places = [place / max(1, one.units - 1) for one in self.selections for place in one.indices]
        result["words"] = float(np.mean([one.words for one in self.selections]))
        result["place"] = float(np.mean(places)) if places else None
        result["overlap"] = float(np.mean([one.overlap for one in self.selections]))
        result["parameters"] = self.parameters
        result["documents_a_second"] = len(self.selections) / max(self.seconds, 1e-9)
        return result

    def documents(self) -> Iterator[dict[str, Any]]:
        """Yield each document's scores and selected units."""
        for one, values in zip(self.selections, self.rouge.values.tolist(), strict=True):
            scores = dict(zip(METRICS, values, strict=True))
            yield {"id": one.id, "model": self.name, **scores, "selected": list(one.indices), "words": one.words}


@dataclass
class _Tally:
    """What one model made so far."""

    lines: list[str] = field(default_factory=list)
    selections: list[Selection] = field(default_factory=list)
    seconds: float = 0.0


def compare_models(
    blocks: Iterable[Block], models: Sequence[tuple[str, Scorer | None]], policy: Policy, made: Signature
) -> list[ModelScores]:
    """Return the scores of each model's summaries of the same documents.

    Args:
        blocks: Parsed documents; those without a unit are left out.
        models: Names with scorers; the oracle, which sees the references, has none.
        policy: Unit, length and rules of the summaries.
        made: What the documents' parses and the oracle depend on, for the signature.
    """
    tallies = [_Tally() for _ in models]
    references: list[tuple[str, ...]] = []
    for block in blocks:
        kept = [index for index, document in enumerate(block.documents) if document.units(policy.unit)]
        references += [block.references[index] for index in kept]
        for tally, (name, scorer) in zip(tallies, models, strict=True):
            started = time.perf_counter()
            trained = block.scores(scorer) if isinstance(scorer, ExtractiveSummarizer) else None
            for index in kept:
                document, labels = block.documents[index], block.labels[index]
                if scorer is None:
                    chosen = np.flatnonzero(labels).tolist()
                    summary = Summary.from_indices(document, policy.unit, name, labels, chosen)
                else:
                    summary = extract(document, scorer, policy, scores=None if trained is None else trained[index])
                indices = tuple(unit.index for unit in summary.selected)
                overlap = float(np.mean(labels[list(indices)])) if indices else 0.0
                words = len(summary.text.split())
                tally.lines.append("\n".join(summary.lines))
                tally.selections.append(Selection(document.id, indices, len(labels), words, overlap))
            tally.seconds += time.perf_counter() - started
    results = []
    for tally, (name, scorer) in zip(tallies, models, strict=True):
        scores = rouge(tally.lines, references)
        whole = (scores.signature + policy.signature + made).with_(bs=SAMPLES, rs=SEED)
        scores = replace(scores, signature=whole)
        count = scorer.network.parameter_count().whole if isinstance(scorer, ExtractiveSummarizer) else None
        results.append(ModelScores(name, scores, tally.selections, tally.seconds, count))
    return results


def text_blocks(
    pairs: Iterable[Pair], parser: Parser, policy: Policy, report: Callable[[int], None] = lambda done: None
) -> Iterator[Block]:
    """Yield the pairs parsed, each text once for all models, with the labels of the oracle `rouge12-f`.

    Args:
        pairs: Texts with references.
        parser: Parses the texts; trained models encode them by their own parser if it is another.
        policy: Unit, and length of the oracle if it counts units.
        report: Takes the number of documents done.
    """
    done = 0
    for block in batches(pairs, BATCH):
        encoded = encode_pairs(block, parser)
        documents = [item.document for item in encoded]

        def scores(model: ExtractiveSummarizer, encoded: Any = encoded) -> list[Scores]:
            if model.parser.fingerprint == parser.fingerprint:
                return model.scores(encoded)
            return [model.score(item.document, model.config.unit) for item in encoded]

        labels = [
            oracle_labels("rouge12-f", unit_texts(document, policy.unit), pair.references, policy.budget.units)
            for document, pair in zip(documents, block, strict=True)
        ]
        yield Block(documents, [pair.references for pair in block], labels, scores)
        done += len(block)
        report(done)


def text_signature(parser: Parser) -> Signature:
    """Return what figures of `text_blocks` depend on."""
    named = f"{parser.name}@{parser.fingerprint[:8]}"
    return Signature.of(parser=named, oracle="rouge12-f", oracle_units="as-summaries")
