"""Documents with summaries, parsed, labelled and maybe encoded, as a dataset folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from discsum.data.engines import engine_of
from discsum.data.engines.base import Engine
from discsum.data.manifest import FAILURES, MANIFEST, Manifest, Shard, alone, begin, digest_of
from discsum.data.pairs import Pair
from discsum.data.parts import WHOLE, Part
from discsum.data.preprocess_recipe import PreprocessRecipe, makers
from discsum.data.records import Listing, ShardRecord
from discsum.data.shard_maker import ShardMaker, ShardTask, shard_name
from discsum.data.shards import check_shards, read_contents
from discsum.data.storage import Location, clear_unfinished, write_bytes
from discsum.data.tables import Failure
from discsum.data.tasks import shards_of
from discsum.errors import InputError
from discsum.files import to_line

__all__ = ["PreprocessRecipe", "finish", "preprocess", "preprocess_part"]

# Shards that an error names.
SHOWN = 5


def preprocess(
    pairs: Iterable[Pair | Failure],
    source: dict[str, Any],
    folder: Location,
    recipe: PreprocessRecipe,
    *,
    workers: int = 1,
    engine: str | Engine = "local",
    device: str = "cpu",
    wait: bool = False,
    verify: bool = False,
    report: Callable[[int], None] = lambda done: None,
    skip: Callable[[int], None] = lambda found: None,
    warn: Callable[[str], None] = lambda line: None,
) -> Manifest:
    """Write a dataset folder, or complete one that was interrupted, and return its manifest.

    The same documents and recipe give the same bytes, whatever the number of workers and however often the run was
    interrupted: one worker writes each shard as a whole.

    Args:
        pairs: Texts with references; a `Failure` is listed as failed. Workers read those of `PairSource.pairs`
            themselves where tables can be divided.
        source: Identity of the documents, from `PairSource.identity`.
        folder: Folder of the dataset.
        recipe: Options of the dataset.
        workers: Number of parallel workers.
        engine: Name in `ENGINES`, or an engine from `engine_of`, which has its own number of workers.
        device: Device of parser and encoder; the last digits of vectors depend on it.
        wait: Whether to wait for another run on the folder instead of failing.
        verify: Whether shards of earlier runs are compared with their checksums, not only with their sizes.
        report: Takes the number of documents done, including those of earlier runs.
        skip: Takes the number of documents done by earlier runs.
        warn: Takes a line for each damaged shard, which is written again.

    Raises:
        InputError: The folder has another dataset, or a damaged one; another run has locked it; or there is no such
            device.
        WeightsError: No such parser or encoder.
    """
    run = _Run(pairs, folder, recipe, source, WHOLE, verify, report, skip, warn)
    if (folder / MANIFEST).is_file():
        return _finished(folder, run)
    with alone(folder, wait=wait):
        if not begin(folder, run.whole):
            return _finished(folder, run)
        run.make(engine_of(engine, workers) if isinstance(engine, str) else engine, device)
        return _finish(folder, run)


def preprocess_part(
    pairs: Iterable[Pair | Failure],
    source: dict[str, Any],
    folder: Location,
    recipe: PreprocessRecipe,
    part: Part,
    *,
    workers: int = 1,
    engine: str | Engine = "local",
    device: str = "cpu",
    wait: bool = False,
    verify: bool = False,
    report: Callable[[int], None] = lambda done: None,
    skip: Callable[[int], None] = lambda found: None,
    warn: Callable[[str], None] = lambda line: None,
) -> int:
    """Write the shards of one part into a dataset folder, beside runs that write others; return their number.

    `finish` writes the manifest when the shards of all parts are there. Arguments and errors as of `preprocess`.
    """
    run = _Run(pairs, folder, recipe, source, part, verify, report, skip, warn)
    with alone(folder, wait=wait, part=f"{part.number}-of-{part.count}"):
        if begin(folder, run.whole):
            run.make(engine_of(engine, workers) if isinstance(engine, str) else engine, device)
            clear_unfinished(folder)
    return run.own


def finish(
    pairs: Iterable[Pair | Failure],
    source: dict[str, Any],
    folder: Location,
    recipe: PreprocessRecipe,
    *,
    verify: bool = False,
    report: Callable[[int], None] = lambda done: None,
) -> Manifest:
    """Write the manifest of a dataset folder whose shards were made in parts, and return it; nothing is parsed.

    Arguments as of `preprocess`; the documents are read to know how many shards there are.

    Raises:
        InputError: Shards that are missing or damaged; the message names them. Others as of `preprocess`.
    """
    faults: list[str] = []
    run = _Run(pairs, folder, recipe, source, WHOLE, verify, report, lambda found: None, faults.append)
    if (folder / MANIFEST).is_file():
        return _finished(folder, run)
    with alone(folder):
        if not begin(folder, run.whole):
            return _finished(folder, run)
        missing = [str(task) for task in run.pending()]
        if missing:
            more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
            raise InputError(
                "; ".join(
                    [
                        f"{folder}: expected {run.count} shards, {len(missing)} are missing: "
                        f"{', '.join(missing[:SHOWN])}{more}",
                        *faults[:SHOWN],
                        "run their parts again, or all without --part and --finish",
                    ]
                )
            )
        return _finish(folder, run)


class _Run:
    """The shards of a dataset folder that a run finds or makes.

    Attributes:
        whole: All that the dataset depends on.
        count: Shards of the dataset, as far as its documents were read.
        own: Those of them that are in the part.
        found: Records of those that were there.
        verify: Whether checksums are compared.
    """

    def __init__(
        self,
        pairs: Iterable[Pair | Failure],
        folder: Location,
        recipe: PreprocessRecipe,
        source: dict[str, Any],
        part: Part,
        verify: bool,
        report: Callable[[int], None],
        skip: Callable[[int], None],
        warn: Callable[[str], None],
    ) -> None:
        self.whole = recipe.to_dict() | {"documents": source, "made_by": makers(recipe)}
        self.count = self.own = 0
        self.found: dict[int, ShardRecord] = {}
        self._digest = digest_of(self.whole)
        self._pairs, self._folder, self._recipe, self._part, self.verify = pairs, folder, recipe, part, verify
        self._report, self._skip, self._warn = report, skip, warn
        self._done = self._skipped = 0

    def make(self, engine: Engine, device: str) -> None:
        """Make the shards that are not there."""
        # Workers may be in another folder, or on another machine that sees the same disk.
        recipe = replace(self._recipe, parser=_absolute(self._recipe.parser), encoder=_absolute(self._recipe.encoder))
        maker = ShardMaker(recipe, self._folder.absolute(), self._digest, self.whole["made_by"], device)
        for _ in engine.results_of(maker, self.pending(), self._step):
            pass

    def pending(self) -> Iterator[ShardTask]:
        """Yield the shards of the part that are not there or damaged."""
        listing = Listing.of(self._folder, self._part)
        for number, entries in enumerate(shards_of(self._pairs, self._recipe.shard, self._recipe.shard_unit)):
            self.count = number + 1
            if not self._part.has(number):
                continue
            self.own += 1
            name = shard_name(number)
            if name in listing:
                try:
                    record = listing.record(name, self._digest, verify=self.verify)
                except InputError as error:
                    self._warn(f"{error}; made anew")
                else:
                    self.found[number] = record
                    documents = record.documents + record.failed
                    self._skipped += documents
                    self._skip(self._skipped)
                    self._step(documents)
                    continue
            yield ShardTask(number, entries)

    def _step(self, documents: int) -> None:
        self._done += documents
        self._report(self._done)


def _absolute(name_or_path: str) -> str:
    """Return the absolute path of a model's folder; the name of a model stays."""
    path = Path(name_or_path)
    return str(path.absolute()) if path.is_dir() else name_or_path


