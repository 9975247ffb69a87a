"""Penalties of beam search: a length penalty, a coverage penalty, and blocking of repeated trigrams.

All are `LogitsProcessor`s of the beam search of transformers, which sums up what they return. A score that is not a sum
over tokens is therefore returned as its change at each step.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import LogitsProcessor

from discsum.abstractive.search_settings import check_penalties, check_ranked, chosen_setting
from discsum.abstractive.vocabulary import TAGS
from discsum.errors import InputError


@dataclass(frozen=True)
class Penalties:
    """Settings of the search; see `HypothesisScore` and `TrigramBlocker`.

    Attributes:
        length: Exponent of the length penalty. With None the model's own applies, or none if `coverage` is given.
        coverage: Weight of the coverage penalty; None turns it off.
        block_trigrams: Whether to forbid repeated trigrams.

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
        """Check that a model can search with these penalties and these options of `generate`.

        Raises:
            InputError: A length or coverage penalty with a single beam or with settings of the model that undo it, or a
                coverage penalty without copy attention.
        """
        if self.length is None and self.coverage is None:
            return
        if chosen_setting(model, generation, "do_sample"):
            raise InputError("length penalty, coverage penalty: expected a beam search, got sampling (do_sample)")
        check_ranked(_beams(model, generation))
        # A hypothesis' score changes by the same amount for all its tokens, which a softmax over them removes.
        if chosen_setting(model, generation, "renormalize_logits"):
            raise InputError(
                "length penalty, coverage penalty: expected a search that does not renormalize scores, got "
                "renormalize_logits; remove it from the options or the model's generation_config.json"
            )
        # Its bound on longer hypotheses holds for transformers' own length penalty only.
        if chosen_setting(model, generation, "early_stopping") == "never":
            raise InputError(
                "length penalty, coverage penalty: expected early_stopping true or false, got never; change it in the "
                "options or the model's generation_config.json"
            )
        # A weight of 0 needs no attention.
        if self.coverage and not hasattr(model, "copying"):
            raise InputError(
                "coverage penalty (--coverage-penalty): expected a model with copy attention, such as those that "
                f"faster-encoders/... train, got {type(model).__name__}"
            )

    @contextmanager
    def applied(self, model: Any, tokenizer: Any, generation: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the options of `generate` for one search that `check` accepts: `generation`, and these penalties."""
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
    return int(chosen_setting(model, generation, "num_beams") or 1)


def length_penalty(tokens: int, exponent: float) -> float:
    """Return `lp(Y) = ((5 + |Y|) / 6)^exponent` of a summary with so many tokens (Wu et al. 2016, Eq 14)."""
    return float(((5 + tokens) / 6) ** exponent)


def coverage_penalty(attention: Tensor) -> Tensor:
    """Return `sum_j max(a_j - 1, 0)` `(rows,)` of the attention `(rows, tokens)` summed over all steps.

    It counts repeated attention to the same words. This is OpenNMT's summary coverage penalty.
    """
    return (attention - 1).clamp_min(0).sum(dim=-1)


class HypothesisScore(LogitsProcessor):
    """Makes beams rank hypotheses by `s(Y) = log P(Y) / lp(Y) - coverage cp(Y)` (Wu et al. 2016, Eq 14).

    Pass `length_penalty=0` to `generate`, so that it does not divide by a length as well. Make a new one for each call.
    """

    def __init__(self, length: float, coverage: float, beams: int) -> None:
        """Start without hypotheses.

        Args:
            length: Exponent of the length penalty.
            coverage: Weight of the coverage penalty.
            beams: Number of beams, the rows of each document.
        """
        self.length, self.coverage, self.beams = length, coverage, beams
        self._attention: Tensor | None = None
        # From the previous step: the row of each prefix, and the log probabilities of its continuations.
        self._rows: dict[tuple[int, ...], int] = {}
        self._changes: Tensor | None = None
        self._sums: Tensor | None = None
        self._covered: Tensor | None = None
        self._prompt = 0

    def observe(self, attention: Tensor) -> None:
        """Receive the copy attention `(rows, tokens)` of a step."""
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
        # A prefix that was impossible stays so; the difference of infinities is not a number.
        return torch.where(before[:, None].isneginf(), before[:, None], after - before[:, None])

    def _continued(self, input_ids: Tensor, scores: Tensor) -> tuple[Tensor, Tensor | None, Tensor]:
        """Return for each row the sum of its log probabilities, its summed attention, and the score of its prefix."""
        if self._sums is None or self._changes is None:
            self._prompt = input_ids.shape[1]
            return scores.new_zeros(len(scores)), None, scores.new_zeros(len(scores))
        # Beams were reordered, so find the parent of each row by its prefix. Rows with the same prefix are identical.
        parents = [self._rows[self._name(row, ids[:-1])] for row, ids in enumerate(input_ids.tolist())]
        rows = torch.tensor(parents, device=scores.device)
        sums = self._sums[rows] + self._changes[rows, input_ids[:, -1]]
        covered = None if self._covered is None else self._covered[rows]
        before = sums / length_penalty(input_ids.shape[1] - self._prompt, self.length)
        if covered is not None:
            before = before - self.coverage * coverage_penalty(covered)
        return sums, covered, before

    def _name(self, row: int, ids: list[int]) -> tuple[int, ...]:
        """Return a key for the prefix of a row, unique across documents."""
        return row // self.beams, *ids


class TrigramBlocker(LogitsProcessor):
    """Forbids tokens that would repeat a trigram, unless one of the trigram's tokens is `ignored`."""

    def __init__(self, ignored: frozenset[int] = frozenset()) -> None:
        """Allow repeated trigrams with `ignored` tokens, such as full stops."""
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
    """Return the tokens of sentence tags and of a full stop, at the start of a text or after a word or space."""
    ids = {token for text in (".", "a.", "a .") for token in tokenizer(text, add_special_tokens=False)["input_ids"]}
    words = tokenizer.get_vocab()
    tags = {words[tag] for tag in TAGS if tag in words}
    return frozenset(tags | {one for one in ids if tokenizer.decode([one]).strip() == "."})
