"""The XML of rs3 and rs4 files: segments, groups and declared relations, each with its line."""

from __future__ import annotations

import io
import xml.sax
import xml.sax.handler
import xml.sax.xmlreader
from dataclasses import dataclass, field

import defusedxml.sax
from defusedxml.common import DefusedXmlException

from discsum.errors import FormatError

_KINDS = ("span", "multinuc")


@dataclass(slots=True)
class Element:
    """A `<segment>` or `<group>`; `kind` is `segment`, or the group's type: `span` or `multinuc`."""

    id: str
    kind: str
    parent: str
    relation: str
    line: int
    text: str = ""

    def __str__(self) -> str:
        """Return the element as error messages name it."""
        return f"segment {self.id!r}" if self.kind == "segment" else f"group {self.id!r}"


@dataclass(slots=True)
class Elements:
    """The declared types of a file's relations, by name, and its elements, by id and in file order."""

    types: dict[str, set[str]] = field(default_factory=dict)
    by_id: dict[str, Element] = field(default_factory=dict)

    @property
    def segments(self) -> list[Element]:
        """The segments, in text order."""
        return [element for element in self.by_id.values() if element.kind == "segment"]


def read_elements(content: str, source: str) -> Elements:
    """Return the elements of an rs3 or rs4 file; secondary edges and signals are ignored.

    Raises:
        FormatError: Malformed XML, an entity declaration, an element without id, or a repeated id.
    """
    handler = _Handler(source)
    parser = defusedxml.sax.make_parser()
    parser.setContentHandler(handler)
    stream = xml.sax.xmlreader.InputSource()
    stream.setCharacterStream(io.StringIO(content))
    try:
        parser.parse(stream)
    except xml.sax.SAXParseException as error:
        message = f"expected well-formed XML, got: {error.getMessage()}"
        raise FormatError(message, source=source, line=error.getLineNumber()) from error
    except DefusedXmlException as error:
        message = f"expected XML without entity declarations or external references, got {error}"
        raise FormatError(message, source=source, line=handler.line) from error
    except UnicodeEncodeError as error:
        raise FormatError(f"expected text that UTF-8 can hold, got {error}", source=source) from error
    return handler.elements


class _Handler(xml.sax.handler.ContentHandler):
    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements = Elements()
        self.source = source
        self.segment: Element | None = None
        self.locator: xml.sax.xmlreader.Locator | None = None

    @property
    def line(self) -> int | None:
        return self.locator.getLineNumber() if self.locator else None

    def setDocumentLocator(self, locator: xml.sax.xmlreader.Locator) -> None:  # noqa: N802
        self.locator = locator

    def startElement(self, name: str, attrs: xml.sax.xmlreader.AttributesImpl) -> None:  # noqa: N802
        if name == "rel":
            self.elements.types.setdefault(attrs.get("name", ""), set()).add(attrs.get("type", ""))
        elif name in ("segment", "group"):
            element = self._element(name, attrs)
            if element.kind == "segment":
                self.segment = element

    def endElement(self, name: str) -> None:  # noqa: N802
        if name == "segment":
            self.segment = None

    def characters(self, content: str) -> None:
        if self.segment is not None:
            self.segment.text += content

    def _element(self, name: str, attrs: xml.sax.xmlreader.AttributesImpl) -> Element:
        line = self.line or 0
        id = attrs.get("id", "")
        kind = "segment" if name == "segment" else attrs.get("type", "")
        element = Element(id, kind, attrs.get("parent", ""), attrs.get("relname", ""), line)
        if not id:
            raise FormatError(f"<{name}>: expected an id, got none", source=self.source, line=line)
        if name == "group" and kind not in _KINDS:
            message = f"{element}: expected the type {' or '.join(_KINDS)}, got {kind!r}"
            raise FormatError(message, source=self.source, line=line)
        if id in self.elements.by_id:
            other = self.elements.by_id[id]
            message = f"{element}: expected ids used once, got one of line {other.line} again"
            raise FormatError(message, source=self.source, line=line)
        self.elements.by_id[id] = element
        return element