def _finished(folder: Location, run: _Run) -> Manifest:
    begin(folder, run.whole)
    manifest = Manifest.read(folder)
    # What is in a store is not read again unasked.
    if run.verify or isinstance(folder, Path):
        check_shards(manifest, folder)
    return manifest


def _made(listing: Listing, name: str, digest: str) -> ShardRecord:
    """Return the record of a shard that this run or its other parts made."""
    try:
        if name not in listing:
            raise InputError(f"{listing.folder / name}: expected a shard, found none")
        return listing.record(name, digest)
    except InputError as error:
        raise InputError(f"{error}; start again") from error


def _finish(folder: Location, run: _Run) -> Manifest:
    """Write the manifest of the shards of a run, which are all there, from their records."""
    # Not listed again if nothing was made.
    listing = Listing.of(folder) if len(run.found) < run.count else Listing(folder, {})
    digest = digest_of(run.whole)
    shards, lines, width = [], [], 0
    for number in range(run.count):
        name = shard_name(number)
        record = run.found.get(number) or _made(listing, name, digest)
        if record.failed:
            lines += [to_line(asdict(failure)) for failure in read_contents(folder / name).failures]
        width = max(width, record.width)
        # The checksum from the time of writing, so that later damage is found.
        shards.append(Shard(name, record.documents, record.failed, record.sha256))
    write_bytes(folder / FAILURES, "".join(lines).encode())
    manifest = Manifest(run.whole, shards, width)
    manifest.write(folder)
    return manifest
