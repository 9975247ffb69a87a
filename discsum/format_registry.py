"""What a format of documents is, and the registry of those there are; `discsum.formats` has one file a format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from discsum.errors import InputError
from discsum.registry import Registry


@dataclass(frozen=True)
class Format:
    """A format's directions, each absent where it has none. A document is a `Document`, which asks for them here.

    Attributes:
        dumps: From a document to the content of a file.
        loads: From such content, and a name for errors, to a document.
        to_object: From a document to an object in memory.
        from_object: From such an object, and a name for errors, to a document.
        suffix: Of the files; by default the format's name.
        has_parser: Whether the content says what parsed it; for others it is the format.
    """

    dumps: Callable[[Any], str] | None = None
    loads: Callable[[str, str], Any] | None = None
    to_object: Callable[[Any], Any] | None = None
    from_object: Callable[[Any, str], Any] | None = None
    suffix: str = ""
    has_parser: bool = False


# Facts: `drawing` is only written, `in_memory` has no files.
FORMATS: Registry[Format] = Registry(
    "format",
    "discsum.formats",
    "discsum.formats",
    wanted=lambda value: "" if isinstance(value, Format) else f"a {Format.__module__}.Format",
)


def writable(*, installed: bool = True) -> list[str]:
    """Return the names of the formats that files have, those of installed packages too unless told otherwise."""
    return FORMATS.names(installed=installed, without=("in_memory",))


def readable(*, installed: bool = True) -> list[str]:
    """Return the names of the formats whose files are read, those of installed packages too unless told otherwise."""
    return FORMATS.names(installed=installed, without=("in_memory", "drawing"))


def suffix(name: str) -> str:
    """Return how the names of a format's files end."""
    return FORMATS[name].suffix or f".{name}"


def suffixes() -> dict[str, str]:
    """Return the names of the formats whose files are read, by how these end."""
    return {suffix(name): name for name in readable()}


def dump(document: Any, name: str) -> str:
    """Return the document as the content of a file of the format.

    Raises:
        InputError: An unknown format, one without files, or a document that it cannot hold.
    """
    write = FORMATS[name].dumps
    if write is None:
        raise InputError(f"expected a format to write among {', '.join(writable())}, got {name!r}")
    return write(document)


def load(content: str, name: str, *, source: str = "") -> Any:
    """Return the document of a file's content; `source` names it in errors.

    Raises:
        InputError: An unknown format, or one that is only written.
        FormatError: Content that is not of the format; the error has the line where one can be named.
    """
    format = FORMATS[name]
    if format.loads is None:
        raise InputError(f"expected a format to read among {', '.join(readable())}, got {name!r}")
    document = format.loads(content.removeprefix("\ufeff"), source)
    return document if format.has_parser else replace(document, parser=name)


def convert(document: Any, name: str) -> Any:
    """Return the document as the format's object in memory.

    Raises:
        InputError: An unknown format, one without objects, or a document that it cannot hold.
    """
    make = FORMATS[name].to_object
    if make is None:
        raise InputError(f"expected a format of objects in memory, got {name!r}")
    return make(document)


def restore(data: Any, name: str, *, source: str = "") -> Any:
    """Return the document of such an object; `source` names it in errors.

    Raises:
        InputError: An unknown format, or one that is not read from objects.
        FormatError: An object that is not of the format.
    """
    read = FORMATS[name].from_object
    if read is None:
        raise InputError(f"expected a format that is read from objects in memory, got {name!r}")
    return read(data, source)
