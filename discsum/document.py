"""A text with its sentences, its elementary discourse units (EDUs) and its discourse tree."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discsum.batches import check_several
from discsum.constants import UNITS
from discsum.errors import InputError
from discsum.erst import ERST
from discsum.format_registry import FORMATS, dump, load
from discsum.layout import Layout
from discsum.tree import RSTTree, check_tree, read_only, uncached
from discsum.writing import ends_sentence, join_units

if TYPE_CHECKING:
    import networkx
    import nltk


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of character offsets into a document's text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, order=True)
class EDU(Span):
    """An elementary discourse unit; `sentence` is the index of the sentence that holds its first character."""

    sentence: int


@dataclass(frozen=True, repr=False)
class Document:
    """A text with what is known about its structure; every processing stage returns a new document.

    Attributes:
        text: The text, never altered: all offsets count its characters.
        sentences: Sentence spans in order.
        edus: EDU spans in order; every non-white-space character is in exactly one.
        tree: The discourse tree over the EDUs, if known.
        id: The document's name, such as its file's stem.
        parser: What made the tree: a parser's name, or the format that it was read from.
        warnings: Reasons to doubt the result, such as a text in another language than the parser's.
        erst: Secondary edges and signals of relations, if the tree was read from an rs4 file that has some.

    Raises:
        TypeError: A text or name that is not a string, units that are not spans, or a tree that is not an `RSTTree`.
        InputError: Spans that overlap, leave the text, or leave a character out; an EDU that starts in another sentence
            than it says, or in none; or a tree over another number of EDUs.
    """

    text: str
    sentences: tuple[Span, ...] = ()
    edus: tuple[EDU, ...] = ()
    tree: RSTTree | None = None
    id: str = ""
    parser: str = ""
    warnings: tuple[str, ...] = ()
    erst: ERST | None = None

    def __post_init__(self) -> None:
        """Check that the spans tile the text and fit each other and the tree."""
        for name in ("sentences", "edus", "warnings"):
            # Lists would make documents unhashable, and unequal to those with tuples.
            object.__setattr__(self, name, tuple(getattr(self, name)))
        self._check_types()
        for spans, kind in ((self.sentences, "sentence"), (self.edus, "EDU")):
            if spans:
                check_tiling(self.text, spans, kind)
        expected = _sentences_of(self.edus, self.sentences)
        for index, (edu, sentence) in enumerate(zip(self.edus, expected, strict=True)):
            if edu.sentence != sentence:
                raise InputError(f"EDU {index}: expected sentence {sentence}, got {edu.sentence}")
        if self.tree is not None and self.tree.edus != len(self.edus):
            raise InputError(f"expected a tree over {len(self.edus)} EDUs, got one over {self.tree.edus}")

    def _check_types(self) -> None:
        """Raise `TypeError` for a field of another type."""
        for name in ("text", "id", "parser"):
            if not isinstance(given := getattr(self, name), str):
                raise TypeError(f"{name}: expected str, got {type(given).__name__}")
        for units, kind, shown in ((self.sentences, Span, "Span(0, 9)"), (self.edus, EDU, "EDU(0, 9, sentence=0)")):
            if wrong := [unit for unit in units if not isinstance(unit, kind)]:
                raise TypeError(f"expected units such as {shown}, got {wrong[0]!r}; from_spans takes spans alone")
        if self.tree is not None:
            check_tree(self.tree)

    def __repr__(self) -> str:
        """Return one line without the text."""
        known = f"parser={self.parser!r}" if self.tree is not None else "tree=None"
        return f"Document(id={self.id!r}, sentences={len(self.sentences)}, edus={len(self.edus)}, {known})"

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled and copied."""
        return uncached(self)

    @property
    def label(self) -> str:
        """The name of the document in messages: its id, or its first words."""
        if self.id:
            return self.id
        words = " ".join(self.text[:200].split())
        return repr(words if len(words) < 40 else f"{words[:39]}…")

    def _repr_html_(self) -> str:
        return FORMATS["html"].preview(self)

    @classmethod
    def from_spans(
        cls,
        text: str,
        sentences: Iterable[Span],
        edus: Iterable[Span],
        tree: RSTTree | None = None,
        id: str = "",
        parser: str = "",
    ) -> Document:
        """Return the document of these spans, each EDU assigned to the sentence of its first character.

        Raises:
            TypeError: Sentences or EDUs that are not spans.
        """
        sentences, spans = _spans(sentences, "sentences"), _spans(edus, "edus")
        places = zip(spans, _sentences_of(spans, sentences), strict=True)
        units = tuple(EDU(span.start, span.end, sentence) for span, sentence in places)
        return cls(text, sentences, units, tree, id, parser)

    @classmethod
    def from_edu_texts(
        cls,
        texts: Sequence[str],
        tree: RSTTree | None = None,
        id: str = "",
        parser: str = "",
        paragraph_ends: Collection[int] = (),
    ) -> Document:
        """Return a document whose text is the EDUs joined as by `join_units`, for tree files without the raw text.

        Such files do not say where sentences end. It is assumed that an EDU ends a sentence if it closes with `.`, `!`,
        `?`, `…` or such a mark of another script, possibly followed by quotes and brackets, or if its index is in
        `paragraph_ends`. EDUs in `paragraph_ends` end a paragraph, and an empty line follows them.

        Raises:
            TypeError: A single text, or anything other than texts.
            InputError: An EDU without text.
        """
        if isinstance(texts, str):
            raise TypeError("expected the texts of EDUs, got a single text; put it in a list, or parse it")
        check_several(texts)
        texts = [*texts]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError(f"expected the texts of EDUs, got {texts!r:.80}")
        stripped = [text.strip() for text in texts]
        if "" in stripped:
            raise InputError(f"EDU {stripped.index('')}: expected some text, got none")
        joined, ranges = join_units(stripped, paragraph_ends)
        edus = [Span(*place) for place in ranges]
        ends = {*paragraph_ends, len(edus) - 1}
        last = [index for index, text in enumerate(stripped) if index in ends or ends_sentence(text)]
        firsts = [0, *(index + 1 for index in last[:-1])]
        sentences = [Span(edus[first].start, edus[end].end) for first, end in zip(firsts, last, strict=False)]
        return cls.from_spans(joined, sentences, edus, tree, id, parser)

    @cached_property
    def edu_texts(self) -> tuple[str, ...]:
        """The text of every EDU."""
        return tuple(self.text[edu.start : edu.end] for edu in self.edus)

    @cached_property
    def sentence_texts(self) -> tuple[str, ...]:
        """The text of every sentence."""
        return tuple(self.text[span.start : span.end] for span in self.sentences)

    @cached_property
    def edu_to_sentence(self) -> NDArray[np.int64]:
        """`(edus,)`: the sentence of every EDU."""
        return read_only(np.array([edu.sentence for edu in self.edus], dtype=np.int64))

    @cached_property
    def text_layout(self) -> Layout:
        """The layout of the text, for any spans of it."""
        return Layout(self.text)

    @cached_property
    def layout(self) -> tuple[str, ...]:
        """The kind of every sentence: `heading`, `label`, `byline`, `list`, `code` or `body`."""
        return self.text_layout.kinds([(span.start, span.end) for span in self.sentences])

    def units(self, unit: str) -> tuple[Span, ...]:
        """Return the spans of the units: `sentence` or `edu`; raise `InputError` for any other `unit`."""
        if unit not in UNITS:
            raise InputError(f"expected unit 'sentence' or 'edu', got {unit!r}")
        return self.sentences if unit == "sentence" else self.edus

    def require_tree(self, purpose: str) -> RSTTree:
        """Return the tree.

        Raises:
            InputError: There is none; the message names the document and what the tree is needed for.
        """
        if self.tree is None:
            name = f"document {self.id!r}" if self.id else "the document"
            remedy = "parse its text first" if self.text.strip() else "it has no text"
            raise InputError(f"{purpose}: expected {name} to have a discourse tree, got none; {remedy}")
        return self.tree

    def with_id(self, id: str) -> Document:
        """Return the same document under another name."""
        return replace(self, id=id)

    # Converters: each looks up its format by name in the registry, which imports the format's module.

    def to_json(self) -> dict[str, Any]:
        """Return the document as the JSON object of `discsum parse --format json`."""
        data: dict[str, Any] = FORMATS["json"].to_object(self)
        return data

    @classmethod
    def from_json(cls, data: dict[str, Any], source: str = "") -> Document:
        """Return the document of a JSON object as `to_json` returns it; `source` names it in errors.

        Raises:
            FormatError: A field that is missing or invalid; the message names it.
        """
        return FORMATS["json"].from_object(data, source)

    def to_rs3(self) -> str:
        """Return the tree as an rs3 file (RSTTool, rstWeb); errors as in `discsum.formats.dump`."""
        return dump(self, "rs3")

    def to_rs4(self) -> str:
        """Return tree, secondary edges and signals as an rs4 file (rstWeb with eRST); errors as in `to_rs3`."""
        return dump(self, "rs4")

    def to_dis(self, *, brackets: bool = False) -> str:
        """Return the tree as a dis file (the lisp of RST-DT); `brackets` and errors as in `discsum.formats.dump`."""
        return dump(self, "dis", brackets=brackets)

    def to_rsd(self) -> str:
        """Return the tree as an rsd file (rst2dep's tab-separated dependencies); errors as in `to_rs3`."""
        return dump(self, "rsd")

    def to_svg(self) -> str:
        """Return a drawing of the tree, as an SVG file; errors as in `to_rs3`."""
        return dump(self, "svg")

    def to_html(self) -> str:
        """Return an HTML page of the text and, if there is a tree, tree and prior matrices; it needs no network."""
        return dump(self, "html")

    def to_nltk(self, *, n_ary: bool = False) -> nltk.Tree:
        """Return the tree as an `nltk.Tree`: inner labels `NS:relation`, leaves the EDUs' texts.

        With `n_ary`, all nuclei of a multinuclear relation are children of one node, `NNN:joint-list`.

        Raises:
            InputError: The document has no tree.
        """
        return FORMATS["nltk"].to_object(self, n_ary=n_ary)

    @classmethod
    def from_nltk(cls, tree: nltk.Tree) -> Document:
        """Return the document of an `nltk.Tree` of `to_nltk`; errors as in `discsum.formats.nltk.from_nltk`."""
        return FORMATS["nltk"].from_object(tree, "")

    def to_networkx(self) -> networkx.DiGraph[int]:
        """Return the tree as a directed graph: EDUs are nodes 0 to n-1, inner nodes follow in pre-order.

        Raises:
            InputError: The document has no tree.
        """
        graph: networkx.DiGraph[int] = FORMATS["networkx"].to_object(self)
        return graph

    @classmethod
    def from_rs3(cls, content: str | bytes, source: str = "", roots: str = "join") -> Document:
        """Return the document of an rs3 file's content; arguments and errors as in `discsum.formats.load`."""
        return load(content, "rs3", source=source, roots=roots)

    @classmethod
    def from_rs4(cls, content: str | bytes, source: str = "", roots: str = "join") -> Document:
        """Return the document of an rs4 file's content; arguments and errors as in `discsum.formats.load`."""
        return load(content, "rs4", source=source, roots=roots)

    @classmethod
    def from_dis(cls, content: str | bytes, source: str = "") -> Document:
        """Return the document of a dis file's content, binary or n-ary; arguments and errors as in `from_rs3`."""
        return load(content, "dis", source=source)

    @classmethod
    def from_rsd(cls, content: str | bytes, source: str = "", roots: str = "join") -> Document:
        """Return the document of an rsd file's content; arguments and errors as in `discsum.formats.load`."""
        return load(content, "rsd", source=source, roots=roots)


