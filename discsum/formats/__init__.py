"""Tree formats: rs3, rs4, dis, rsd and json in both directions, svg to look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from discsum.document import Document
from discsum.errors import FormatError, InputError
from discsum.formats import dis, json, rs3, rsd, svg


@dataclass(frozen=True, slots=True)
class Format:
    """A format's two directions; `loads` takes the content and a name for errors, and is absent for drawings."""

    dumps: Callable[[Document], str]
    loads: Callable[[str, str], Document] | None = None


FORMATS = {
    "rs3": Format(rs3.dumps, rs3.loads),
    "rs4": Format(rs3.dumps, rs3.loads),
    "dis": Format(dis.dumps, dis.loads),
    "rsd": Format(rsd.dumps, rsd.loads),
    "json": Format(json.dumps, json.loads),
    "svg": Format(svg.dumps),
}
READABLE = tuple(name for name, format in FORMATS.items() if format.loads)


def dump(document: Document, name: str) -> str:
    """Return the document as the content of a file of the format.

    Raises:
        InputError: An unknown format, or a document that it cannot hold.
    """
    if name not in FORMATS:
        raise InputError(f"expected a format among {', '.join(FORMATS)}, got {name!r}")
    return FORMATS[name].dumps(document)


def load(content: str, name: str, *, source: str = "") -> Document:
    """Return the document of a file's content; `source` names it in errors.

    Raises:
        InputError: An unknown format, or one that is only written.
        FormatError: Content that is not of the format; the error has the line where one can be named.
    """
    read = FORMATS[name].loads if name in FORMATS else None
    if read is None:
        raise InputError(f"expected a format to read among {', '.join(READABLE)}, got {name!r}")
    document = read(content.removeprefix("\ufeff"), source)
    return document if name == "json" else replace(document, parser=name)


def read_tree(path: Path, encoding: str = "utf-8") -> Document:
    """Return the document of a tree file, its format told by the suffix, its id the file's stem.

    Raises:
        InputError: Another suffix, or a file that cannot be opened.
        FormatError: A file that is not of the encoding or not of its format.
    """
    name = path.suffix.lower().removeprefix(".")
    if name not in READABLE:
        suffixes = ", ".join(f".{readable}" for readable in READABLE)
        raise InputError(f"{path}: expected a tree file ({suffixes}), got the suffix {path.suffix!r}")
    try:
        content = path.read_bytes().decode(encoding)
    except OSError as error:
        raise InputError(f"{path}: expected a file to read, got: {error.strerror}") from error
    except UnicodeDecodeError as error:
        message = f"expected {encoding}, got byte 0x{error.object[error.start]:02x} at offset {error.start}"
        raise FormatError(message, source=str(path)) from error
    return load(content, name, source=str(path)).with_id(path.stem)
