"""Runs that fill a folder with shards: make all shards, make a part in parallel with other runs, or write the manifest.

The same documents and recipe give the same bytes, whatever the number of workers, if each has as many threads, and
however often the run was interrupted. One worker writes a whole shard and then its record; the manifest is written from
the records, which the run combines meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from discsum.data.claims import begin, check_finished, is_finished, part_lock_name
from discsum.data.combined_records import RecordCombiner
from discsum.data.engines.local import LocalEngine
from discsum.data.failures import Failure
from discsum.data.locks import folder_lock, part_lock
from discsum.data.manifest import FAILURES, MANIFEST, Manifest, Shard, check_sums, digest_of
from discsum.data.parts import WHOLE, Part
from discsum.data.records import Origin, ShardRecord, withdraw
from discsum.data.remote import RemotePath
from discsum.data.reopening import check_repairable, damage_of, reopen
from discsum.data.run_options import RunOptions
from discsum.data.shard_listing import Listing
from discsum.data.shard_maker import ShardMaker, ShardTask
from discsum.data.shard_names import record_name, shard_number
from discsum.data.storage import Location, is_pattern, write_bytes
from discsum.errors import DiscsumError, InputError, NoAnswerError, few, number_of
from discsum.persistence import CONFIG

# One worker in this process.
DEFAULTS = RunOptions()
# Maximum number of shards that an error names.
SHOWN = 5

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class ShardJob(Generic[Entry]):
    """A folder of shards: its documents, how they are processed, and its path.

    Attributes:
        shards: Returns the documents of each shard, in order; they may be read lazily. A `Failure` is listed as failed.
        folder: Folder of the shards.
        recipe: Everything that the content depends on, as in the manifest: options, identity of the documents, and
            `made_by`, the identities of program and models.
        file: Format string for the file name of a shard, given its number.
        maker: Returns the maker that workers run, given the absolute folder, the recipe's digest and the device.
        check: Checks the content of a finished folder's shards against its manifest, after their checksums.
        check_inputs: Raises `InputError` if a file has changed since the run began to read.
    """

    shards: Callable[[], Iterable[Iterable[Entry | Failure]]]
    folder: Location
    recipe: dict[str, Any]
    file: str
    maker: Callable[[Location, str, str], ShardMaker[Entry, Any]]
    check: Callable[[Manifest, Location], None] = lambda manifest, folder: None
    check_inputs: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        """Escape text in the recipe that UTF-8 cannot encode, for example in file names.

        Raises:
            InputError: The folder is a URL that stores would read as a pattern, or as a version of a file.
        """
        object.__setattr__(self, "recipe", _escaped(self.recipe))
        if isinstance(self.folder, RemotePath) and is_pattern(self.folder):
            raise InputError(f"{self.folder}: expected the URL of one output folder, got a pattern; leave out *?[")
        if isinstance(self.folder, RemotePath) and re.search(r"^g[cs]+://.*#\d+$", self.folder.url):
            raise InputError(
                f"{self.folder}: expected a folder, got # and digits at its end, which Google Cloud Storage reads as a "
                "version; leave them out"
            )

    def name(self, number: int) -> str:
        """Return the file name of a shard."""
        return self.file.format(number)


def make_all(job: ShardJob[Any], options: RunOptions = DEFAULTS) -> Manifest:
    """Fill a folder, or complete one that was interrupted, and return its manifest.

    The same documents and recipe give the same bytes, whatever the number of workers, if each has as many threads, and
    however often the run was interrupted. With `options.verify`, damaged shards are remade, also in a finished folder.

    Raises:
        InputError: The folder has another recipe, or is damaged; another run has locked it; or there is no such device.
        WeightsError: A model that cannot be loaded.
    """
    _check_reached(job.folder, options)
    if options.verify and (job.folder / MANIFEST).is_file():
        manifest = _verified(job, options)
        if manifest is not None:
            return manifest
        # The remaining shards have just been verified.
        options = replace(options, verify=False)
    return _complete(job, options, _Run.make)


def make_part(job: ShardJob[Any], part: Part, options: RunOptions = DEFAULTS) -> int:
    """Write the shards of one part into a folder, in parallel with runs of other parts; return their number.

    `finish` writes the manifest once the shards of all parts exist. Raises the errors of `make_all`.
    """
    _check_reached(job.folder, options)
    run = _Run(job, part, options)
    name = part_lock_name(part, job.recipe)
    with part_lock(job.folder, name, lambda: begin(job.folder, job.recipe, in_parts=True), wait=options.wait) as begun:
        if begun:
            run.make()
            run.combiner.close()
        elif options.verify:
            _finished(job, True)
    return run.own


def finish(job: ShardJob[Any], options: RunOptions = DEFAULTS) -> Manifest:
    """Write the manifest of a folder whose shards were made in parts, and return it; no shard is made.

    The documents are read to count the shards.

    Raises:
        InputError: Shards that are missing or damaged; the message names them. Also the errors of `make_all`.
    """
    return _complete(job, options, _Run.check_all_there)


def _complete(job: ShardJob[Any], options: RunOptions, fill: Callable[[_Run], None]) -> Manifest:
    """Return the manifest of a folder; lock an unfinished folder, complete it with `fill`, and write its manifest."""
    if is_finished(job.folder):
        return _finished(job, options.verify)
    with folder_lock(job.folder, wait=options.wait):
        if not begin(job.folder, job.recipe):
            return _finished(job, options.verify)
        run = _Run(job, WHOLE, options)
        fill(run)
        return _finish(job, run)


def _verified(job: ShardJob[Any], options: RunOptions) -> Manifest | None:
    """Return the manifest of an intact finished folder; otherwise reopen it, so that damaged shards are pending.

    Returns None if the folder is unfinished, whether or not it was reopened. Raises the errors of `make_all`.
    """
    # An intact folder needs no lock, and so may be read-only.
    if is_finished(job.folder):
        manifest, damage = _inspected(job)
        if not damage:
            return manifest
        check_repairable(job.folder, damage)
    with folder_lock(job.folder, wait=options.wait):
        if begin(job.folder, job.recipe):
            return None
        manifest, damage = _inspected(job)
        if not damage:
            return manifest
        reopen(job.folder, manifest, damage)
        for fault in dict.fromkeys(damage.values()):
            options.warn(f"{fault}; made again")
        return None


def _inspected(job: ShardJob[Any]) -> tuple[Manifest, dict[str, str]]:
    """Return the manifest of a finished folder and its damage, as in `damage_of`; without any, check the content."""
    check_finished(job.folder, job.recipe)
    manifest = Manifest.read(job.folder, None)
    damage = damage_of(job.folder, manifest)
    if not damage:
        job.check(manifest, job.folder)
    return manifest, damage


class _Run:
    """The shards of a folder that a run finds or makes.

    Attributes:
        count: Number of shards of the folder, as far as its documents were read.
        own: Number of shards of the part.
        shards: The part's complete shards, by number.
        failures: Lines of `failures.jsonl` for the documents of a shard that failed, by the shard's number.
        width: Size of a unit vector; 0 without vectors.
        faults: Messages about damaged shards.
        combiner: Combines the records of the complete shards.
    """

    def __init__(self, job: ShardJob[Any], part: Part, options: RunOptions) -> None:
        self.count = self.own = self.width = 0
        self.shards: dict[int, Shard] = {}
        self.failures: dict[int, str] = {}
        self.faults: list[str] = []
        self.combiner = RecordCombiner(job.folder, [])
        self._job, self._part, self._options = job, part, options
        self._digest = digest_of(job.recipe)
        self._done = self._skipped = 0
        self._listing = Listing(job.folder, {})
        self._all_drawn = False

    def make(self) -> None:
        """Make the shards that are missing or damaged."""
        # Workers may have other working directories, or run on other machines that see the same disk.
        maker = self._job.maker(self._job.folder.absolute(), self._digest, self._options.device)
        for name, record in self._options.chosen_engine().results_of(maker, self._told(), self._step):
            self._add(name, record)
            self.combiner.add(name, record)
        if not self._all_drawn or len(self.shards) < self.own:
            # Otherwise the manifest would lack the shards that an engine has not asked for.
            raise DiscsumError("expected the engine to do all tasks, it ended before it had returned all results")

    def check_all_there(self) -> None:
        """Raise `InputError` if shards are missing or damaged; the message names them."""
        missing = [str(task) for task in self.pending()]
        if not missing:
            return
        problems = [
            f"{self._job.folder}: expected {number_of(self.count, 'shard')}, {len(missing)} missing: "
            f"{few(missing, SHOWN)}",
            *self.faults[:SHOWN],
            "run their parts again (of N parts, part K mod N + 1 makes shard K), or the whole command without --part "
            "and --finish",
        ]
        raise InputError("; ".join(problems))

    def pending(self) -> Iterator[ShardTask[Any]]:
        """Yield the shards of the part that are missing or damaged."""
        listing = self._listing = Listing.of(self._job.folder, self._part)
        self.combiner = RecordCombiner(self._job.folder, listing.combined)
        for number, entries in enumerate(self._job.shards()):
            self.count = number + 1
            if not self._part.has(number):
                continue
            self.own += 1
            task = ShardTask(self._job.name(number), entries)
            if task.name in listing:
                origin = Origin(self._digest, task.digest)
                try:
                    record = listing.record(task.name, origin, verify=self._options.verify)
                except NoAnswerError:
                    # The shard may be intact.
                    raise
                except InputError as error:
                    self.faults.append(str(error))
                else:
                    self._add(task.name, record)
                    if record_name(task.name) in listing.records:
                        self.combiner.add(task.name, record)
                    documents = record.documents + record.failed
                    self._skipped += documents
                    self._options.skip(self._skipped)
                    self._step(documents)
                    continue
            yield task
        self._all_drawn = True

    def check_surplus(self) -> None:
        """Raise `InputError` if there were shards for which the inputs have no documents any more."""
        if surplus := self._listing.beyond(self.count):
            raise InputError(
                f"{self._job.folder}: expected documents for {surplus[-1]}, which an earlier run with the same inputs "
                f"made, got documents for {number_of(self.count, 'shard')}; an input that could be read then cannot be "
                "read now: run the command again, or into a new folder"
            )

    def _told(self) -> Iterator[ShardTask[Any]]:
        """Yield the pending shards; warn about those that are damaged, and withdraw their records."""
        for task in self.pending():
            while self.faults:
                self._options.warn(f"{self.faults.pop()}; made again")
                withdraw(self._job.folder / task.name)
            yield task

    def _add(self, name: str, record: ShardRecord) -> None:
        """Keep what the manifest says of a complete shard."""
        number = shard_number(name)
        assert number is not None
        counts = record.documents, record.failed
        # The checksum is that of the record, so that damage after writing is found.
        self.shards[number] = Shard(name, *counts, record.sha256, record.entries, record.given_trees)
        if record.failures:
            self.failures[number] = record.failures
        self.width = max(self.width, record.width)

    def _step(self, documents: int) -> None:
        self._done += documents
        self._options.report(self._done)


def _check_reached(folder: Location, options: RunOptions) -> None:
    """Raise `InputError` if the folder is in the memory of this process, but workers are other processes."""
    if isinstance(folder, Path) or folder.scheme != "memory":
        return
    engine = options.chosen_engine()
    if not isinstance(engine, LocalEngine) or engine.workers > 1:
        raise InputError(
            f"{folder}: expected a folder that all workers can reach, got the memory of one process; run one worker "
            "with the engine local, or name another folder"
        )


def _finished(job: ShardJob[Any], verify: bool) -> Manifest:
    check_finished(job.folder, job.recipe)
    manifest = Manifest.read(job.folder, None)
    # Shards in a store are read again only on request.
    if verify or isinstance(job.folder, Path):
        check_sums(manifest, job.folder)
        job.check(manifest, job.folder)
    return manifest


def _finish(job: ShardJob[Any], run: _Run) -> Manifest:
    """Write the manifest of a run's shards, all of which exist, and return it.

    Raises:
        InputError: There are other shards too, or the inputs have changed; a manifest would make the run seem complete.
    """
    job.check_inputs()
    run.check_surplus()
    write_bytes(job.folder / FAILURES, "".join(run.failures[number] for number in sorted(run.failures)).encode())
    manifest = Manifest(job.recipe, [run.shards[number] for number in range(run.count)], run.width)
    manifest.write(job.folder, run.combiner.files)
    return manifest


def _escaped(value: Any) -> Any:
    """Return a JSON value with lone surrogates escaped, such as those of file names that are not UTF-8."""
    if isinstance(value, dict):
        return {name: _escaped(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_escaped(part) for part in value)
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def absolute(name_or_path: str, names: Container[str] = ()) -> str:
    """Return the absolute path of a model's folder, for workers in other folders; return other names unchanged.

    `names` are names even if there is a folder of that name.
    """
    path = Path(name_or_path)
    is_folder = name_or_path not in names and (path / CONFIG).is_file()
    return str(path.absolute()) if is_folder else name_or_path