def _sentences_of(spans: Sequence[Span], sentences: Sequence[Span]) -> list[int]:
    """Return, for each EDU's span, the index of the sentence that holds its first character.

    Raises:
        InputError: A span that starts in no sentence.
    """
    if not spans:
        return []
    begins = np.array([span.start for span in spans], dtype=np.int64)
    starts, ends = np.array([(one.start, one.end) for one in sentences], np.int64).reshape(-1, 2).T
    indices = np.searchsorted(starts, begins, side="right") - 1
    outside = (indices < 0) | (begins >= ends[indices]) if len(ends) else np.ones(len(begins), dtype=bool)
    if outside.any():
        raise InputError(f"expected every EDU to start in a sentence, got none at character {begins[outside][0]}")
    found: list[int] = indices.tolist()
    return found


def _spans(given: Iterable[Span], name: str) -> tuple[Span, ...]:
    """Return spans with Python's numbers, as NumPy's cannot be written as JSON."""
    spans = tuple(given)
    if wrong := [span for span in spans if not isinstance(span, Span)]:
        raise TypeError(f"{name}: expected spans, such as Span(0, 9), got {wrong[0]!r}")
    return tuple(Span(operator.index(span.start), operator.index(span.end)) for span in spans)


def check_tiling(text: str, spans: Sequence[Span], kind: str) -> None:
    """Raise `InputError` unless the spans are in order and leave out white space only; `kind` names them."""
    position = 0
    for index, span in enumerate((*spans, None)):
        start = len(text) if span is None else span.start
        if start < position:
            raise InputError(f"{kind} {index}: expected to start at character {position} or later, got {start}")
        if text[position:start].strip():
            place = f"{kind} {index}" if span is not None else f"after the last {kind}" if index else f"{kind}s"
            raise InputError(
                f"{place}: expected every character to be in one, but characters {position} to {start} are in none"
            )
        if span is not None:
            if not span.start < span.end <= len(text):
                raise InputError(f"{kind} {index}: expected a span in 0 to {len(text)}, got {span}")
            if text[span.start : span.end].isspace():
                raise InputError(f"{kind} {index}: expected more than white space, got {span}")
            position = span.end
