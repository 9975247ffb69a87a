"""What a beam search adds to probabilities: penalties of length and coverage, and no trigram twice.

All are `LogitsProcessor`s of the one beam search of transformers. It adds up what they return, so a score that is no
sum over tokens is given as its change at each step.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import LogitsProcessor

from discsum.abstractive.search_settings import check_penalties
from discsum.abstractive.vocabulary import TAGS
from discsum.errors import InputError


@dataclass(frozen=True)
class Penalties:
    """Settings of the search; see `HypothesisScore` and `TrigramBlocker`.

    Attributes:
        length: Exponent of the length penalty; none for the model's own, or beside `coverage` for none at all.
        coverage: Weight of the coverage penalty; none without it.
        block_trigrams: Whether no trigram is written twice.

    Raises:
        InputError: Penalties out of range.
    """

    length: float | None = None
    coverage: float | None = None
    block_trigrams: bool = False

    def __post_init__(self) -> None:
        """Check the penalties."""
        check_penalties(self.length, self.coverage)

    def check(self, model: Any, generation: dict[str, Any]) -> None:
        """Check that a model can search with these penalties, and with options of `generate`.

        Raises:
            InputError: A penalty of hypotheses without several beams, or of coverage without copy attention.
        """
        if self.length is None and self.coverage is None:
            return
        beams = _beams(model, generation)
        if beams < 2 or generation.get("do_sample"):
            raise InputError(
                f"length penalty, coverage penalty (--length-penalty, --coverage-penalty): expected a search of at "
                f"least 2 beams, whose hypotheses they rank, got {beams}"
            )
        # A weight of 0 reads no attention.
        if self.coverage and not hasattr(model, "copying"):
            raise InputError(
                "coverage penalty (--coverage-penalty): expected a model with copy attention, as faster-encoders/... "
                f"train it, got {type(model).__name__}"
            )

    @contextmanager
    def applied(self, model: Any, tokenizer: Any, generation: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the options of `generate` for one search with these penalties beside those of `generation`.

        Raises:
            InputError: As of `check`.
        """
        self.check(model, generation)
        options, processors = dict(generation), list(generation.get("logits_processor") or [])
        if self.block_trigrams:
            processors.append(TrigramBlocker(sentence_ends(tokenizer)))
        if self.length is None and self.coverage is None:
            yield options | ({"logits_processor": processors} if processors else {})
            return
        score = HypothesisScore(self.length or 0.0, self.coverage or 0.0, _beams(model, generation))
        options |= {"logits_processor": [*processors, score], "length_penalty": 0.0}
        if not self.coverage:
            yield options
            return
        from discsum.abstractive.compressed.copying import observing

        with observing(score.observe):
            yield options


def _beams(model: Any, generation: dict[str, Any]) -> int:
    return int(generation.get("num_beams", model.generation_config.num_beams) or 1)


def length_penalty(tokens: int, exponent: float) -> float:
    """Return `lp(Y) = ((5 + |Y|) / 6)^exponent` of a summary of so many tokens (Wu et al. 2016, Eq 14)."""
    return float(((5 + tokens) / 6) ** exponent)


def coverage_penalty(attention: Tensor) -> Tensor:
    """Return `sum_j max(a_j - 1, 0)` `(rows,)` of the attention `(rows, tokens)` that tokens got over all steps.

    Attention to the same words again is what it counts; it is the summary coverage penalty of OpenNMT.
    """
    return (attention - 1).clamp_min(0).sum(dim=-1)


class HypothesisScore(LogitsProcessor):
    """Makes beams rank hypotheses by `s(Y) = log P(Y) / lp(Y) - coverage cp(Y)` (Wu et al. 2016, Eq 14).

    `generate` must divide by no length of its own (`length_penalty=0`). One is for one call of `generate`.
    """

    def __init__(self, length: float, coverage: float, beams: int) -> None:
        """Make one.

        Args:
            length: Exponent of the length penalty.
            coverage: Weight of the coverage penalty.
            beams: Rows of each document.
        """
        self.length, self.coverage, self.beams = length, coverage, beams
        self._attention: Tensor | None = None
        # Of the step before: the row of each prefix, and what its continuations add.
        self._rows: dict[tuple[int, ...], int] = {}
        self._changes: Tensor | None = None
        self._sums: Tensor | None = None
        self._covered: Tensor | None = None
        self._prompt = 0

    def observe(self, attention: Tensor) -> None:
        """Receive the attention `(rows, tokens)` of a step's rows to their texts."""
        self._attention = attention

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Return `(rows, vocabulary)`: how much each token changes the score of its row."""
        sums, covered, before = self._continued(input_ids, scores)
        tokens = input_ids.shape[1] - self._prompt + 1
        # (rows, vocabulary): the score of each hypothesis that is one token longer.
        after = (sums[:, None] + scores) / length_penalty(tokens, self.length)
        if self._attention is not None:
            covered = self._attention if covered is None else covered + self._attention
            after = after - self.coverage * coverage_penalty(covered)[:, None]
        self._rows = {self._name(row, ids): row for row, ids in enumerate(input_ids.tolist())}
        self._sums, self._changes, self._covered = sums, scores, covered
        return after - before[:, None]

    def _continued(self, input_ids: Tensor, scores: Tensor) -> tuple[Tensor, Tensor | None, Tensor]:
        """Return of each row its sum of log probabilities, its attention, and the score of its prefix `(rows,)`."""
        if self._sums is None or self._changes is None:
            self._prompt = input_ids.shape[1]
            return scores.new_zeros(len(scores)), None, scores.new_zeros(len(scores))
        # Beams were reordered: each row continues the row whose prefix it has. Rows of one prefix are the same.
        parents = [self._rows[self._name(row, ids[:-1])] for row, ids in enumerate(input_ids.tolist())]
        rows = torch.tensor(parents, device=scores.device)
        sums = self._sums[rows] + self._changes[rows, input_ids[:, -1]]
        covered = None if self._covered is None else self._covered[rows]
        before = sums / length_penalty(input_ids.shape[1] - self._prompt, self.length)
        if covered is not None:
            before = before - self.coverage * coverage_penalty(covered)
        return sums, covered, before

    def _name(self, row: int, ids: list[int]) -> tuple[int, ...]:
        """Return the name of a row's prefix among all documents."""
        return row // self.beams, *ids


class TrigramBlocker(LogitsProcessor):
    """Forbids the last token of a trigram that was written before, unless one of its tokens is `ignored`."""

    def __init__(self, ignored: frozenset[int] = frozenset()) -> None:
        """Make one that lets trigrams with `ignored` tokens pass, as full stops."""
        self.ignored = ignored

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Return `(rows, vocabulary)` scores, minus infinity for forbidden tokens."""
        scores = scores.clone()
        for row, ids in enumerate(input_ids.tolist()):
            last = tuple(ids[-2:])
            if len(last) == 2 and not self.ignored.intersection(last):
                seen = {third for *pair, third in zip(ids, ids[1:], ids[2:], strict=False) if tuple(pair) == last}
                scores[row, sorted(seen - self.ignored)] = float("-inf")
        return scores


def sentence_ends(tokenizer: Any) -> frozenset[int]:
    """Return the tokens that are a full stop, whatever stands before them, and tags of sentences."""
    ids = {token for text in (".", "a.", "a .") for token in tokenizer(text, add_special_tokens=False)["input_ids"]}
    words = tokenizer.get_vocab()
    tags = {words[tag] for tag in TAGS if tag in words}
    return frozenset(tags | {one for one in ids if tokenizer.decode([one]).strip() == "."})
