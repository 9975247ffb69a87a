"""json: the object that `discsum parse --format json` prints for a document.

The one format that loses nothing: the text as it came, sentences, probabilities. `nodes` is `null` for a
document without a tree and `[]` for a tree over one EDU.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from discsum.document import EDU, Document, Span
from discsum.errors import FormatError, InputError, TreeError
from discsum.files import to_line
from discsum.format_registry import FORMATS, Format
from discsum.tree import RSTTree

_INTEGERS = ("first", "last", "split")


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
    """Return the document of such an object; keys beyond the format's are passed over.

    Raises:
        FormatError: A field that is missing or not what it should be; the message names it.
    """
    document = _Object(data, "", source)
    text = document.string("text")
    sentences = [Span(item.integer("start"), item.integer("end")) for item in document.objects("sentences")]
    edus = [
        EDU(item.integer("start"), item.integer("end"), item.integer("sentence")) for item in document.objects("edus")
    ]
    try:
        nodes = None if document.data.get("nodes") is None else [_node(item) for item in document.objects("nodes")]
        tree = None if nodes is None else RSTTree(len(edus), nodes)
    except TreeError as error:
        raise FormatError(f"nodes: {error}", source=source) from error
    id, parser = (document.string(name) if name in document.data else "" for name in ("id", "parser"))
    try:
        return Document(text, tuple(sentences), tuple(edus), tree, id, parser)
    except InputError as error:
        raise FormatError(str(error), source=source) from error


def dumps(document: Document) -> str:
    """Return the JSON object on one line, as one document of a `.jsonl` file."""
    return to_line(to_object(document))


def loads(content: str, source: str = "") -> Document:
    """Return the document of one JSON object.

    Raises:
        FormatError: No JSON (with its line), or an object that is no document (with the field).
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
    node: dict[str, Any] = {name: item.integer(name) for name in _INTEGERS}
    node |= {name: item.string(name) for name in ("nuclearity", "relation")}
    if "probability" in item.data:
        node["probability"] = item.number("probability")
    return node


class _Object:
    """A JSON object whose fields are read with their types checked; `path` is its place in the document."""

    def __init__(self, data: Any, path: str, source: str) -> None:
        self.path, self.source = path, source
        if not isinstance(data, dict):
            raise self.wrong("", "an object", data)
        self.data = data

    def wrong(self, name: str, expected: str, value: Any) -> FormatError:
        field = ".".join(part for part in (self.path, name) if part) or "document"
        got = repr(value) if len(repr(value)) <= 60 else f"{type(value).__name__} {repr(value)[:60]}…"
        return FormatError(f"{field}: expected {expected}, got {got}", source=self.source)

    def take(self, name: str, expected: str, types: tuple[type, ...]) -> Any:
        if name not in self.data:
            present = ", ".join(sorted(map(str, self.data))) or "no field"
            field = ".".join(part for part in (self.path, name) if part)
            raise FormatError(f"{field}: expected {expected}, got no such field (only {present})", source=self.source)
        value = self.data[name]
        # In Python `True` is an int; in JSON it is no number.
        if not isinstance(value, types) or isinstance(value, bool):
            raise self.wrong(name, expected, value)
        return value

    def string(self, name: str) -> str:
        value: str = self.take(name, "a string", (str,))
        return value

    def integer(self, name: str) -> int:
        value: int = self.take(name, "an integer", (int,))
        return value

    def number(self, name: str) -> float:
        return float(self.take(name, "a number", (int, float)))

    def objects(self, name: str) -> Sequence[_Object]:
        items: list[Any] = self.take(name, "a list of objects", (list,))
        path = ".".join(part for part in (self.path, name) if part)
        return [_Object(item, f"{path}[{index}]", self.source) for index, item in enumerate(items)]


FORMATS.register("json", Format(dumps, loads, to_object, from_object, has_parser=True))
