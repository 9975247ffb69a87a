"""The interface of document formats and their registry; `discsum.formats` has one file per format."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discsum.byte_order_marks import marked_encoding
from discsum.constants import ROOTS
from discsum.errors import FormatError, FormatWarning, InputError, warn_caller
from discsum.registry import Registry

if TYPE_CHECKING:
    from discsum.document import Document

# What errors about bytes of another encoding tell the user to do.
NAME_ENCODING = (
    "name the file's encoding with --encoding, for example --encoding windows-1251 (in Python, read_tree(..., "
    "encoding=...))"
)
# Shorter content may be a path that was given by mistake.
LONGEST_PATH = 500
# Held while warnings are caught; readers may call each other.
_CATCHING = threading.RLock()


def _not_in_memory(*_: Any) -> Any:
    raise InputError("expected a format of Python objects")


@dataclass(frozen=True)
class Format:
    """The conversions that a format supports.

    Attributes:
        dumps: Converts a document to the content of a file.
        loads: Converts the content of a file, with a name for errors, to a document.
        to_object: Converts a document to an object in memory.
        from_object: Converts such an object, with a name for errors, to a document.
        preview: Converts a document, tree or summary to a piece of HTML, for notebooks.
        suffix: Suffix of the files; by default the format's name.
        has_parser: Whether the content names the parser; otherwise the document's parser is the format's name.
        loads_all: Like `loads`, for content that may hold several documents; it attaches the warnings of each by
            `with_warnings`.
        takes: Additional arguments of the functions: `bytes` if `loads` finds the encoding of bytes itself, `roots` if
            `loads` has that keyword (see `load`), `brackets` if `dumps` has that keyword (see `dump`).
    """

    dumps: Callable[..., str] | None = None
    loads: Callable[..., Document] | None = None
    to_object: Callable[..., Any] = _not_in_memory
    from_object: Callable[[Any, str], Document] = _not_in_memory
    preview: Callable[[Any], str] = _not_in_memory
    suffix: str = ""
    has_parser: bool = False
    loads_all: Callable[..., list[Document]] | None = None
    takes: tuple[str, ...] = ()


def _wanted(value: Any) -> str:
    if not isinstance(value, Format):
        return f"a {Format.__module__}.Format"
    usual = not value.suffix or (value.suffix.startswith(".") and value.suffix == value.suffix.lower())
    return "" if usual else "a suffix in lower case that starts with a dot, such as .edus"


FORMATS: Registry[Format] = Registry(
    "format",
    "discsum.formats",
    "discsum.formats",
    wanted=_wanted,
)
# Listed here so that the command line knows its choices without importing the formats.
_IN_MEMORY = ("networkx", "nltk")
_ONLY_WRITTEN = ("html", "svg", "tree")


def writable(*, installed: bool = True) -> list[str]:
    """Return the names of the formats that can be written; formats of installed packages only if `installed`."""
    return _names("dumps", _IN_MEMORY, installed)


def readable(*, installed: bool = True) -> list[str]:
    """Return the names of the formats that can be read; formats of installed packages only if `installed`."""
    return _names("loads", _IN_MEMORY + _ONLY_WRITTEN, installed)


def _names(conversion: str, others: tuple[str, ...], installed: bool) -> list[str]:
    names = [name for name in FORMATS.names(installed=installed) if name not in others]
    return [name for name in names if name in FORMATS.own or getattr(_foreign(name), conversion)]


def _foreign(name: str) -> Format:
    """Return the format of another package; one that cannot be loaded has no conversions, and warns."""
    try:
        return FORMATS[name]
    except InputError as error:
        warn_caller(f"left out a format: {error}")
        return Format()


def suffix(name: str) -> str:
    """Return the suffix of a format's files."""
    return FORMATS[name].suffix or f".{name.lower()}"


def suffixes() -> dict[str, str]:
    """Return the names of the readable formats by suffix."""
    # The package's own readable formats are named by their suffixes, so none is imported to know it.
    names = readable()
    found = {f".{name}": name for name in names if name in FORMATS.own}
    for name in names:
        if name not in FORMATS.own and found.setdefault(suffix(name), name) != name:
            warn_caller(
                f"format {name}: expected a suffix of its own, got {suffix(name)}, which is read as "
                f"{found[suffix(name)]}"
            )
    return found


