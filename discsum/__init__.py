"""Raw English text to RST discourse tree to summary, offline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar, Unpack

from discsum.constants import SHIPPED_PARSER, TEXT
from discsum.late_imports import on_first_use

if TYPE_CHECKING:
    from pathlib import Path

    import torch

    from discsum import abstractive as abstractive
    from discsum import baselines as baselines
    from discsum import data as data
    from discsum import dependency as dependency
    from discsum import encoder as encoder
    from discsum import errors as errors
    from discsum import formats as formats
    from discsum import metrics as metrics
    from discsum import oracles as oracles
    from discsum import parsers as parsers
    from discsum import priors as priors
    from discsum import scoring as scoring
    from discsum.document import EDU, Document, Span
    from discsum.parsers.parser import Parser
    from discsum.summarizer.extractive import ExtractiveSummarizer
    from discsum.summarizer.options import SummaryArguments
    from discsum.summarizer.pipeline import SummaryPipeline
    from discsum.summary import Summary
    from discsum.tree import Node, RSTTree

_T = TypeVar("_T")
__version__ = "0.1.0"

# The modules that programs use.
_MODULES = (
    "abstractive",
    "baselines",
    "data",
    "dependency",
    "encoder",
    "errors",
    "formats",
    "metrics",
    "oracles",
    "parsers",
    "priors",
    "scoring",
)
_HOMES = {
    "Document": "discsum.document",
    "EDU": "discsum.document",
    "Span": "discsum.document",
    "Node": "discsum.tree",
    "RSTTree": "discsum.tree",
    "Summary": "discsum.summary",
    "ExtractiveSummarizer": "discsum.summarizer.extractive",
    "Parser": "discsum.parsers.parser",
    **dict.fromkeys(_MODULES, "discsum"),
}
if not TYPE_CHECKING:
    __getattr__ = on_first_use("discsum", _HOMES)

__all__ = [
    "EDU",
    "Document",
    "ExtractiveSummarizer",
    "Node",
    "Parser",
    "RSTTree",
    "Span",
    "Summary",
    "parse",
    "parse_many",
    "summarize",
    "summarize_many",
]


def parse(
    text: str,
    *,
    id: str | int = "",
    input: str = TEXT,
    parser: str | Path | Parser = SHIPPED_PARSER,
    sentences: str = "model",
    device: str | torch.device = "cpu",
    precision: str = "fp32",
) -> Document:
    """Return the document of a text, with sentences, EDUs and discourse tree.

    Args:
        text: Any string; offsets in the result count its characters, or those of the text extracted from its markup.
        id: The document's name.
        input: Format of the text: `text`, `markdown`, or `html`; the latter two need the extra `web`.
        parser: Name or folder of a parser, or a loaded one.
        sentences: Sentence segmentation: `model`, `nltk`, or `newline`.
        device: Device of the parser: `cpu`, `cuda`, ...; a loaded one has its own.
        precision: Numeric precision of its encoder: `fp32`, `bf16`, or `fp16`; likewise.

    Raises:
        TypeError: The text is not a string.
        InputError: An option out of range, or markup without a text.
        WeightsError: No such parser, or a damaged one.
        MissingExtraError: The extra `web`, or NLTK's model of sentences, is needed and not installed.
    """
    known = "; discsum.Parser.parse builds a tree over known units" if hasattr(text, "edus") else ""
    content = _one(text, input, (str,), known)
    found = parse_many([content], ids=[id], parser=parser, sentences=sentences, device=device, precision=precision)
    return next(found)


def parse_many(
    texts: Iterable[str],
    *,
    ids: Iterable[str | int] | None = None,
    batch_size: int = 8,
    input: str = TEXT,
    parser: str | Path | Parser = SHIPPED_PARSER,
    sentences: str = "model",
    device: str | torch.device = "cpu",
    precision: str = "fp32",
) -> Iterator[Document]:
    """Yield the document of each text, in order, `batch_size` texts encoded together; other options as in `parse`.

    Raises:
        TypeError: As in `parse`; or a single text instead of several.
        InputError: As in `parse`; or a `batch_size` below 1, or more or fewer `ids` than texts.
        WeightsError: As in `parse`.
        MissingExtraError: As in `parse`.
    """
    read = _read(texts, input)
    loaded: Parser = import_module("discsum.parsers.loading").load_parser(parser, device, precision)
    return loaded.parse_many(read, batch_size=batch_size, sentences=sentences, ids=ids)


def summarize(
    text: str | Document, *, id: str | int = "", input: str = TEXT, **options: Unpack[SummaryArguments]
) -> Summary:
    """Return the summary of a text, or of a document: 3 sentences, or 6 EDUs with `unit="edu"`, by default.

    `input` is the format of the text, as in `parse`. The other options are `model`, `unit`, one of the lengths `units`,
    `words` and `ratio`, `query`, `tidy`, `layout`, `dependencies`, `redundancy`, `brevity`, `block_trigrams`,
    `sentences`, `parser`, `device` and `precision`; `discsum.summarizer.options.SummaryOptions` explains them.

    Raises:
        TypeError: The text is not a string, or there is no such option.
        InputError: An option out of range, or options in conflict.
        WeightsError: No such model, or a damaged one.
        MissingExtraError: As in `parse`.
    """
    content = _one(text, input, (str, import_module("discsum.document").Document))
    return next(summarize_many([content], ids=[id], **options))


def summarize_many(
    texts: Iterable[str | Document],
    *,
    ids: Iterable[str | int] | None = None,
    batch_size: int = 8,
    input: str = TEXT,
    **options: Unpack[SummaryArguments],
) -> Iterator[Summary]:
    """Yield the summary of each text or document, in order, encoded in batches; other options as in `summarize`.

    Errors are those of `summarize`, and those of `parse_many` for `texts`, `ids` and `batch_size`.
    """
    read = _read(texts, input)
    module = import_module("discsum.summarizer.options")
    module.check_names(options)
    chosen = module.SummaryOptions(**options)
    pipeline: SummaryPipeline = import_module("discsum.summarizer.loading").load_pipeline(chosen)
    return pipeline.many(read, ids, batch_size)


def _one(text: _T, input: str, kinds: tuple[type, ...], remedy: str = "") -> _T:
    """Return a single text of one of the `kinds` without its markup; errors name it `text`."""
    import_module("discsum.markup").check_input(input)
    import_module("discsum.batches").check_kind("text", text, kinds, remedy)
    return import_module("discsum.markup").to_text(text, input) if isinstance(text, str) else text


def _read(texts: Iterable[_T], input: str) -> Iterator[_T]:
    """Return texts without their markup; documents stay as they are."""
    import_module("discsum.markup").check_input(input)
    import_module("discsum.batches").check_several(texts)
    return iter(texts) if input == TEXT else _converted(texts, input)


def _converted(texts: Iterable[_T], input: str) -> Iterator[_T]:
    markup, errors = import_module("discsum.markup"), import_module("discsum.errors")
    for count, text in enumerate(texts):
        try:
            yield markup.to_text(text, input) if isinstance(text, str) else text
        except errors.InputError as error:
            raise errors.InputError(f"text {count}: {error}") from error


def __dir__() -> list[str]:
    """Return the public names, for completion; also those that are imported on first use."""
    return sorted([*__all__, *_MODULES, "__version__"])
