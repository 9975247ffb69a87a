"""Extractive summarizers against reference summaries: ROUGE of each, and whether they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discsum.document import Document
from discsum.extract import Scorer, extract
from discsum.oracles import oracle_labels
from discsum.rouge import METRICS, RougeScores, rouge
from discsum.selection import Policy, unit_texts
from discsum.significance import SAMPLES, SEED, bootstrap_interval, paired_bootstrap
from discsum.summarizer import ExtractiveSummarizer
from discsum.summary import Summary
from discsum.training.pairs import Pair

if TYPE_CHECKING:
    from discsum.parsers.parser import Encoded, Parser

ORACLE = "oracle"
BATCH = 8


@dataclass(frozen=True)
class ModelScores:
    """One model's summaries, measured.

    Attributes:
        name: The model's name.
        rouge: ROUGE of every document; the signature has what summaries and figures depend on.
        words: Mean length of the summaries.
    """

    name: str
    rouge: RougeScores
    words: float

    def row(self, against: ModelScores) -> dict[str, Any]:
        """Return means, 95% intervals, and the paired bootstrap against another model, all in percent."""
        result: dict[str, Any] = {"model": self.name, "words": round(self.words, 1)}
        for metric in METRICS:
            values = 100 * self.rouge.metric(metric)
            interval = bootstrap_interval(values)
            result[metric] = {"mean": interval.mean, "low": interval.low, "high": interval.high}
            if against is not self:
                comparison = paired_bootstrap(values, 100 * against.rouge.metric(metric))
                result[metric] |= {"difference": comparison.difference, "p": comparison.p_value}
        return result


def compare_models(
    pairs: Sequence[Pair],
    models: Sequence[tuple[str, Scorer | None]],
    policy: Policy,
    parser: Parser,
    report: Callable[[int], None] = lambda done: None,
) -> list[ModelScores]:
    """Return the scores of each model's summaries of the pairs, each text parsed once for all of them.

    Args:
        pairs: Texts with references; texts without a unit are left out.
        models: Names with scorers; the oracle, which sees the references, has none.
        policy: Unit, length and rules of the summaries.
        parser: Parses the texts; trained models encode them by their own parser if it is another.
        report: Takes the number of documents done.
    """
    summaries: list[list[Summary]] = [[] for _ in models]
    references: list[tuple[str, ...]] = []
    for start in range(0, len(pairs), BATCH):
        block = pairs[start : start + BATCH]
        parsed = parser.encode([pair.text for pair in block], ids=[pair.id for pair in block])
        for pair, encoded in zip(block, parsed, strict=True):
            if not encoded.document.units(policy.unit):
                continue
            references.append(pair.references)
            for found, (name, scorer) in zip(summaries, models, strict=True):
                found.append(_summary(encoded, pair, name, scorer, policy, parser))
        report(min(start + BATCH, len(pairs)))
    made = f"{policy.signature}|parser:{parser.name}@{parser.fingerprint[:8]}|bs:{SAMPLES}|rs:{SEED}"
    results = []
    for found, (name, _) in zip(summaries, models, strict=True):
        scores = rouge(["\n".join(summary.lines) for summary in found], references)
        scores = replace(scores, signature=f"{scores.signature}|{made}")
        results.append(ModelScores(name, scores, float(np.mean([len(summary.text.split()) for summary in found]))))
    return results


def _summary(encoded: Encoded, pair: Pair, name: str, scorer: Scorer | None, policy: Policy, parser: Parser) -> Summary:
    document = encoded.document
    if scorer is None:
        return _oracle_summary(document, pair.references, name, policy)
    scores = None
    if isinstance(scorer, ExtractiveSummarizer) and scorer.parser.fingerprint == parser.fingerprint:
        scores = scorer.scores([encoded])[0]
    return extract(document, scorer, policy, scores=scores)


def _oracle_summary(document: Document, references: Iterable[str], name: str, policy: Policy) -> Summary:
    """Return the greedy oracle's units, at most as many as the policy's if that counts units."""
    labels = oracle_labels("rouge12-f", unit_texts(document, policy.unit), list(references), policy.budget.units)
    return Summary.from_indices(document, policy.unit, name, labels, np.flatnonzero(labels).tolist())
