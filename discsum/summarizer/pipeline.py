"""The extractive pipeline behind `discsum.summarize` and `discsum extract`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from discsum.batches import batches, named
from discsum.constants import SHIPPED_PARSER
from discsum.data.inputs import Item
from discsum.document import Document
from discsum.errors import warn_caller
from discsum.parsers.loading import load_parser
from discsum.parsers.parsing import Text, ensure_parsed
from discsum.parsers.reading import SUBWORDS
from discsum.scoring import Scores, UnitScorer, extract
from discsum.selection import Policy, checked_scores
from discsum.summarizer.options import SummaryOptions, check_parser
from discsum.summarizer.query import Query, combined
from discsum.summary import Queried, Summary

if TYPE_CHECKING:
    from discsum.parsers.parser import Parser


@dataclass(frozen=True)
class SummaryPipeline:
    """Parses documents, scores their units and selects summaries.

    Attributes:
        scorer: A baseline or a trained model.
        policy: Unit, length limit and selection rules.
        parser: Returns the parser for texts.
        sentences: Sentence segmentation.
        tidy: Whether the EDUs of each sentence are capitalised and punctuated.
        query: What the summaries should be about, if anything.
    """

    scorer: UnitScorer
    policy: Policy
    parser: Callable[[], Parser]
    sentences: str
    tidy: bool
    query: str | None = None

    @classmethod
    def of(cls, scorer: UnitScorer, options: SummaryOptions) -> SummaryPipeline:
        """Return the pipeline of a loaded scorer, which replaces the options' model.

        Raises:
            InputError: A parser other than the scorer's own, or options that do not fit its unit.
        """
        policy = scorer.complete(options.policy(scorer.unit or "sentence", scorer.default_units))
        if options.tidy and policy.unit != "edu":
            warn_caller(f"tidy: expected unit edu, got {policy.unit}; sentences are left as they are")
        parser = _parser(scorer, options)
        return cls(scorer, policy, parser, options.sentences, options.tidy, options.query)

    def __call__(self, items: Sequence[Text]) -> list[Summary]:
        """Return the summary of each text or document, in order; they are parsed as one batch."""
        unit, asked = self.policy.unit, self.query is not None
        # Models that read vectors, and queries, need documents that came with trees to be encoded too.
        keep = {*self.scorer.reads, *([SUBWORDS] if asked else [])}
        # Trained models and queries only know the parser's language, so documents with trees are checked too.
        checked = asked or self.scorer.parser is not None
        parsed = ensure_parsed(items, self.parser, sentences=self.sentences, keep=keep, checked=checked)
        scores = self.scorer.scores(parsed, unit)
        if not asked:
            return [self._summary(item.document, values) for item, values in zip(parsed, scores, strict=True)]
        found = []
        for item, values in zip(parsed, scores, strict=True):
            document, similarities = item.document, self._query.similarities(item, unit)
            values = checked_scores(values, len(similarities))
            queried = Queried(self._query.text, tuple(values.tolist()), tuple(similarities.tolist()))
            summary = replace(self._summary(document, combined(values, similarities), own=False), queried=queried)
            found.append(summary.doubted(self._query.doubt(document.text)))
        return found

    @cached_property
    def _query(self) -> Query:
        return Query(self.query or "", self.parser())

    def _summary(self, document: Document, scores: Scores, own: bool = True) -> Summary:
        return extract(document, self.scorer, self.policy, scores=scores, own=own, tidy=self.tidy)

    def many(
        self, texts: Iterable[str | Document], ids: Iterable[str | int] | None = None, batch_size: int = 8
    ) -> Iterator[Summary]:
        """Return the summary of each text or document, in order, parsing `batch_size` of them at a time.

        Raises:
            TypeError: A single text instead of several, or a value that is neither a text nor a document.
            InputError: A `batch_size` below 1, or more or fewer `ids` than texts.
        """
        groups = batches(named(texts, ids, (str, Document)), batch_size)
        return (summary for group in groups for summary in self([self._item(*named) for named in group]))

    def _item(self, text: str | Document, name: str) -> Item:
        if isinstance(text, Document):
            if text.sentences and self.sentences != "model":
                warn_caller(
                    f"{name or text.label}: expected a text for sentences={self.sentences!r}, got a "
                    "document, which keeps its own sentences"
                )
            return Item(name or text.id, "", text.text, text)
        return Item(name, "", text)


def _parser(scorer: UnitScorer, options: SummaryOptions) -> Callable[[], Parser]:
    """Return a function that returns the parser: the scorer's own if it has one, otherwise that of the options."""
    own, given = scorer.parser, options.parser
    if own is None:
        return lambda: load_parser(given or SHIPPED_PARSER, options.device, options.precision)
    if given is not None:
        check_parser(scorer.name, own.fingerprint, given)
    return lambda: own
