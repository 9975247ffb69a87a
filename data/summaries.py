"""Summaries that any program wrote, in a table with the columns `id` and `summary`, or in a folder of parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from discsum.data.failures import Failure
from discsum.data.listed_sentences import check_no_list_as_text
from discsum.data.made_folder import has_parts
from discsum.data.manifest import FAILURES, MANIFEST, Manifest, check_sums
from discsum.data.slices import ENCODING
from discsum.data.storage import is_url
from discsum.data.tables import find_column, is_table, own_id, read_rows
from discsum.errors import InputError, warn_caller
from discsum.files import sha256

COLUMNS = ("id", "summary")
_MEANING = {"id": "the names of the texts", "summary": "the summaries"}


def is_summaries(name: str) -> bool:
    """Return whether a name is that of a table on this machine, such as `mine.jsonl`, or of a folder of parts."""
    path = Path(name)
    return not is_url(name) and (path.is_file() if is_table(name) else path.is_dir() and has_parts(path))


@dataclass(frozen=True)
class SummaryTable:
    """The summaries of a table, or of a folder that `discsum extract --shards` or `abstract --shards` wrote.

    Attributes:
        path: The table or folder.
        digest: SHA-256 of the table, or of the folder's manifest, which has the checksums of its files.
        texts: The summaries by the `id` of their text; no line is empty.
        whole: Ids of those that are to be split into sentences: they have a single line, and are no list of sentences.
    """

    path: Path
    digest: str
    texts: dict[str, str]
    whole: frozenset[str]

    @classmethod
    def read(cls, path: Path) -> SummaryTable:
        """Return the summaries of a table or folder.

        Raises:
            InputError: A file that is not a table, a row that cannot be read or lacks a column, or an `id` that comes
                twice; the message has file and line. Or a folder that is not finished, or in which a file is missing
                or altered.
        """
        checked, files = path, [path]
        if path.is_dir():
            manifest = Manifest.read(path, None)
            check_sums(manifest, path)
            # All documents of a part may have failed.
            checked, files = path / MANIFEST, [path / shard.file for shard in manifest.shards if shard.documents]
        texts: dict[str, str] = {}
        whole = set[str]()
        rows = chain.from_iterable(read_rows(file, ENCODING) for file in files)
        for source, row in rows:
            if isinstance(row, Failure):
                raise InputError(f"{row.source}: {row.reason}")
            try:
                name, lines = _row(row)
            except InputError as error:
                raise InputError(f"{source}: {error}") from error
            if name in texts:
                raise InputError(f"{source}: expected one summary for each text, got a second one for {name}")
            if len(lines) == 1 and isinstance(row["summary"], str) and _own_lines(row) is None:
                whole.add(name)
            texts[name] = "\n".join(lines)
        return cls(path, sha256(checked), texts, frozenset(whole))

    def _example(self, ids: Sequence[str]) -> str:
        """Return a hint that names a summary of no text, such as that of 1.0 where the text is 1."""
        known = {*ids}
        other = next((name for name in self.texts if name not in known), None)
        return "" if other is None else f"; the table has ids such as {other}, which no text has"

    def check_ids(self, ids: Sequence[str], *, whole: bool = True) -> None:
        """Check that each text has a summary of its own, and warn about empty ones, and about surplus ones.

        Args:
            ids: The ids of the texts.
            whole: Whether these are all texts of their source, so that other summaries are surplus.

        Raises:
            InputError: Texts without a summary, or with the same id.
        """
        if missing := [name for name in ids if name not in self.texts]:
            failures = self.path / FAILURES
            failed = failures.is_file() and failures.stat().st_size > 0
            raise InputError(
                f"{self.path}: expected a summary of every text, found none for {len(missing)} of {len(ids)}, such as "
                f"{missing[0]}{self._example(ids)}; the id of a text is in its column id, and without one TABLE-ROW"
                + (f"; {failures} lists documents that failed" if failed else "")
            )
        known = {*ids}
        if whole and (surplus := [name for name in self.texts if name not in known]):
            warn_caller(
                f"{self.path}: {len(surplus)} of {len(self.texts)} summaries are not measured: no text has their ids, "
                f"such as {surplus[0]!r}"
            )
        if twice := [name for name, times in Counter(ids).items() if times > 1]:
            raise InputError(
                f"{self.path}: expected the texts that it summarizes to have different ids, got several texts with the "
                f"id {twice[0]}; give each an id of its own"
            )
        if empty := sum(not self.texts[name] for name in ids):
            warn_caller(f"{self.path}: {empty} of {len(ids)} summaries are empty")


def _row(row: dict[str, Any]) -> tuple[str, list[str]]:
    """Return the id of a row and the lines of its summary, without empty ones."""
    name, summary = (row[find_column(row, [column], f"rename the column of {_MEANING[column]}")] for column in COLUMNS)
    id = own_id(name)
    if not id:
        raise InputError(f"expected the id of a text, got {name!r}")
    check_no_list_as_text(summary, "a summary")
    own = _own_lines(row)
    lines = summary if own is None else own
    if isinstance(lines, str):
        lines = lines.replace("\r", "\n").split("\n")
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise InputError(f"expected a summary or a list of its sentences, got {summary!r:.40}")
    return id, [" ".join(line.split()) for line in lines if line.strip()]


def _own_lines(row: dict[str, Any]) -> list[Any] | None:
    """Return the lines of a summary in what `discsum extract --json` writes, beside its text; None in other rows."""
    lines = row.get("lines") if {"selected", "scores"} <= row.keys() else None
    return lines if isinstance(lines, list) else None
