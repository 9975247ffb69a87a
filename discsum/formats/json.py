"""json: the object that `discsum parse --format json` prints for a document.

The only lossless format: it keeps the original text, sentences and probabilities. `nodes` is `null` for a document
without a tree and `[]` for a tree over one EDU.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from discsum.document import EDU, Document, Span
from discsum.errors import FormatError, InputError, TreeError
from discsum.files import to_line
from discsum.format_registry import FORMATS, Format
from discsum.tree import RSTTree


def to_object(document: Document) -> dict[str, Any]:
    """Return the document as a JSON object."""
    return {
        "id": document.id,
        "text": document.text,
        "parser": document.parser,
        "sentences": [asdict(span) for span in document.sentences],
        "edus": [asdict(edu) for edu in document.edus],
        "nodes": None if document.tree is None else document.tree.to_dicts(),
    }


def from_object(data: Any, source: str = "") -> Document:
    """Return the document of such an object; unknown keys are ignored.

    Raises:
        FormatError: A field that is missing or invalid; the message names it.
    """
    document = _Object(data, "", source)
    text = document.string("text")
    sentences = [Span(*map(item.integer, ("start", "end"))) for item in document.objects("sentences")]
    edus = [EDU(*map(item.integer, ("start", "end", "sentence"))) for item in document.objects("edus")]
    tree = None
    try:
        if document.data.get("nodes") is not None:
            tree = RSTTree(len(edus), [_node(item) for item in document.objects("nodes")])
    except TreeError as error:
        raise FormatError(f"nodes: {error}", source=source) from error
    id, parser = (document.string(name) if name in document.data else "" for name in ("id", "parser"))
    try:
        return Document(text, tuple(sentences), tuple(edus), tree, id, parser)
    except InputError as error:
        raise FormatError(str(error), source=source) from error


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
        raise FormatError(message, source=source, line=error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"expected a JSON object of a document, got: {error}", source=source) from error
    return from_object(data, source)


def _node(item: _Object) -> dict[str, Any]:
    node: dict[str, Any] = {name: item.integer(name) for name in ("first", "last", "split")}
    node |= {name: item.string(name) for name in ("nuclearity", "relation")}
    if "probability" in item.data:
        node["probability"] = item.number("probability")
    return node


class _Object:
    """A JSON object whose fields are read with their types checked; `path` is its place in the document."""

    def __init__(self, data: Any, path: str, source: str) -> None:
        self.path, self.source = path, source
        self.data: dict[str, Any] = self._checked(path or "document", data, "an object", dict)

    def _checked(self, place: str, value: Any, expected: str, *types: type) -> Any:
        # In Python `True` is an int; in JSON it is not a number.
        if not isinstance(value, types) or isinstance(value, bool):
            got = repr(value) if len(repr(value)) <= 60 else f"{type(value).__name__} {repr(value)[:60]}…"
            raise FormatError(f"{place}: expected {expected}, got {got}", source=self.source)
        return value

    def _field(self, name: str, expected: str, *types: type) -> Any:
        place = f"{self.path}.{name}" if self.path else name
        if name not in self.data:
            present = ", ".join(sorted(map(str, self.data))) or "no field"
            raise FormatError(f"{place}: expected {expected}, got no such field (only {present})", source=self.source)
        return self._checked(place, self.data[name], expected, *types)

    def string(self, name: str) -> str:
        return str(self._field(name, "a string", str))

    def integer(self, name: str) -> int:
        return int(self._field(name, "an integer", int))

    def number(self, name: str) -> float:
        return float(self._field(name, "a number", int, float))

    def objects(self, name: str) -> list[_Object]:
        items = self._field(name, "a list of objects", list)
        path = f"{self.path}.{name}" if self.path else name
        return [_Object(item, f"{path}[{index}]", self.source) for index, item in enumerate(items)]


FORMATS.register("json", Format(dumps, loads, to_object, from_object, has_parser=True))
