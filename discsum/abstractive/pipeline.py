"""The abstractive pipeline behind `discsum abstract`: texts to documents with sentences to summaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discsum.abstractive.generation import AbstractiveOptions
from discsum.abstractive.sparse.costs import whole_below
from discsum.abstractive.summarizer import AbstractiveSummarizer, AbstractiveSummary
from discsum.errors import warn_caller
from discsum.parsers.loading import load_parser
from discsum.parsers.parsing import Text, ensure_parsed


@dataclass(frozen=True)
class AbstractivePipeline:
    """Parses documents and generates their summaries.

    Attributes:
        summarizer: The model.
        options: What it was loaded with, and the settings of the search.
    """

    summarizer: AbstractiveSummarizer
    options: AbstractiveOptions

    @classmethod
    def load(cls, options: AbstractiveOptions) -> AbstractivePipeline:
        """Load the model; the parser is loaded when a text needs it. Raises the errors of `from_pretrained`."""
        model = AbstractiveSummarizer.from_pretrained(options.model, device=options.device, **options.settings)
        return cls(model, options)

    def __call__(self, items: Sequence[Text]) -> list[AbstractiveSummary]:
        """Return the summary of each text or document, in order, generated as one batch.

        Warns about empty summaries, and about models that read everything although they were told to select.
        """
        given = self.options
        parsed = ensure_parsed(items, lambda: load_parser(given.parser, given.device), sentences=given.sentences)
        documents = [item.document for item in parsed]
        written = self.summarizer.summarize_many(documents, batch_size=len(documents), **given.generation.options)
        summaries = list(written)
        for summary in summaries:
            _warn_of_whole(summary)
            _warn_of_empty(summary)
        return summaries


def _warn_of_whole(summary: AbstractiveSummary) -> None:
    """Warn if the model read all sentences although `r` is smaller; the same words for all documents, told once."""
    if summary.is_whole:
        r = summary.details["r"]
        warn_caller(f"r (--r) {r}: documents of fewer than {whole_below(r)} sentences are read whole, which is faster")


def _warn_of_empty(summary: AbstractiveSummary) -> None:
    """Warn if the model's best summary of a text has no word."""
    if summary.document.text.strip() and not summary.text:
        warn_caller(
            f"{summary.document.id}: expected a summary, got an empty one from {summary.model}: its best hypothesis "
            "has no words; set --min-tokens, or lower the penalties"
        )
