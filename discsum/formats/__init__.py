"""Formats of documents: tree files, drawings, and objects of other libraries; one module each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discsum.constants import DECLARED, MAX_DOCUMENT_BYTES
from discsum.errors import InputError
from discsum.files import read_at_most, replacing
from discsum.format_registry import (
    FORMATS,
    Format,
    decode_tree,
    dump,
    load,
    load_all,
    readable,
    suffix,
    suffixes,
    writable,
)

if TYPE_CHECKING:
    from discsum.document import Document

register = FORMATS.register


def read_tree(
    path: str | Path, encoding: str = DECLARED, roots: str = "join", largest: int = MAX_DOCUMENT_BYTES
) -> Document:
    """Return the document of a tree file; the suffix gives the format, the file's stem the document's id.

    Args:
        path: The file.
        encoding: Its encoding; by default what an XML file declares, UTF-8 otherwise.
        roots: How to read a file with several roots; see `load`.
        largest: Largest size of the file in bytes.

    Raises:
        InputError: An unknown suffix, encoding or `roots`, a larger file, or a file that cannot be opened.
        FormatError: A file in another encoding, not of its format, or with several documents.
    """
    path = Path(path)
    content, name = _read(path, encoding, largest)
    return load(content, name, source=str(path), roots=roots).with_id(path.stem)


def read_trees(
    path: str | Path, encoding: str = DECLARED, roots: str = "join", largest: int = MAX_DOCUMENT_BYTES
) -> list[Document]:
    """Return the documents of a tree file; if there are several, as in dis, they are named `stem-1`, `stem-2`, ...

    Arguments and errors are those of `read_tree`, except that there may be several documents.
    """
    path = Path(path)
    content, name = _read(path, encoding, largest)
    found = load_all(content, name, source=str(path), roots=roots)
    if len(found) == 1:
        return [found[0].with_id(path.stem)]
    return [document.with_id(f"{path.stem}-{number}") for number, document in enumerate(found, start=1)]


def write_tree(document: Document, path: str | Path) -> None:
    """Write a document to a file, whole or not at all; the suffix gives the format, such as `.rs4` or `.svg`.

    Folders that are missing are made.

    Raises:
        TypeError: Something else than a document.
        InputError: An unknown suffix, or a document that the format cannot represent.
        OSError: The file cannot be written.
    """
    path = Path(path)
    names = {suffix(name): name for name in writable()}
    if path.suffix.lower() not in names:
        raise InputError(f"{path}: expected a suffix among {', '.join(names)}, got {path.suffix!r}")
    content = dump(document, names[path.suffix.lower()])
    with replacing(path) as unfinished:
        unfinished.write_text(content, encoding="utf-8", newline="")


def _read(path: Path, encoding: str, largest: int) -> tuple[str | bytes, str]:
    """Return the content of a file, decoded if an encoding is named, and its format."""
    names = suffixes()
    name = names.get(path.suffix.lower())
    if path.is_dir():
        raise InputError(
            f"{path}: expected a tree file, got a folder; read it with discsum.parsers.tree_folder.read_folder"
        )
    if name is None:
        remedy = "rename it to the suffix of its format"
        if path.suffix.lower() in (".jsonl", ".ndjson"):
            remedy = "read each line with json.loads and Document.from_json"
        raise InputError(f"{path}: expected a tree file ({', '.join(names)}), got the suffix {path.suffix!r}; {remedy}")
    try:
        content = read_at_most(path, largest, "; raise largest (--max-document-bytes)")
    except OSError as error:
        raise InputError(f"{path}: expected a file to read, got: {error.strerror}") from error
    return (content if encoding == DECLARED else decode_tree(content, encoding, str(path))), name


__all__ = [
    "FORMATS",
    "Format",
    "dump",
    "load",
    "load_all",
    "read_tree",
    "read_trees",
    "readable",
    "register",
    "suffix",
    "suffixes",
    "writable",
    "write_tree",
]
