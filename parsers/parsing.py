"""Parse or segment those texts and documents that do not come with a tree or units."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from discsum.document import Document, Span
from discsum.errors import InputWarning
from discsum.scoring import ParsedDocument
from discsum.writing import single_line

if TYPE_CHECKING:
    # Documents with trees need no parser, which imports torch.
    from discsum.parsers.parser import Encoded, Parser


class Text(Protocol):
    """A text with a name, and its document if it came with one."""

    @property
    def id(self) -> str:
        """Its name, which becomes the document's id."""

    @property
    def text(self) -> str:
        """The text."""

    @property
    def document(self) -> Document | None:
        """Its units, and its tree if it has one."""


def ensure_parsed(
    items: Sequence[Text],
    parser: Callable[[], Parser],
    *,
    sentences: str = "model",
    edus: str = "model",
    keep: Collection[str] = (),
    checked: bool = False,
) -> list[ParsedDocument]:
    """Return the parsed document of each item, in order; existing trees are kept.

    Args:
        items: Texts, which are parsed together, and documents, which keep their sentences and EDUs.
        parser: Returns the parser; not called if nothing needs parsing or encoding.
        sentences: Where the sentences of texts come from, as in `Parser.parse`.
        edus: Where the EDUs of texts come from: `model`, or `newline` for one per line.
        keep: Names of the vectors to keep, as in `Parser.encode`; if any, documents that come with trees are encoded
            as well.
        checked: Whether to warn about doubtful texts of documents that come with trees as well.
    """
    bare = [item for item in items if item.document is None]
    found: Iterator[Encoded] = iter(())
    if bare:
        texts, names = [item.text for item in bare], [item.id for item in bare]
        found = iter(parser().encode(texts, sentences=sentences, edus=_edus_of(texts, edus), ids=names, keep=keep))
    grown = [
        item.document.with_id(item.id) for item in items if item.document is not None and item.document.tree is not None
    ]
    with_trees = iter(_with_trees(grown, parser, keep, checked))
    return [
        with_vectors(next(found), parser())
        if item.document is None
        else _completed(item.document.with_id(item.id), parser, sentences, edus, keep)
        if item.document.tree is None
        else next(with_trees)
        for item in items
    ]


def ensure_segmented(items: Sequence[Text], parser: Callable[[], Parser]) -> list[Document]:
    """Return the document of each item, in order, without new trees; documents with sentences are kept as they are."""
    bare = [item for item in items if item.document is None or not item.document.sentences]
    names = [item.id for item in bare]
    found = iter(parser().segment([item.text for item in bare], ids=names) if bare else ())
    return [
        item.document.with_id(item.id) if item.document is not None and item.document.sentences else next(found)
        for item in items
    ]


def split_lines(texts: Sequence[str], parser: Parser) -> list[str]:
    """Return texts with one sentence per line, as ROUGE-Lsum expects; without warnings about them."""
    with warnings.catch_warnings():
        # Doubts about a text are for its parsing; ROUGE has its own about summaries.
        warnings.simplefilter("ignore", InputWarning)
        return ["\n".join(map(single_line, document.sentence_texts)) for document in parser.segment(texts)]


def with_vectors(encoded: Encoded, parser: Parser) -> ParsedDocument:
    """Return a document with the vectors that its parsing kept."""
    return ParsedDocument(encoded.document, {parser.fingerprint: encoded})


def encoding(item: ParsedDocument, parser: Parser, keep: Collection[str]) -> Encoded:
    """Return a document's encoding with the vectors in `keep`; those that are not cached are computed and cached."""
    found: Encoded | None = item.vectors.get(parser.fingerprint)
    lacking = [name for name in keep if found is None or name not in found.vectors]
    if found is None or lacking:
        new = parser.vectors([item.document], lacking)[0]
        found = replace(new, vectors={**(found.vectors if found is not None else {}), **new.vectors})
        item.vectors[parser.fingerprint] = found
    return found


def _edus_of(texts: Sequence[str], edus: str) -> list[Sequence[Span]] | None:
    """Return the EDUs of texts with one EDU per line; None if the parser finds them."""
    if edus != "newline":
        return None
    from discsum.parsers.segmenter import split_sentences

    return [split_sentences(text, "newline") for text in texts]


def _with_trees(
    documents: Sequence[Document], parser: Callable[[], Parser], keep: Collection[str], checked: bool
) -> list[ParsedDocument]:
    """Return documents that have trees, encoded together if vectors are to be kept."""
    if not documents:
        return []
    known = [parser().with_text_warnings(document) for document in documents] if checked else documents
    if not keep:
        return [ParsedDocument(document) for document in known]
    return [with_vectors(found, parser()) for found in parser().vectors(known, keep)]


def _completed(
    document: Document, parser: Callable[[], Parser], sentences: str, edus: str, keep: Collection[str]
) -> ParsedDocument:
    units = [document.edus] if document.edus else _edus_of([document.text], edus)
    given = document.sentences or sentences
    found = parser().encode([document.text], sentences=given, edus=units, ids=[document.id], keep=keep)[0]
    text_warnings = dict.fromkeys((*document.warnings, *found.document.warnings))
    return with_vectors(replace(found, document=replace(found.document, warnings=tuple(text_warnings))), parser())
