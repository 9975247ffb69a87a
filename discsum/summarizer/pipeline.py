"""Extractive summaries of texts and documents, as `discsum.summarize` and `discsum extract` make them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING

from discsum.batches import batches
from discsum.constants import SHIPPED_PARSER
from discsum.data.inputs import Item
from discsum.devices import check_device
from discsum.document import Document
from discsum.errors import InputError, InputWarning
from discsum.parsers.loading import load_parser
from discsum.parsers.parsing import Text, ensure_parsed
from discsum.scoring import Scores, UnitScorer, extract
from discsum.selection import Budget, Policy
from discsum.summarizer.loading import load_scorer
from discsum.summarizer.options import check_options
from discsum.summarizer.query import Query, combined
from discsum.summary import Queried, Summary

if TYPE_CHECKING:
    from discsum.parsers.parser import Parser


@dataclass(frozen=True)
class SummaryPipeline:
    """Parses, scores and selects.

    Attributes:
        scorer: A baseline or a trained model.
        policy: Unit, length and rules.
        parser: Returns the parser of texts.
        sentences: Sentence segmentation.
        tidy: Whether EDUs are tidied.
        query: What summaries should be about, if anything.
    """

    scorer: UnitScorer
    policy: Policy
    parser: Callable[[], Parser]
    sentences: str
    tidy: bool
    query: str | None = None

    @classmethod
    def load(
        cls,
        *,
        model: str | None = None,
        unit: str | None = None,
        units: int | None = None,
        words: int | None = None,
        ratio: float | None = None,
        dependencies: bool | None = None,
        block_trigrams: bool = False,
        layout: str = "skip",
        tidy: bool = False,
        sentences: str = "model",
        parser: str | None = None,
        device: str = "cpu",
        query: str | None = None,
    ) -> SummaryPipeline:
        """Return the pipeline with these options; models are loaded once.

        Args:
            model: A shipped model, a folder, `hf:NAME` on the hub, or a baseline such as `lead`; by default the shipped
                model of the unit.
            unit: `sentence` or `edu`; by default the model's.
            units: Maximum number of units; without a length, the model's usual one.
            words: Maximum number of words.
            ratio: Maximum number of words as a share of the text's.
            dependencies: Whether EDUs bring along those of their sentence that they depend on; true by default.
            block_trigrams: Whether units that share a trigram with the summary are skipped.
            layout: `skip` or `keep` headings, bylines, fragments of lists and the like.
            tidy: Whether the EDUs of each sentence are capitalised and punctuated.
            sentences: Sentence segmentation: `model`, `nltk`, or `newline`.
            parser: Name or folder of a parser, for baselines; trained models have their own.
            device: Device of the models: `cpu`, `cuda`, ...
            query: Words, a question or a text that the summary should be about: units like it weigh more.

        Raises:
            InputError: Options out of range or in conflict; raised before a model is loaded.
            WeightsError: No such model or parser.
        """
        given = check_options(
            model=model,
            unit=unit,
            units=units,
            words=words,
            ratio=ratio,
            dependencies=dependencies,
            block_trigrams=block_trigrams,
            layout=layout,
            sentences=sentences,
            query=query,
            tidy=tidy,
            parser=parser,
        )
        check_device(device)
        scorer = load_scorer(model, unit, device)
        chosen = unit or scorer.unit or "sentence"
        wanted = chosen == "edu" if dependencies is None else dependencies
        policy = Policy(given or Budget(scorer.usual_units(chosen)), chosen, block_trigrams, wanted, layout)
        if tidy and chosen != "edu":
            warnings.warn(
                f"tidy: expected unit edu, got {chosen}; sentences are left as they are", InputWarning, stacklevel=3
            )
        if block_trigrams and scorer.own_selection:
            raise InputError(f"block_trigrams: {scorer.name} selects by a rule of its own; leave it out")
        return cls(scorer, policy, _parser(scorer, parser, device), sentences, tidy, query)

    def __call__(self, items: Sequence[Text]) -> list[Summary]:
        """Return the summary of each text or document, in order; they are parsed together."""
        unit, asked = self.policy.unit, self.query is not None
        # Models that read vectors, and queries, encode documents that came with trees.
        encoded = asked or self.scorer.parser is not None
        parsed = ensure_parsed(items, self.parser, sentences=self.sentences, vectors=encoded)
        scores = self.scorer.scores(parsed, unit)
        if not asked:
            return [self._summary(item.document, values) for item, values in zip(parsed, scores, strict=True)]
        found = []
        for item, values in zip(parsed, scores, strict=True):
            document, similarities = item.document, self._query.similarities(item, unit)
            if doubt := self._query.doubt(document.text):
                warnings.warn(f"{document.id or 'text'}: {doubt}", InputWarning, stacklevel=2)
            queried = Queried(self._query.text, tuple(values), tuple(similarities), doubt)
            found.append(replace(self._summary(document, combined(values, similarities)), queried=queried))
        return found

    @cached_property
    def _query(self) -> Query:
        return Query(self.query or "", self.parser())

    def _summary(self, document: Document, scores: Scores) -> Summary:
        return extract(document, self.scorer, self.policy, scores=scores, tidy=self.tidy)

    def many(
        self, texts: Iterable[str | Document], ids: Iterable[str] | None = None, batch_size: int = 8
    ) -> Iterator[Summary]:
        """Yield the summary of each text or document, in order, `batch_size` of them parsed together.

        Raises:
            TypeError: Something else than a text or document.
        """
        for batch in batches(zip(texts, repeat("") if ids is None else ids, strict=ids is not None), batch_size):
            yield from self([_item(text, name) for text, name in batch])


def _item(text: str | Document, name: str) -> Item:
    if isinstance(text, Document):
        return Item(name or text.id, "", text.text, text)
    if not isinstance(text, str):
        raise TypeError(f"text: expected str or Document, got {type(text).__name__}")
    return Item(name, "", text)


def _parser(scorer: UnitScorer, name: str | None, device: str) -> Callable[[], Parser]:
    """Return a function that gives the parser: the scorer's own if it has one, otherwise the named one."""
    own = scorer.parser
    if own is None:
        return lambda: load_parser(name or SHIPPED_PARSER, device)
    if name is not None and load_parser(name, device).fingerprint != own.fingerprint:
        raise InputError(f"parser: {scorer.name} reads the vectors of its own parser; leave {name} out")
    return lambda: own
