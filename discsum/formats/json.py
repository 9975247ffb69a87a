"""json: the object that `discsum parse --format json` prints for a document.

The only lossless format: it keeps the original text, sentences and probabilities. `nodes` is `null` for a document
without a tree and `[]` for a tree over one EDU. A node's `joined` and the document's `erst` are present only if set.
`surrogates` is present only if the text has two consecutive surrogates that are not one character; it lists the
positions of such pairs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np

from discsum.document import EDU, Document, Span
from discsum.errors import FormatError, InputError, TreeError
from discsum.erst import ERST, Place, SecondaryEdge, Signal
from discsum.files import to_line
from discsum.format_registry import FORMATS, Format
from discsum.tree import Node, RSTTree

_SPAN = ("start", "end")
# JSON readers turn such a pair into the one character that it encodes in UTF-16.
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_KINDS = {str: "a string", int: "an integer", float: "a number", list: "a list", dict: "an object"}


def to_object(document: Document) -> dict[str, Any]:
    """Return the document as a JSON object."""
    data: dict[str, Any] = {
        "id": document.id,
        "text": document.text,
        "parser": document.parser,
        # NumPy's numbers cannot be written as JSON.
        "sentences": [{name: int(getattr(span, name)) for name in _SPAN} for span in document.sentences],
        "edus": [{name: int(getattr(edu, name)) for name in (*_SPAN, "sentence")} for edu in document.edus],
        "nodes": None if document.tree is None else document.tree.to_dicts(),
    }
    pairs = [found.start() for found in _PAIR.finditer(document.text)]
    data |= {"surrogates": pairs} if pairs else {}
    data |= {"warnings": list(document.warnings)} if document.warnings else {}
    return data if document.erst is None else data | {"erst": _erst_to_object(document.erst)}


def _erst_to_object(erst: ERST) -> dict[str, Any]:
    return {
        "edges": [_record(edge) for edge in erst.edges],
        "signals": [_record(signal) for signal in erst.signals],
        "signal_types": dict(erst.signal_types),
    }


def _record(item: SecondaryEdge | Signal) -> dict[str, Any]:
    """Return the fields of an edge or signal that are not None, places as lists."""
    fields = {name: value for name, value in asdict(item).items() if value is not None}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


def from_object(data: Any, source: str = "") -> Document:
    """Return the document of such an object; unknown keys are ignored; `null` means no id, parser, tree or warnings.

    Raises:
        FormatError: A field that is missing or invalid; the message names it.
    """
    if isinstance(data, list):
        raise FormatError("expected an object, got a list; write one object per line to a .jsonl file", source=source)
    if isinstance(data, str | bytes):
        message = "expected an object, got text; read it with json.loads or discsum.formats.load"
        raise FormatError(message, source=source)
    document = _Object(data, "", source)
    # Columnar tables such as Parquet have all fields in every row.
    # Those of pandas have NaN in fields that other rows have.
    there = {
        name
        for name, value in document.data.items()
        if value is not None and not (isinstance(value, float) and value != value)
    }
    text = document.field("text", str)
    if "surrogates" in there:
        text = _with_pairs(text, document.positions("surrogates"))
    sentences = [Span(*(item.field(name, int) for name in _SPAN)) for item in document.objects("sentences")]
    edus = [EDU(*(item.field(name, int) for name in (*_SPAN, "sentence"))) for item in document.objects("edus")]
    tree = None
    try:
        if "nodes" in there:
            tree = RSTTree(len(edus), [_node(item) for item in document.objects("nodes")])
    except TreeError as error:
        raise _problem(f"nodes: {error}", source) from error
    id, parser = (document.field(name, str) if name in there else "" for name in ("id", "parser"))
    warnings = document.strings("warnings") if "warnings" in there else ()
    erst = _erst(document) if "erst" in there else None
    try:
        return Document(text, tuple(sentences), tuple(edus), tree, id, parser, warnings, erst)
    except InputError as error:
        raise _problem(str(error), source) from error


def _with_pairs(text: str, positions: Iterable[int]) -> str:
    """Split characters into two surrogates again; `positions` are those of the pairs in the result."""
    parts, end = list[str](), 0
    for place in sorted(positions):
        # Each pair before has one character less here. The second half of a pair is no pair.
        here = place - len(parts) // 2
        pair = text[here : here + 1].encode("utf-16-be", "surrogatepass")
        if here >= end and len(pair) == 4:
            parts += [text[end:here], "".join(chr(int.from_bytes(pair[start : start + 2], "big")) for start in (0, 2))]
            end = here + 1
    return "".join([*parts, text[end:]])


def dumps(document: Document) -> str:
    """Return the JSON object on one line."""
    return to_line(to_object(document))


def loads(content: str, source: str = "") -> Document:
    """Return the document of one JSON object.

    Raises:
        FormatError: Invalid JSON (with its line), or an object that is not a document (with the field).
    """
    try:
        data = json.loads(content)
    except json.JSONDecodeError as error:
        message = f"expected a JSON object, got: {error.msg} (column {error.colno})"
        if error.msg == "Extra data":
            message += "; rename it to .jsonl if it has one object per line"
        elif error.pos >= len(content.rstrip()) or error.msg.startswith("Unterminated string"):
            message += "; is it truncated?"
        raise FormatError(message, source=source, line=error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise _problem(f"expected a JSON object of a document, got: {error}", source) from error
    return from_object(data, source)


def _problem(message: str, source: str) -> FormatError:
    remedy = "what `discsum parse --format json` writes has the right form; texts of your own belong in a .jsonl file"
    return FormatError(f"{message}; {remedy}, one object with a text per line", source=source)


def _node(item: _Object) -> Node:
    first, last, split = (item.field(name, int) for name in ("first", "last", "split"))
    nuclearity, relation = (item.field(name, str) for name in ("nuclearity", "relation"))
    probability = item.field("probability", float) if "probability" in item.data else 1.0
    # `RSTTree` checks the type of `joined`.
    return Node(first, last, split, nuclearity, relation, probability, item.data.get("joined"))


def _erst(document: _Object) -> ERST:
    data = _Object(document.field("erst", dict), "erst", document.source)
    edges = [
        SecondaryEdge(edge.place("source"), edge.place("target"), edge.field("relation", str))
        for edge in data.objects("edges")
    ]
    signals = []
    for signal in data.objects("signals"):
        edge = signal.field("edge", int) if "edge" in signal.data else None
        if edge is not None and not 0 <= edge < len(edges):
            message = f"{signal.path}.edge: expected the index of one of {len(edges)} edges, got {edge}"
            raise _problem(message, document.source)
        rest = [signal.field(name, str) for name in ("type", "subtype", "tokens", "status")]
        signals.append(Signal(signal.place("place") if edge is None else None, edge, *rest))
    types = _Object(data.field("signal_types", dict), "erst.signal_types", document.source)
    return ERST(tuple(edges), tuple(signals), tuple((name, types.field(name, str)) for name in types.data))


class _Object:
    """A JSON object whose fields are read with their types checked; `path` is its place in the document."""

    def __init__(self, data: Any, path: str, source: str) -> None:
        self.path, self.source = path, source
        self.data = self._checked(path or "document", data, dict)

    def field(self, name: str, kind: type) -> Any:
        place = f"{self.path}.{name}" if self.path else name
        if name in self.data:
            return self._checked(place, self.data[name], kind)
        present = ", ".join(sorted(map(str, self.data))) or "no field"
        message = f"{place}: expected {_KINDS[kind]}, got no such field (only {present})"
        raise _problem(message, self.source)

    def objects(self, name: str) -> list[_Object]:
        prefix = f"{self.path}." if self.path else ""
        return [
            _Object(item, f"{prefix}{name}[{index}]", self.source) for index, item in enumerate(self.field(name, list))
        ]

    def place(self, name: str) -> Place:
        """Return a place in the tree: its first and last EDU."""
        value = self.field(name, list)
        if len(value) != 2 or any(not isinstance(edu, int) or isinstance(edu, bool) for edu in value):
            message = f"{self.path}.{name}: expected the first and last EDU of a place, got {value!r}"
            raise _problem(message, self.source)
        return value[0], value[1]

    def positions(self, name: str) -> list[int]:
        """Return positions in the text."""
        found = [self._checked(f"{name}[{index}]", item, int) for index, item in enumerate(self.field(name, list))]
        if any(place < 0 for place in found):
            raise _problem(f"{name}: expected positions of at least 0, got {min(found)}", self.source)
        return found

    def strings(self, name: str) -> tuple[str, ...]:
        place = f"{self.path}.{name}" if self.path else name
        found = self.field(name, list)
        return tuple(self._checked(f"{place}[{index}]", item, str) for index, item in enumerate(found))

    def _checked(self, place: str, value: Any, kind: type) -> Any:
        if kind is list and isinstance(value, np.ndarray):
            # pandas reads the lists of Parquet as arrays.
            value = value.tolist()
        # In Python `True` is an int; in JSON it is not a number.
        if not isinstance(value, (int, float) if kind is float else kind) or isinstance(value, bool):
            got = repr(value) if len(repr(value)) <= 60 else f"{type(value).__name__} {repr(value)[:60]}…"
            raise _problem(f"{place}: expected {_KINDS[kind]}, got {got}", self.source)
        if isinstance(value, int) and kind is float:
            try:
                return float(value)
            except OverflowError as error:
                raise _problem(
                    f"{place}: expected a number, got one of {len(str(value))} digits", self.source
                ) from error
        return value


FORMATS.register("json", Format(dumps, loads, to_object, from_object, has_parser=True))