def dump(document: Document, name: str, *, brackets: bool = False) -> str:
    """Return the document as the content of a file of the format.

    With `brackets`, the round brackets of texts are written as `-LRB-` and `-RRB-`, for readers of dis such as NLTK's.

    Raises:
        TypeError: Something else than a document.
        InputError: An unknown format, one without files or without brackets, or a document that it cannot represent,
            such as one without a tree.
    """
    if not hasattr(document, "require_tree"):
        raise TypeError(f"expected a Document, got {type(document).__name__}; parse a text first")
    format = FORMATS[name]
    if format.dumps is None:
        raise InputError(f"expected one of the writable formats {', '.join(writable())}, got {name!r}")
    if brackets and "brackets" not in format.takes:
        raise InputError(f"brackets: expected a format whose brackets can be escaped, such as dis, got {name!r}")
    found = format.dumps(document, **({"brackets": True} if brackets else {}))
    if not isinstance(found, str):
        raise TypeError(f"format {name}: expected dumps to return str, got {type(found).__name__}")
    return found


def load(content: str | bytes, name: str, *, source: str = "", roots: str = "join") -> Document:
    """Return the document of a file's content, with the warnings issued while it is read.

    Args:
        content: The content; bytes are read as UTF-8, or in the encoding that an XML file declares.
        name: The format's name.
        source: The file's name, for errors.
        roots: How to read a file with several roots (rs3, rs4, rsd): `join` joins them in text order under the relation
            `unattached`, `drop` leaves out all but the largest, `error` refuses the file.

    Raises:
        TypeError: Content that is neither `str` nor `bytes`.
        InputError: An unknown format, or one that cannot be read; unknown `roots`; or a path in place of the content.
        FormatError: Content that is not of the format; the error has the line if it is known.
    """
    format = FORMATS[name]
    loads = format.loads
    if loads is None:
        raise InputError(f"expected one of the readable formats {', '.join(readable())}, got {name!r}")
    given, options = _content(content, format, source), _options(format, roots)
    return _named(with_warnings(lambda: _document(loads(given, source, **options), name)), name)


def load_all(content: str | bytes, name: str, *, source: str = "", roots: str = "join") -> list[Document]:
    """Return the documents of a file's content, which may be several in dis; arguments and errors as in `load`."""
    format = FORMATS[name]
    if format.loads_all is None:
        return [load(content, name, source=source, roots=roots)]
    found = format.loads_all(_content(content, format, source), source, **_options(format, roots))
    if not isinstance(found, list):
        raise TypeError(f"format {name}: expected loads_all to return a list, got {type(found).__name__}")
    return [_named(_document(document, name), name) for document in found]


def with_warnings(read: Callable[[], Document]) -> Document:
    """Return the document that `read` returns, with the format warnings that are issued added; they are issued as well.

    Warnings of other kinds may come from other threads.
    """
    # `catch_warnings` changes the whole process: of two threads at once, one would restore the state of the other, or
    # record what the other issues again.
    with _CATCHING:
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                document = read()
        finally:
            for one in caught:
                warn_caller(one.message)
    said = dict.fromkeys(str(one.message) for one in caught if isinstance(one.message, FormatWarning))
    return replace(document, warnings=(*document.warnings, *said)) if said else document


def _content(content: str | bytes, format: Format, source: str) -> str | bytes:
    if isinstance(content, bytes):
        if "bytes" in format.takes:
            return content
        content = decode_tree(content, "utf-8", source)
    if not isinstance(content, str):
        kind = type(content).__name__
        raise TypeError(f"content: expected str or bytes, got {kind}; read files with discsum.formats.read_tree")
    if not source and len(content) < LONGEST_PATH and Path(content).suffix.lower() in suffixes():
        raise InputError(f"expected the content of a file, got the path {content!r}; use discsum.formats.read_tree")
    return content.removeprefix("\ufeff")


def decode_tree(content: bytes, encoding: str, source: str) -> str:
    """Return the text of a tree file's bytes; a byte order mark takes precedence over `encoding`.

    Raises:
        FormatError: Bytes that the encoding does not allow; the message says how to name another.
        InputError: No such encoding.
    """
    name = marked_encoding(content) or encoding
    try:
        return content.decode(name).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        message = f"expected {name}, got byte 0x{content[error.start]:02x} at offset {error.start}; {NAME_ENCODING}"
        raise FormatError(message, source=source) from error
    except UnicodeError as error:
        raise FormatError(f"expected {name}, got: {error}; {NAME_ENCODING}", source=source) from error
    except LookupError as error:
        raise InputError(f"encoding: expected the name of a text encoding, got {name!r}") from error


def _options(format: Format, roots: str) -> dict[str, Any]:
    if roots not in ROOTS:
        raise InputError(f"roots: expected one of {', '.join(ROOTS)}, got {roots!r}")
    return {"roots": roots} if "roots" in format.takes else {}


def _document(found: Any, name: str) -> Any:
    """Return what a format has read; raise `TypeError` if it is not a document."""
    if not hasattr(found, "require_tree"):
        raise TypeError(f"format {name}: expected loads to return a Document, got {type(found).__name__}")
    return found


def _named(document: Document, name: str) -> Document:
    return document if FORMATS[name].has_parser else replace(document, parser=name)
