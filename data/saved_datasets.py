"""Folders that `save_to_disk` of Hugging Face datasets wrote, checked before that library reads them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from discsum.errors import InputError
from discsum.json_objects import checked_fields, read_object
from discsum.recipes.fields import Checked

# Files that `save_to_disk` writes for a dataset and for a folder of splits.
INFO, SPLITS = "dataset_info.json", "dataset_dict.json"
STATE = "state.json"
# Largest size of these files in bytes. The state names each file of the dataset.
LARGEST = 64 << 20


@dataclass(frozen=True)
class _Info(Checked):
    """Fields of `dataset_info.json` that reading depends on."""

    features: dict[str, Any] | None = None


@dataclass(frozen=True)
class _State(Checked):
    """Fields of `state.json` that reading depends on."""

    _data_files: list[dict[str, Any]]
    _fingerprint: str | None = None
    _format_type: str | None = None
    _format_columns: list[str] | None = None
    _format_kwargs: dict[str, Any] | None = None
    _split: str | None = None


def refuse_saved(folder: Path) -> None:
    """Raise `InputError` for a folder of the library `datasets`, whose JSON files would be taken for trees."""
    if (folder / SPLITS).is_file() or all((folder / name).is_file() for name in (INFO, STATE)):
        raise InputError(
            f"{folder}: expected texts, tables or trees, got a dataset saved by save_to_disk of Hugging Face datasets, "
            "which preprocess and evaluate read; write a table of it with load_from_disk and to_json('NAME.jsonl')"
        )


def check_saved(folder: Path) -> None:
    """Check the JSON files of a saved dataset, and that it has the files that they name.

    Raises:
        InputError: A file that is missing, too large or no JSON, or a field of another type; the message names it.
    """
    info = _read(folder / INFO, _Info)
    for name, feature in (info.features or {}).items():
        if not isinstance(feature, dict | list):
            raise InputError(f"{folder / INFO}: features.{name}: expected a feature, got {feature!r:.80}")
    for number, entry in enumerate(_read(folder / STATE, _State)._data_files):
        name = entry.get("filename")
        # Others would be files elsewhere on this machine.
        if not isinstance(name, str) or Path(name).name != name or not (folder / name).is_file():
            raise InputError(
                f"{folder / STATE}: _data_files[{number}].filename: expected the name of a file in this folder, "
                f"got {name!r:.80}"
            )


def damaged_place(folder: Path) -> Path:
    """Return the first Arrow file of a saved dataset that cannot be read to its end; the folder if there is none.

    Raises:
        InputError: The JSON file that names them is damaged.
    """
    from pyarrow import ArrowException, ipc, memory_map

    for entry in _read(folder / STATE, _State)._data_files:
        path: Path = folder / entry["filename"]
        try:
            with memory_map(str(path)) as file:
                ipc.open_stream(file).read_all()
        except (ArrowException, OSError):
            return path
    return folder


def _read(path: Path, kind: Any) -> Any:
    """Return the fields of a file that `kind` has; other versions of the library write others besides."""
    content = read_object(path, InputError, LARGEST)
    known = {field.name: content[field.name] for field in fields(kind) if field.name in content}
    return checked_fields(kind, known, path, InputError)
