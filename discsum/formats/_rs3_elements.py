"""The XML of rs3 and rs4 files: segments, groups, declared relations, secondary edges and signals."""

from __future__ import annotations

import io
import xml.sax
import xml.sax.handler
import xml.sax.xmlreader
from dataclasses import dataclass, field

import defusedxml.sax
from defusedxml.common import DefusedXmlException, EntitiesForbidden

from discsum.errors import FormatError
from discsum.formats._plain_text import fold
from discsum.formats._xml_encoding import decode_xml

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
    """The content of an rs3 or rs4 file.

    Attributes:
        items: Its segments and groups by id, in file order.
        types: The declared types of its relations by name; a relation declared without a type may have either.
        secondary: The attributes of its secondary edges, with their lines.
        signals: The attributes of its signals, with their lines.
        signal_types: The declared subtypes of its signals by type.
    """

    items: dict[str, Element] = field(default_factory=dict)
    types: dict[str, set[str]] = field(default_factory=dict)
    secondary: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    signals: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    signal_types: dict[str, str] = field(default_factory=dict)


def read_elements(content: str | bytes, source: str) -> Elements:
    """Return the elements of an rs3 or rs4 file; bytes are read in the encoding that they declare.

    Raises:
        FormatError: Malformed XML, bytes of another encoding, an entity declaration, an element without id, or a
            repeated id.
    """
    handler = _Handler(source)
    parser = defusedxml.sax.make_parser()
    parser.setContentHandler(handler)
    stream = xml.sax.xmlreader.InputSource()
    text = decode_xml(content, source) if isinstance(content, bytes) else content
    stream.setCharacterStream(io.StringIO(text.removeprefix("\ufeff")))
    try:
        parser.parse(stream)
    except xml.sax.SAXParseException as error:
        fault = error.getMessage()
        message = f"expected well-formed XML, got: {fault}{_REMEDIES.get(fault, '')}"
        raise FormatError(message, source=source, line=error.getLineNumber()) from error
    except DefusedXmlException as error:
        remedy = "write the text itself" if isinstance(error, EntitiesForbidden) else "remove the DOCTYPE line"
        message = f"expected XML without entity declarations or external references, got {error}; {remedy}"
        raise FormatError(message, source=source, line=handler.line) from error
    except UnicodeEncodeError as error:
        raise FormatError(f"expected text that UTF-8 can hold, got {error}; remove it", source=source) from error
    return handler.found


_REMEDIES = {
    "no element found": "; the file is empty or truncated",
    "not well-formed (invalid token)": "; in texts, write & as &amp; and < as &lt;, and remove control characters",
    "undefined entity": "; write the character itself, or its number, such as &#160;",
}


class _Handler(xml.sax.handler.ContentHandler):
    def __init__(self, source: str) -> None:
        super().__init__()
        self.found = Elements()
        self.source = source
        # The open segment, and the pieces of its text.
        self.segment: Element | None = None
        self.pieces: list[str] = []
        self.locator: xml.sax.xmlreader.Locator | None = None

    @property
    def line(self) -> int | None:
        return self.locator.getLineNumber() if self.locator else None

    def setDocumentLocator(self, locator: xml.sax.xmlreader.Locator) -> None:  # noqa: N802
        self.locator = locator

    def startElement(self, name: str, attrs: xml.sax.xmlreader.AttributesImpl) -> None:  # noqa: N802
        if name == "rel":
            kind, label = attrs.get("type", ""), fold(attrs.get("name", ""))
            # RSTTool's files may leave the type out.
            self.found.types.setdefault(label, set()).update([kind] if kind else ["rst", "multinuc"])
        elif name == "sig":
            self.found.signal_types[attrs.get("type", "")] = attrs.get("subtypes", "")
        elif name in ("secedge", "signal"):
            kept = self.found.secondary if name == "secedge" else self.found.signals
            kept.append((self.line or 0, dict(attrs.items())))
        elif name in ("segment", "group"):
            element = self._element(name, attrs)
            if element.kind == "segment":
                if self.segment is not None:
                    message = f"{element}: expected segments side by side, got it inside {self.segment}; close that one"
                    raise FormatError(message, source=self.source, line=element.line)
                self.segment = element

    def endElement(self, name: str) -> None:  # noqa: N802
        if name == "segment" and self.segment is not None:
            self.segment.text = "".join(self.pieces)
            self.segment, self.pieces = None, []

    def characters(self, content: str) -> None:
        if self.segment is not None:
            self.pieces.append(content)

    def _element(self, name: str, attrs: xml.sax.xmlreader.AttributesImpl) -> Element:
        line = self.line or 0
        id = attrs.get("id", "")
        kind = "segment" if name == "segment" else attrs.get("type", "")
        element = Element(id, kind, attrs.get("parent", ""), fold(attrs.get("relname", "")), line)
        problem = ""
        if not id:
            problem = f"<{name}>: expected an id, got none; give it one that no other element has"
        elif name == "group" and kind not in _KINDS:
            problem = f"{element}: expected the type {' or '.join(_KINDS)}, got {kind!r}; correct it"
        elif id in self.found.items:
            problem = (
                f"{element}: expected each id once, got that of line {self.found.items[id].line} again; give one of "
                "the two another id, also wherever it is named as parent"
            )
        if problem:
            raise FormatError(problem, source=self.source, line=line)
        self.found.items[id] = element
        return element
