"""Formats of documents: tree files, drawings, and objects of other libraries; one module each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discsum.errors import FormatError, InputError
from discsum.format_registry import FORMATS, Format, dump, load, readable, suffix, suffixes, writable

if TYPE_CHECKING:
    from discsum.document import Document

register, register_file = FORMATS.register, FORMATS.register_file


def read_tree(path: Path, encoding: str = "utf-8") -> Document:
    """Return the document of a tree file; the suffix gives the format, the file's stem the document's id.

    Raises:
        InputError: An unknown suffix, or a file that cannot be opened.
        FormatError: A file in another encoding, or not of its format.
    """
    names = suffixes()
    name = names.get(path.suffix.lower())
    if name is None:
        raise InputError(f"{path}: expected a tree file ({', '.join(names)}), got the suffix {path.suffix!r}")
    try:
        content = path.read_bytes().decode(encoding)
    except OSError as error:
        raise InputError(f"{path}: expected a file to read, got: {error.strerror}") from error
    except UnicodeDecodeError as error:
        message = f"expected {encoding}, got byte 0x{error.object[error.start]:02x} at offset {error.start}"
        raise FormatError(message, source=str(path)) from error
    return load(content, name, source=str(path)).with_id(path.stem)


__all__ = [
    "FORMATS",
    "Format",
    "dump",
    "load",
    "read_tree",
    "readable",
    "register",
    "register_file",
    "suffix",
    "suffixes",
    "writable",
]
