"""The interface of document formats and their registry; `discsum.formats` has one file per format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from discsum.errors import InputError
from discsum.registry import Registry

if TYPE_CHECKING:
    from discsum.document import Document


def _not_in_memory(*_: Any) -> Any:
    raise InputError("expected a format of objects in memory")


@dataclass(frozen=True)
class Format:
    """The conversions of a format; those that it lacks are left out.

    Attributes:
        dumps: From a document to the content of a file.
        loads: From the content of a file, and a name for errors, to a document.
        to_object: From a document to an object in memory.
        from_object: From such an object, and a name for errors, to a document.
        suffix: Suffix of the files; by default the format's name.
        has_parser: Whether the content names the parser; otherwise the document's parser is the format's name.
    """

    dumps: Callable[[Document], str] | None = None
    loads: Callable[[str, str], Document] | None = None
    to_object: Callable[[Document], Any] = _not_in_memory
    from_object: Callable[[Any, str], Document] = _not_in_memory
    suffix: str = ""
    has_parser: bool = False


FORMATS: Registry[Format] = Registry(
    "format",
    "discsum.formats",
    "discsum.formats",
    wanted=lambda value: "" if isinstance(value, Format) else f"a {Format.__module__}.Format",
)
# Listed here so that the command line knows its choices without importing the formats.
_IN_MEMORY = ("networkx", "nltk")
_ONLY_WRITTEN = ("svg", "tree")


def writable(*, installed: bool = True) -> list[str]:
    """Return the names of the formats that files are written in; those of installed packages only if `installed`."""
    return _names("dumps", _IN_MEMORY, installed)


def readable(*, installed: bool = True) -> list[str]:
    """Return the names of the formats that files are read in; those of installed packages only if `installed`."""
    return _names("loads", _IN_MEMORY + _ONLY_WRITTEN, installed)


def _names(conversion: str, others: tuple[str, ...], installed: bool) -> list[str]:
    names = [name for name in FORMATS.names(installed=installed) if name not in others]
    return [name for name in names if name in FORMATS.own or getattr(FORMATS[name], conversion)]


def suffix(name: str) -> str:
    """Return the suffix of a format's files."""
    return FORMATS[name].suffix or f".{name}"


def suffixes() -> dict[str, str]:
    """Return the names of the readable formats by suffix."""
    return {suffix(name): name for name in readable()}


def dump(document: Document, name: str) -> str:
    """Return the document as the content of a file of the format.

    Raises:
        InputError: An unknown format, one without files, or a document that it cannot represent.
    """
    write = FORMATS[name].dumps
    if write is None:
        raise InputError(f"expected a format to write among {', '.join(writable())}, got {name!r}")
    return write(document)


def load(content: str, name: str, *, source: str = "") -> Document:
    """Return the document of a file's content; `source` names it in errors.

    Raises:
        InputError: An unknown format, or one that cannot be read.
        FormatError: Content that is not of the format; the error has the line if it is known.
    """
    format = FORMATS[name]
    if format.loads is None:
        raise InputError(f"expected a format to read among {', '.join(readable())}, got {name!r}")
    document = format.loads(content.removeprefix("\ufeff"), source)
    return document if format.has_parser else replace(document, parser=name)
