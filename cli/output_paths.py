"""Paths that options name as outputs: callbacks of these options, and checks before anything is loaded."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import typer

from discsum.data.compressed import PACKED
from discsum.data.listings import before_pattern, parts_of
from discsum.data.storage import Location, is_pattern, is_url, location
from discsum.data.tables import is_table
from discsum.errors import InputError
from discsum.files import folded, is_device
from discsum.format_registry import suffix as format_suffix
from discsum.format_registry import writable

# Endings of pictures and print formats, which no format writes.
_PICTURES = (".gif", ".jpeg", ".jpg", ".pdf", ".png", ".webp")
# Endings of office documents and spreadsheets.
_OFFICE = (".doc", ".docx", ".odt", ".pptx", ".rtf", ".xls", ".xlsx", ".xml")


def check_ending(path: Path, suffix: str, option: str) -> None:
    """Raise `BadParameter` if a file's name has the ending of a format other than the one written."""
    same = {suffix, ".txt", *([".jsonl"] if suffix == ".json" else [])}
    ending = path.suffix.lower()
    remedy = ""
    if ending in same:
        return
    if ending in _PICTURES:
        remedy = "change the ending; of pictures, only SVG is written (parse --format svg)"
    elif ending in _OFFICE:
        remedy = "change the ending; results are plain text"
    elif ending in PACKED:
        remedy = f"results are not compressed; leave out {ending}"
    elif ending in map(format_suffix, writable()) or is_table(path):
        remedy = (
            "change the ending, or choose its format (--json; other formats of parse: --format; pages of extract: "
            "--report)"
        )
    if remedy:
        raise typer.BadParameter(
            f"expected a file name that ends in {suffix}, got {path.name}; {remedy}", param_hint=option
        )


def check_outside(folder: Location, inputs: Sequence[str], suffix: str = "") -> None:
    """Raise `InputError` if an input includes files of the output folder: a repeated run would read them.

    With `suffix`, only files that end in it are written, which patterns of another ending do not include.
    """
    for name in inputs:
        if name != "-" and _reads(name, folder, suffix):
            raise InputError(f"{folder}: expected an output folder outside the inputs, got one inside {name}")


def _reads(name: str, folder: Location, suffix: str) -> bool:
    """Return whether an input folder or pattern includes files in `folder` or below it that end in `suffix`."""
    source = location(name)
    if isinstance(source, Path) != isinstance(folder, Path):
        return False
    parts = _own_parts(source)
    fixed = parts
    if is_pattern(source) and not (isinstance(source, Path) and source.exists()):
        fixed = tuple(before_pattern(parts))
        ending = Path(parts[-1]).suffix.lower()
        if suffix and ending and not re.search(r"[*?[]", ending) and ending != suffix:
            return False
    rest = _below(folder, Path(*fixed)) if isinstance(folder, Path) else _parts_after(_own_parts(folder), fixed)
    return rest is not None and _matches(parts[len(fixed) :] or ("**",), rest)


def _below(path: Path, folder: Path) -> tuple[str, ...] | None:
    """Return the parts of a path after those of a folder; None if the path is not in the folder."""
    path, folder = path.resolve(), folder.resolve()
    inside = (len(parent.parts) for parent in (path, *path.parents) if _is_same(parent, folder))
    depth = next(inside, None)
    return None if depth is None else path.parts[depth:]


def _parts_after(parts: tuple[str, ...], before: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the parts of a path in a store after those of a folder; None if it is not in the folder."""
    return parts[len(before) :] if parts[: len(before)] == before else None


def _is_same(first: Path, second: Path) -> bool:
    """Return whether two resolved paths are the same file, possibly with other capitals on systems that ignore case."""
    if first == second:
        return True
    return folded(first) == folded(second) and first.exists() and second.exists() and first.samefile(second)


def _own_parts(path: Location) -> tuple[str, ...]:
    """Return the parts of a path, whose schemes are the same for the same store."""
    # The current folder has none.
    parts = parts_of(path)
    return tuple({"s3a:": "s3:", "gcs:": "gs:"}.get(part.lower(), part) for part in parts[:1]) + parts[1:]


def _matches(pattern: Sequence[str], place: Sequence[str]) -> bool:
    """Return whether files in a folder or below it may match a pattern; both are given as path parts."""
    if not pattern or not place:
        return bool(pattern)
    return pattern[0] == "**" or (fnmatchcase(place[0], pattern[0]) and _matches(pattern[1:], place[1:]))


def is_json_lines(output: str | None) -> bool:
    """Return whether the name of an output asks for one JSON object per line."""
    return output is not None and output.lower().endswith(".jsonl") and not Path(output).is_dir()


def local_path(output: str | None) -> str | None:
    """Return the path of an output, or None, unchanged; the callback of options that name an output.

    Raises:
        BadParameter: A URL.
    """
    if output is not None and is_url(output):
        raise typer.BadParameter(
            f"expected a path on this machine, got the URL {output}; only preprocess, and other commands with "
            "--shards, write to stores"
        )
    return output


def check_no_stream(folder: str) -> str:
    """Return the name of an output folder unchanged.

    Raises:
        BadParameter: `-`, which stands for standard output.
    """
    if folder == "-":
        raise typer.BadParameter("expected a folder, got -, which stands for standard output (a folder: ./-)")
    return folder


def local_folder(output: str | None) -> str | None:
    """Return the path of an output folder, or None, unchanged; the callback of options that name a folder.

    Raises:
        BadParameter: A URL, or `-`.
        InputError: A file, or a folder that cannot be written.
    """
    if local_path(output) is not None:
        check_writable(Path(check_no_stream(str(output))), folder=True)
    return output


def check_no_input(path: Path, inputs: Mapping[str, Sequence[Path]], option: str = "--output") -> None:
    """Raise `InputError` for an output that is one of the input files, as `input_files` returns them."""
    resolved = path.resolve()
    if any(_is_same(resolved, known) for known in inputs.get(folded(resolved), ())):
        raise InputError(f"{path}: expected another file for {option}, this one is an input")


def check_writable(path: Path, *, folder: bool, option: str = "--output") -> None:
    """Raise `InputError` for an output that cannot be written; called before models are loaded; not for devices."""
    if not folder and is_device(path):
        return
    if path.exists() and path.is_dir() != folder:
        wanted, found = ("a folder", "a file") if folder else ("a file", "a folder")
        raise InputError(f"{path}: expected {wanted} for {option}, got {found}")
    parent = path if folder else path.parent
    while not parent.exists() and parent != parent.parent:
        parent = parent.parent
    if not parent.is_dir():
        raise InputError(f"{path}: expected a writable path for {option}, got one in {parent}, which is not a folder")
    if not os.access(parent, os.W_OK):
        raise InputError(f"{path}: expected a writable path for {option}, got one in {parent}, which is read-only")
