"""Base of the makers of shards: workers process the documents of a shard and write it."""

from __future__ import annotations

import hashlib
import platform
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any, Generic, TypeVar

from discsum.batches import batches, failing_alone
from discsum.data.divided_tables import SlicedDocuments
from discsum.data.engines.base import Step
from discsum.data.failures import Failure
from discsum.data.records import Origin, ShardRecord
from discsum.data.slices import key_of
from discsum.data.storage import Location
from discsum.devices import check_device
from discsum.errors import DiscsumError, InputError
from discsum.recipes.fields import differences

Entry = TypeVar("Entry")
Made = TypeVar("Made")


@dataclass(frozen=True)
class ShardTask(Generic[Entry]):
    """The file name of a shard, and its documents, which may be read lazily."""

    name: str
    entries: Iterable[Entry | Failure]

    @property
    def digest(self) -> str:
        """A digest of the documents, or of the slices of tables that a worker will read."""
        if isinstance(self.entries, SlicedDocuments):
            keys = (bound for part in self.entries.slices for bound in key_of(part))
        else:
            keys = (part for entry in self.entries for part in _key(entry))
        # Short, because the manifest has one for each shard.
        found = hashlib.blake2b(digest_size=8)
        for key in keys:
            content = str(key).encode("utf-8", "surrogatepass")
            found.update(b"%d:%b" % (len(content), content))
        return found.hexdigest()

    def __str__(self) -> str:
        """Return the file name."""
        return self.name


def _key(entry: Any) -> tuple[str, ...]:
    """Return what a shard contains of a document: id, text, what was parsed of it, and the references of a pair."""
    if isinstance(entry, Failure):
        # Not the whole source, because the same folder can be named in several ways.
        return (PurePath(entry.source).name,)
    found, one = [entry.id, entry.text], entry.document
    if one is not None:
        found += map(str, (one.sentences, one.edus, one.tree and one.tree.nodes, one.erst, one.parser, one.warnings))
    if (references := getattr(entry, "references", None)) is not None:
        found += [str(len(references)), *references]
    return tuple(found)


@dataclass(frozen=True)
class ShardMaker(ABC, Generic[Entry, Made]):
    """Writes shards; each worker has its own copy, with its own models.

    Attributes:
        folder: Folder of the shards; an absolute path, because workers may have other working directories.
        digest: Digest of everything that the content depends on.
        made_by: Identities of program and models in the process that began the run.
        device: Device of the models.
    """

    folder: Location
    digest: str
    made_by: Mapping[str, str]
    device: str

    def __call__(self, task: ShardTask[Entry], step: Step) -> tuple[str, ShardRecord]:
        """Write a shard; return its file name and record.

        `step` takes the number of documents done since its last call.

        Raises:
            InputError: This worker lacks the device, or has another version of program or models than the run.
        """
        if self.version_mismatch:
            raise InputError(self.version_mismatch)
        try:
            return task.name, self._write(task, step)
        except Exception as error:
            # For errors that nobody expects, such as a full GPU; the traceback shows it.
            error.add_note(f"while making {self.folder / task.name}")
            raise

    def _write(self, task: ShardTask[Entry], step: Step) -> ShardRecord:
        failures: list[Failure] = []
        usable: list[Entry] = []
        for entry in task.entries:
            if isinstance(entry, Failure):
                failures.append(entry)
            elif (found := self.unusable(entry)) is not None:
                failures.append(found)
            else:
                usable.append(entry)
        if failures:
            step(len(failures))
        if usable:
            self.load()
        done: list[Made] = []
        for batch in batches(usable, self.batch):
            for entry, made in zip(batch, failing_alone(self.make, batch), strict=True):
                if isinstance(made, DiscsumError):
                    failures.append(Failure(self.name_of(entry), str(made)))
                else:
                    done.append(made)
            step(len(batch))
        return self.write(self.folder / task.name, done, failures, Origin(self.digest, task.digest))

    @cached_property
    def version_mismatch(self) -> str:
        """How this worker's program and models differ from those of the run, found once; empty if they do not."""
        check_device(self.device)
        here = self.makers()
        there = {name: self.made_by.get(name) for name in here}
        changed = differences(there, here)
        place = f"worker {platform.node()}"
        return (
            f"{place}: expected the program and models of the run, found different ones ({changed})" if changed else ""
        )

    @property
    @abstractmethod
    def batch(self) -> int:
        """Documents that are processed together."""

    @abstractmethod
    def makers(self) -> dict[str, str]:
        """Return the identities of program and models here, as far as known without loading the models."""

    def load(self) -> None:
        """Load what every document needs. An error here ends the run; it does not count against a document."""

    @abstractmethod
    def name_of(self, entry: Entry) -> str:
        """Return the name of a document in failures."""

    def unusable(self, entry: Entry) -> Failure | None:
        """Return a failure for a document that cannot be processed; otherwise None."""
        return None

    @abstractmethod
    def make(self, entries: Sequence[Entry]) -> Sequence[Made]:
        """Return the result of each document, in order.

        Raises:
            DiscsumError: One of them fails.
        """

    @abstractmethod
    def write(self, path: Location, made: Sequence[Made], failures: Sequence[Failure], origin: Origin) -> ShardRecord:
        """Write a shard and its record, and return the record."""
