"""The XML of rs3 and rs4 files: segments, groups and declared relations, each with its line."""

from __future__ import annotations

import io
import xml.sax
import xml.sax.handler
import xml.sax.xmlreader
from dataclasses import dataclass

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


def read_elements(content: str, source: str) -> tuple[list[Element], dict[str, set[str]]]:
    """Return the elements of an rs3 or rs4 file, in its order, and the declared types of its relations by name.

    Secondary edges and signals are ignored.

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
    return list(handler.elements.values()), handler.types


class _Handler(xml.sax.handler.ContentHandler):
    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: dict[str, Element] = {}
        self.types: dict[str, set[str]] = {}
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
            self.types.setdefault(attrs.get("name", ""), set()).add(attrs.get("type", ""))
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
        problem = ""
        if not id:
            problem = f"<{name}>: expected an id, got none"
        elif name == "group" and kind not in _KINDS:
            problem = f"{element}: expected the type {' or '.join(_KINDS)}, got {kind!r}"
        elif id in self.elements:
            problem = f"{element}: expected ids used once, got one of line {self.elements[id].line} again"
        if problem:
            raise FormatError(problem, source=self.source, line=line)
        self.elements[id] = element
        return element
