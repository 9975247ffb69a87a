"""Texts with reference summaries, from tables and Hugging Face datasets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from discsum.constants import HUB, MAX_DOCUMENT_BYTES
from discsum.data.inputs import PARSED, TEXT_COLUMNS
from discsum.data.tables import Failure, count_rows, find_column, read_rows
from discsum.document import Document
from discsum.errors import InputError
from discsum.extras import needs
from discsum.files import sha256
from discsum.hub import local_only

SUMMARY_COLUMNS = ("references", "highlights", "summary")
# Files that `save_to_disk` writes for a dataset and for a folder of splits.
INFO, SPLITS = "dataset_info.json", "dataset_dict.json"


@dataclass(frozen=True)
class Pair:
    """A text and its reference summaries, each with one sentence a line.

    Attributes:
        document: The parsed text, if the input had it.
    """

    id: str
    text: str
    references: tuple[str, ...]
    document: Document | None = None


@dataclass(frozen=True)
class PairSource:
    """A table or a Hugging Face dataset of texts with summaries.

    Attributes:
        name: Path of a table; folder of a saved dataset; or `hf:NAME[:CONFIG[:SPLIT]]` for a dataset on the hub, by
            default its split `train`.
        text_column: Column of the text; by default `article` or `text`.
        summary_column: Column of the summary, or of a list of them; by default `references`, `highlights` or `summary`.
        options: How errors name the two column options.
        max_document_bytes: A longer line or field of a table is a `Failure`; no more of it is read.
    """

    name: str
    text_column: str | None = None
    summary_column: str | None = None
    options: tuple[str, str] = ("--text-column", "--summary-column")
    max_document_bytes: int = MAX_DOCUMENT_BYTES

    @property
    def is_dataset(self) -> bool:
        """Whether the source is a dataset of the library `datasets`."""
        return self.name.startswith(HUB) or (Path(self.name) / INFO).is_file()

    @property
    def is_saved(self) -> bool:
        """Whether the source is a folder of the library `datasets`: a dataset, or splits of which each is one."""
        return any((Path(self.name) / name).is_file() for name in (INFO, SPLITS))

    def identity(self) -> dict[str, Any]:
        """Return the identity of the documents: name, checksum or fingerprint, and columns.

        Raises:
            InputError: Neither a table nor a dataset; for a folder of splits the message lists them.
        """
        columns = {"text_column": self.text_column, "summary_column": self.summary_column}
        if self.is_dataset:
            return {"name": self.name, "fingerprint": self._dataset()._fingerprint} | columns
        path = self._table()
        return {"name": path.name, "sha256": sha256(path)} | columns

    def _table(self) -> Path:
        path = Path(self.name)
        if (path / SPLITS).is_file():
            splits = sorted(info.parent.name for info in path.glob(f"*/{INFO}"))
            example = path / ("train" if "train" in splits else "".join(splits[:1]))
            raise InputError(
                f"{path}: expected a dataset, got a folder of the splits {', '.join(splits) or 'none'}; "
                f"name the folder of one, as {example}"
            )
        if not path.is_file():
            raise InputError(f"{path}: expected a table, a dataset's folder or hf:NAME, found no such file")
        return path

    def count(self) -> int | None:
        """Return the number of rows, if known without reading them."""
        return len(self._dataset()) if self.is_dataset else count_rows(Path(self.name))

    def pairs(self, first: int = 0, last: int | None = None) -> Iterator[Pair | Failure]:
        """Yield the pairs of rows `first` (from 0) to `last` (exclusive); an unusable row becomes a `Failure`.

        Pairs without an `id` are named after the source and the number of their row.

        Raises:
            InputError: A file that is not a table, or a first row without the columns; the message lists those it has.
        """
        rows: Iterator[tuple[str, Any]]
        if self.is_dataset:
            rows = ((f"{self.name}:{number}", dict(row)) for number, row in enumerate(self._dataset(), start=1))
        else:
            rows = read_rows(self._table(), "utf-8", largest=self.max_document_bytes)
        texts = (self.text_column,) if self.text_column else TEXT_COLUMNS
        summaries = (self.summary_column,) if self.summary_column else SUMMARY_COLUMNS
        for number, (source, row) in enumerate(islice(rows, first, last), start=first + 1):
            if isinstance(row, Failure):
                yield row
                continue
            try:
                columns = [
                    find_column(row, choices, f"use {option}")
                    for choices, option in zip((texts, summaries), self.options, strict=True)
                ]
            except InputError as error:
                if number == first + 1:
                    # A table without the columns fails once, not row by row.
                    raise InputError(f"{source}: {error}") from error
                yield Failure(source, str(error))
                continue
            text, references = (row[column] for column in columns)
            try:
                id = str(row["id"]) if row.get("id") not in (None, "") else f"{Path(self.name).stem}-{number}"
                # Rows of `discsum parse --jsonl` that also have summaries keep their trees.
                parsed = self.text_column is None and row.keys() >= PARSED
                document = Document.from_json(row) if parsed else None
                yield Pair(id, _text(text), _references(references), document)
            except InputError as error:
                yield Failure(source, str(error))

    def _dataset(self) -> Any:
        with needs("datasets"):
            from datasets import load_dataset, load_from_disk
        if not self.name.startswith(HUB):
            try:
                return load_from_disk(self.name)
            except Exception as error:
                # Out of a damaged folder comes whatever its content leads to.
                said = str(error).partition("\n")[0] or type(error).__name__
                raise InputError(
                    f"{self.name}: expected the folder of a dataset, as save_to_disk of datasets writes it; got {said}"
                ) from error
        name, _, rest = self.name.removeprefix(HUB).partition(":")
        config, _, split = rest.partition(":")
        local_only(self.name, "dataset")
        try:
            return load_dataset(name, config or None, split=split or "train")  # nosec B615 (tables alone)
        except (ValueError, FileNotFoundError) as error:
            raise InputError(f"{self.name}: expected hf:NAME[:CONFIG[:SPLIT]] of a dataset, got {error}") from error


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"expected a text, got {_shown(value)}")
    return value


def _references(value: Any) -> tuple[str, ...]:
    references = (value,) if isinstance(value, str) else value
    if not isinstance(references, list | tuple) or not all(isinstance(item, str) for item in references):
        raise InputError(f"expected a reference summary or a list of them, got {_shown(value)}")
    if not any(item.strip() for item in references):
        raise InputError(f"expected a reference summary, got {_shown(value)}")
    return tuple(references)


def _shown(value: Any) -> str:
    return repr(value) if len(repr(value)) <= 40 else f"{repr(value)[:40]}…"
