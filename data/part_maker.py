"""Workers of commands with `--shards`: make a JSON object per document and write parts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from discsum.data.equal_ids import warn_of_equal_ids
from discsum.data.failures import Failure
from discsum.data.input_source import InputSource
from discsum.data.inputs import Item
from discsum.data.manifest import COMMAND
from discsum.data.part_files import check_parquet, content_of, part_name
from discsum.data.records import Origin, ShardRecord, commit
from discsum.data.shard_maker import ShardMaker
from discsum.data.shard_names import FORMATS, JSON_LINES, PARQUET
from discsum.data.shard_run import ShardJob
from discsum.data.shard_sizes import DOCUMENTS, SIZE_UNITS
from discsum.data.storage import Location
from discsum.data.tasks import shards_of
from discsum.extras import needs
from discsum.recipes.fields import Checked, Count, about, one_of


@dataclass(frozen=True)
class Division(Checked):
    """How documents are divided among files; the files' bytes depend on it."""

    shard: Annotated[Count, about("Documents per file, or bytes of input per file, as `shard_unit` says.")] = 256
    shard_format: Annotated[str, one_of(FORMATS, "Format of the files.")] = JSON_LINES
    batch_size: Annotated[Count, about("Documents processed together; the last digits of numbers depend on it.")] = 8
    shard_unit: Annotated[
        str, one_of(SIZE_UNITS, "What `shard` counts: `documents`, or `bytes` of the tables that are read.")
    ] = DOCUMENTS


@dataclass(frozen=True)
class PartMaker(ShardMaker[Item, dict[str, Any]]):
    """Writes parts.

    Attributes:
        division: Format of the files.
    """

    division: Division

    @property
    @abstractmethod
    def command(self) -> str:
        """The command that makes these parts."""

    @abstractmethod
    def objects(self, items: Sequence[Item]) -> list[dict[str, Any]]:
        """Return the JSON object of each document, in order."""

    @property
    def batch(self) -> int:
        """Documents that are processed together."""
        return self.division.batch_size

    def name_of(self, entry: Item) -> str:
        """Return the source of the document: its file, and line or row."""
        return entry.source

    def make(self, entries: Sequence[Item]) -> list[dict[str, Any]]:
        """Return the JSON object of each document, in order."""
        made = self.objects(entries)
        if self.division.shard_format == PARQUET:
            for row in made:
                check_parquet(row, self.command)
        return made

    def write(
        self, path: Location, made: Sequence[dict[str, Any]], failures: Sequence[Failure], origin: Origin
    ) -> ShardRecord:
        """Write a part and its record, and return the record."""
        return commit(path, content_of(made, self.division.shard_format, self.command), len(made), failures, origin)


def part_job(
    source: InputSource,
    folder: Location,
    division: Division,
    options: dict[str, Any],
    made_by: dict[str, str],
    maker: Callable[[Location, str, str], PartMaker],
) -> ShardJob[Item]:
    """Return the job of a folder of parts.

    Args:
        source: The documents.
        folder: Folder of the parts.
        division: How they are divided among files.
        options: Everything else that the content depends on, including the name of the command.
        made_by: Identities of program and models.
        maker: As in `ShardJob`.

    Raises:
        InputError: As for `InputSource.identity` and `InputSource.tables`.
    """
    if division.shard_format == PARQUET:
        with needs("pyarrow"):
            import pyarrow  # noqa: F401
    assert COMMAND in options, "folders of datasets have no command, those of parts have"
    warn_of_equal_ids(file.path for file in source.files)
    tables, documents = source.tables(division.shard_unit), source.identity(hashed=division.shard_unit == DOCUMENTS)
    whole = options | division.to_dict() | {"documents": documents, "made_by": made_by}

    def shards() -> Iterator[Iterable[Item | Failure]]:
        return shards_of(source.items(), division.shard, division.shard_unit, tables)

    return ShardJob(shards, folder, whole, part_name(division.shard_format), maker, check_inputs=source.check_inputs)
