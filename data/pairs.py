"""Texts with reference summaries, from tables and Hugging Face datasets."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from discsum.batches import map_ahead
from discsum.constants import HUB, MAX_DOCUMENT_BYTES, READABLE_BYTES
from discsum.data.divided_tables import DOCUMENTS_INSTEAD, DividedTables, undivided
from discsum.data.failures import RAISE, Failure, is_larger
from discsum.data.listed_sentences import ROWS, ListedSentences, check_no_list_as_text, clipped
from discsum.data.saved_datasets import INFO, SPLITS, check_saved, damaged_place
from discsum.data.shard_sizes import BYTES, DOCUMENTS
from discsum.data.slices import ENCODING, Row
from discsum.data.storage import READERS, Location, Stored, check_unchanged, is_url
from discsum.data.table_files import identity_of, table_files
from discsum.data.tables import SAME_COLUMNS, count_rows, find_column, own_id, read_rows, row_id, warn_of_other_columns
from discsum.data.text_columns import document_columns, holds_document, text_columns
from discsum.document import Document
from discsum.errors import InputError
from discsum.extras import needs
from discsum.files import sha256
from discsum.hub import local_only
from discsum.json_objects import json_type

REFERENCES = "references"
SUMMARY_COLUMNS = (REFERENCES, "highlights", "summary")
# Columns of a single summary, also if the user names them: a list has its sentences. Others have several summaries.
WHOLE = ("highlights", "summary")


@dataclass(frozen=True)
class Pair:
    """A text and its reference summaries, each with one sentence per line.

    Attributes:
        document: The parsed text, if the input was parsed.
        source: File and line, for messages; empty if unknown.
    """

    id: str
    text: str
    references: tuple[str, ...]
    document: Document | None = None
    source: str = field(default="", compare=False)

    @property
    def has_tree(self) -> bool:
        """Whether the text came with its own tree."""
        return self.document is not None and self.document.tree is not None


@dataclass(frozen=True)
class PairSource:
    """Tables or a Hugging Face dataset of texts with summaries.

    Attributes:
        name: Path or URL of a table, of a folder of tables, or a pattern such as `train/*.parquet`; folder of a saved
            dataset; or `hf:NAME[:CONFIG[:SPLIT]]` for a dataset on the hub, by default its split `train`.
        text_column: Column of the text; by default `article` or `text`.
        summary_column: Column of the summary, or of a list of several; by default `references`, `highlights` or
            `summary`. In the latter two a list has the sentences of one summary.
        options: How errors name the two column options.
        max_document_bytes: A longer line or field of a table is a `Failure`; no more of it is read.
        texts: Whether the rows need texts; otherwise those of the pairs are empty.

    Raises:
        InputError: One column for both text and summary.
    """

    name: str
    text_column: str | None = None
    summary_column: str | None = None
    options: tuple[str, str] = ("--text-column", "--summary-column")
    max_document_bytes: int = MAX_DOCUMENT_BYTES
    texts: bool = True

    def __post_init__(self) -> None:
        """Check that text and summary are not the same column."""
        object.__setattr__(self, "max_document_bytes", min(self.max_document_bytes, READABLE_BYTES))
        if self.text_column is not None and self.text_column == self.summary_column:
            names = " and ".join(self.options)
            raise InputError(f"{names}: expected different columns, got {self.text_column} for both")

    @property
    def is_dataset(self) -> bool:
        """Whether the source is a dataset of the library `datasets`."""
        if is_url(self.name):
            return False
        return self.name.startswith(HUB) or (Path(self.name) / INFO).is_file()

    @property
    def is_saved(self) -> bool:
        """Whether the source is a folder of the library `datasets`: a dataset, or a folder of splits."""
        return not is_url(self.name) and any((Path(self.name) / name).is_file() for name in (INFO, SPLITS))

    def identity(self, *, hashed: bool = True) -> dict[str, Any]:
        """Return the identity of the documents: name, checksum or fingerprint, and columns.

        Args:
            hashed: Whether to read all of a single local table for its SHA-256. Otherwise, and for remote or several
                tables, the identity is that of `identity_of`, which reads only samples of tables that workers read.

        Raises:
            InputError: Neither a table nor a dataset; for a folder of splits the message lists them.
        """
        columns: dict[str, Any] = {"text_column": self.text_column, "summary_column": self.summary_column}
        if self.max_document_bytes != MAX_DOCUMENT_BYTES:
            columns["max_document_bytes"] = self.max_document_bytes
        if self.is_dataset:
            return {"name": self.name, "fingerprint": self._dataset()._fingerprint} | columns
        files = self.files
        path = files[0].path
        if hashed and path == Path(self.name):
            return {"name": path.name, "sha256": sha256(path)} | columns
        whole = undivided(files) is not None or (hashed and len(files) == 1)
        return identity_of(self.name, files, whole=whole) | columns

    @cached_property
    def files(self) -> list[Stored]:
        """The tables by name, listed once, so that identity and rows are of the same files.

        Raises:
            InputError: There are none, or they are a folder of splits.
        """
        path = Path(self.name)
        if not is_url(self.name) and (path / SPLITS).is_file():
            splits = sorted(info.parent.name for info in path.glob(f"*/{INFO}"))
            example = path / ("train" if "train" in splits else "".join(splits[:1]))
            raise InputError(
                f"{path}: expected a dataset, got a folder of the splits {', '.join(splits) or 'none'}; "
                f"name the folder of one split, such as {example}"
            )
        return table_files(self.name)

    def count(self) -> int | None:
        """Return the number of rows; None if `count_rows` does not count one of the tables."""
        if self.is_dataset:
            return len(self._dataset())
        counts = list(map_ahead(count_rows, [file.path for file in self.files], READERS))
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    def pairs(self, first: int = 0, last: int | None = None) -> Pairs:
        """Return the pairs of rows `first` (from 0) to `last` (exclusive); an unusable row is a `Failure`.

        Pairs without an `id` are named after the table and the number of their row.
        """
        return Pairs(self, first, last)

    def pair(self, source: str, id: str, row: dict[str, Any] | Failure) -> Pair | Failure:
        """Return the pair of a row, or a `Failure`.

        Args:
            source: File and line for errors.
            id: Id of the document if the row has none.
            row: Content of the row.
        """
        if isinstance(row, Failure):
            return row
        try:
            *text_columns, summary_column = self.columns(row)
            text = row[text_columns[0]] if text_columns else None
            if isinstance(text, str) and is_larger(text, self.max_document_bytes):
                raise InputError(f"expected a text of at most {self.max_document_bytes:,} bytes, got more; {RAISE}")
            id = own_id(row.get("id")) or id
            # Rows of `discsum parse --jsonl` that also have summaries keep their trees.
            parsed = self.texts and holds_document(row, self.text_column)
            document = Document.from_json(row | {"id": id}) if parsed else None
            references = _references(row[summary_column], summary_column in WHOLE)
            return Pair(id, _text(text) if self.texts else "", references, document, source)
        except InputError as error:
            return Failure(source, str(error))

    def pair_of(self, table: Location, row: Row) -> Pair | Failure:
        """Return the pair of a row of a table that workers read, or a `Failure`."""
        return self.pair(row.source, row_id(table, row.label), row.content)

    def columns(self, row: Mapping[str, Any]) -> list[str]:
        """Return the columns of text, if the rows need one, and summary.

        Raises:
            InputError: The row lacks one of them; the message lists the columns it has.
        """
        return [find_column(row, choices, remedy) for choices, remedy in self._choices(row)]

    def warn_of_other_columns(self, row: Mapping[str, Any], table: str) -> None:
        """Warn if a table has several columns of texts or of summaries; a single summary may be beside `references`."""
        for choices, remedy in self._choices(row):
            if REFERENCES not in choices or REFERENCES not in row:
                warn_of_other_columns(row, choices, remedy, table)

    def _choices(self, row: Mapping[str, Any]) -> list[tuple[Sequence[str], str]]:
        """Return the columns that may hold the text, if one is needed, and the summary, each with advice."""
        texts = text_columns(row, self.text_column)
        summaries = (self.summary_column,) if self.summary_column else SUMMARY_COLUMNS
        found = [(choices, f"use {option}") for choices, option in zip((texts, summaries), self.options, strict=True)]
        return found if self.texts else found[1:]

    def needed_columns(self, names: Iterable[str]) -> list[str]:
        """Return the columns of a table that may hold text and summary; raises the errors of `columns`."""
        row = dict.fromkeys(names)
        self.columns(row)
        choices = [name for names, _ in self._choices(row) for name in names]
        return document_columns(row, choices, self.text_column)

    def rows(self) -> Iterator[tuple[str, str, dict[str, Any] | Failure]]:
        """Yield for each row its file and line, the id of the document if the row has none, and the row.

        Raises:
            InputError: A file that is not a table.
        """
        if self.is_dataset:
            stem = Path(self.name).stem
            for number, row in enumerate(self._dataset(), start=1):
                yield f"{self.name}:{number}", f"{stem}-{number}", dict(row)
            return
        for file in self.files:
            check_unchanged(file)
            rows = read_rows(file.path, ENCODING, largest=self.max_document_bytes, columns=self.needed_columns)
            for number, (source, row) in enumerate(rows, start=1):
                yield source, row_id(file.path, str(number)), row

    def _dataset(self) -> Any:
        with needs("datasets"):
            from datasets import load_dataset, load_from_disk
        if not self.name.startswith(HUB):
            check_saved(Path(self.name))
            try:
                return load_from_disk(self.name)
            except Exception as error:
                # A damaged folder may raise any exception.
                said = str(error).partition("\n")[0] or type(error).__name__
                place = damaged_place(Path(self.name))
                raise InputError(
                    f"{place}: expected what save_to_disk of Hugging Face datasets writes, got {said}; save or copy "
                    "the dataset again"
                ) from error
        name, _, rest = self.name.removeprefix(HUB).partition(":")
        config, _, split = rest.partition(":")
        local_only(self.name, "dataset")
        try:
            return load_dataset(name, config or None, split=split or "train")  # nosec B615 # tables alone
        except Exception as error:
            if isinstance(error, OSError) and error.errno and not isinstance(error, FileNotFoundError):
                raise
            # Datasets with a loading script or inconsistent files raise any exception.
            said = " ".join(str(error).split()) or type(error).__name__
            raise InputError(f"{self.name}: expected hf:NAME[:CONFIG[:SPLIT]] of a dataset, got {said}") from error


@dataclass(frozen=True)
class Pairs:
    """The pairs of rows `first` to `last` (exclusive) of a source; an unusable row is a `Failure`."""

    source: PairSource
    first: int = 0
    last: int | None = None

    def __iter__(self) -> Iterator[Pair | Failure]:
        """Yield the pairs.

        Raises:
            InputError: A file that is not a table; or the first of all rows, or of a table whose rows share their
                columns, lacks the columns. The message lists those it has.
        """
        # `islice` takes no larger numbers.
        first, last = min(self.first, sys.maxsize), None if self.last is None else min(self.last, sys.maxsize)
        checked, table, lists = None, self.source.name, self._lists()
        for source, id, row in islice(self.source.rows(), first, last):
            table = source.rpartition(":")[0]
            if isinstance(row, dict) and table != checked:
                if checked is None or table.lower().endswith(SAME_COLUMNS):
                    # A table without the columns fails once, not row by row.
                    try:
                        self.source.columns(row)
                    except InputError as error:
                        raise InputError(f"{source}: {error}") from error
                self.source.warn_of_other_columns(row, table)
                checked = table
            if lists is not None and isinstance(row, dict):
                lists.add(row.get(lists.column), table)
            yield self.source.pair(source, id, row)
        if lists is not None:
            lists.finish(table)

    def _lists(self) -> ListedSentences | None:
        """Return what looks at lists in a column that the user named; None for columns whose lists are documented."""
        column = self.source.summary_column
        return None if column is None or column in SUMMARY_COLUMNS else ListedSentences(column)

    def tables(self, unit: str = DOCUMENTS) -> DividedTables[Pair] | None:
        """Return the tables of the pairs if workers can read their own rows of them; otherwise None.

        Raises:
            InputError: `unit`, that of shard sizes, is `bytes`, but workers cannot read one of the tables.
        """
        files = [] if self.source.is_dataset else self.source.files
        if (reason := undivided(files)) is not None and unit == BYTES:
            raise InputError(f"{reason}; {DOCUMENTS_INSTEAD}")
        if not files or reason is not None:
            return None
        if self._lists() is not None:
            # Workers do not warn, so the first rows are read here.
            next(islice(self, ROWS, None), None)
        # A copy without the cached list of files, because the reader is sent with each task.
        reader, largest = replace(self.source), self.source.max_document_bytes
        return DividedTables(
            files, reader.pair_of, largest, first=self.first, last=self.last, columns=reader.needed_columns
        )


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"expected a text, got {clipped(value)}")
    return value


def _references(value: Any, whole: bool) -> tuple[str, ...]:
    """Return the references in a column; with `whole`, a list has the sentences of a single one."""
    check_no_list_as_text(value, "a reference summary")
    references = (value,) if isinstance(value, str) else value
    if not isinstance(references, list | tuple):
        raise InputError(f"expected a reference summary or a list of them, got {clipped(value)}")
    for number, item in enumerate(references, start=1):
        if not isinstance(item, str):
            raise InputError(f"reference summary {number}: expected a text, got {json_type(item)}")
    if not any(item.strip() for item in references):
        raise InputError(f"expected a reference summary, got {clipped(value)}")
    found = tuple(item for item in references if item.strip())
    return ("\n".join(" ".join(item.split()) for item in found),) if whole and not isinstance(value, str) else found
