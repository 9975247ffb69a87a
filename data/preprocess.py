"""Documents with summaries, parsed, labelled and maybe encoded, as a dataset folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from discsum.batches import batches, failing_alone
from discsum.candidates import Candidates
from discsum.constants import SHIPPED_PARSER, UNITS, VECTORS
from discsum.data.engines import ENGINES
from discsum.data.engines.base import Step
from discsum.data.manifest import (
    FAILURES,
    MANIFEST,
    SHARD,
    Manifest,
    Shard,
    alone,
    begin,
    digest_of,
    recorded_fault,
    sum_file,
)
from discsum.data.pairs import Pair
from discsum.data.shards import Record, read_contents, schema, unwritable, write_shard
from discsum.data.tables import Failure
from discsum.dependency import edu_heads, in_sentence_heads
from discsum.devices import check_device
from discsum.errors import DiscsumError, WeightsError
from discsum.files import replacing, to_line
from discsum.oracles import ORACLES, oracle_labels
from discsum.persistence import fingerprint
from discsum.recipes.fields import Checked, Count, about, one_of
from discsum.scoring import ParsedDocument

if TYPE_CHECKING:
    from discsum.parsers.parser import Parser
    from discsum.parsers.unit_encoders import UnitEncoder

# Documents parsed together.
BATCH = 8
# Encoders that are neither a folder nor a model of the hub.
OWN = ("none", *VECTORS)
# Value of `oracle` for no labels.
UNLABELLED = "none"


@dataclass(frozen=True)
class PreprocessRecipe(Checked):
    """Everything that a dataset's content depends on, in addition to the documents."""

    parser: Annotated[str, about("Name or folder of the parser.")] = SHIPPED_PARSER
    oracle: Annotated[
        str, one_of((*ORACLES, UNLABELLED), "Name of the oracle that labels units; `none` for no labels.")
    ] = "rouge12-f"
    oracle_units: Annotated[
        Count | None, about("Units the oracle may take, at most; by default what its paper sets.")
    ] = None
    units: Annotated[tuple[str, ...], about("Which units are labelled and encoded: `sentence`, `edu`, or both.")] = (
        UNITS
    )
    encoder: Annotated[
        str,
        about(
            "What makes the units' vectors: `none`; `contextual`, `discourse` or `isolated`, with the parser's own "
            "encoder (see `SummarizerConfig.vectors`); or the name or folder of a Hugging Face encoder, each unit on "
            "its own."
        ),
    ] = "none"
    shard: Annotated[Count, about("Documents a file.")] = 256
    tree: Annotated[bool, about("Whether documents have trees, or sentences and EDUs only.")] = True

    def problems(self) -> list[str]:
        """Return what is wrong with fields that do not fit together."""
        problems = []
        if self.oracle in ORACLES and ORACLES.entry(self.oracle).facts.get("edu_only") and self.units != ("edu",):
            problems.append(f"oracle: expected {self.oracle} with the unit edu only, got {' and '.join(self.units)}")
        if not self.tree and (self.oracle, self.encoder) != (UNLABELLED, "none"):
            problems.append(f"tree: expected trees with oracle {self.oracle} and encoder {self.encoder}, got none")
        if not self.units or not set(self.units) <= set(UNITS):
            problems.append(f"units: expected some of {', '.join(UNITS)}, got {', '.join(self.units) or 'none'}")
        # The hub takes a minute to reject an unknown name.
        alike = get_close_matches(self.encoder.lower(), OWN, cutoff=0.8)
        if self.encoder not in OWN and alike and not Path(self.encoder).is_dir():
            problems.append(f"encoder: expected {', '.join(OWN)}, or a name or folder, got {self.encoder!r}")
        return problems

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary; `tree` only where there is none, as folders had no such field at first."""
        fields = asdict(self)
        return fields if not self.tree else {name: value for name, value in fields.items() if name != "tree"}


@dataclass(frozen=True)
class ShardMaker:
    """Writes shards; each process has its own copy, with its own parser and encoder."""

    recipe: PreprocessRecipe
    folder: Path
    digest: str
    device: str = "cpu"

    def __call__(self, task: tuple[int, Sequence[Pair | Failure]], step: Step) -> None:
        """Write the shard of a number and entries; `step` takes the number of documents done since its last call."""
        number, entries = task
        checked = [entry if isinstance(entry, Failure) else unwritable(entry) or entry for entry in entries]
        failures = [entry for entry in checked if isinstance(entry, Failure)]
        pairs = [entry for entry in checked if isinstance(entry, Pair)]
        if failures:
            step(len(failures))
        records: list[Record] = []
        for batch in batches(pairs, BATCH):
            for pair, made in zip(batch, failing_alone(self._records, batch), strict=True):
                if isinstance(made, DiscsumError):
                    failures.append(Failure(pair.id, str(made)))
                else:
                    records.append(made)
            step(len(batch))
        columns = schema(self.recipe.units, self.recipe.encoder != "none", self.recipe.oracle != UNLABELLED)
        write_shard(self.folder / shard_name(number), records, failures, columns, self.digest)

    @cached_property
    def parser(self) -> Parser:
        """The parser, loaded once a process."""
        from discsum.parsers.loading import load_parser

        return load_parser(self.recipe.parser, self.device)

    @cached_property
    def encoder(self) -> UnitEncoder | None:
        """The unit encoder, loaded once a process; none if units are not encoded."""
        from discsum.parsers.unit_encoders import UnitEncoder

        return None if self.recipe.encoder == "none" else UnitEncoder.load(self.recipe.encoder, self.parser)

    def _records(self, pairs: Sequence[Pair]) -> list[Record]:
        """Return the record of each pair."""
        from discsum.parsers.parsing import ensure_parsed, ensure_segmented

        if not self.recipe.tree:
            documents = ensure_segmented(pairs, lambda: self.parser)
            return [Record(document, pair.references, {}) for pair, document in zip(pairs, documents, strict=True)]
        encoder, keep = self.encoder, set[str]()
        if encoder is not None and encoder.pools:
            keep = keep.union(*(encoder.needs(unit) for unit in self.recipe.units))
        parsed = ensure_parsed(pairs, lambda: self.parser, keep=keep)
        return [self._record(pair, item) for pair, item in zip(pairs, parsed, strict=True)]

    def _record(self, pair: Pair, item: ParsedDocument) -> Record:
        document, oracle = item.document, self.recipe.oracle
        tree = document.require_tree("--oracle")
        labels: dict[str, NDArray[np.int8]] = {}
        vectors: dict[str, NDArray[np.float16]] = {}
        for unit in self.recipe.units:
            if oracle != UNLABELLED:
                texts = document.sentence_texts if unit == "sentence" else document.edu_texts
                heads = in_sentence_heads(edu_heads(tree), document.edu_to_sentence) if unit == "edu" else None
                groups = Candidates.of(document, unit).groups
                labels[unit] = oracle_labels(oracle, texts, pair.references, self.recipe.oracle_units, heads, groups)
            if self.encoder is not None:
                vectors[unit] = self.encoder.of(item, unit).half().cpu().numpy()
        return Record(document, pair.references, labels, vectors)


def shard_name(number: int) -> str:
    """Return the file name of a shard."""
    return f"{SHARD}{number:05d}.parquet"


def makers(recipe: PreprocessRecipe) -> dict[str, str]:
    """Return the identities of program, parser and encoder.

    Raises:
        WeightsError: No such parser or encoder.
    """
    made = {"discsum": version("discsum"), "parser": fingerprint(recipe.parser)}
    if recipe.encoder in OWN:
        return made
    from discsum.parsers.unit_encoders import identity

    try:
        return made | identity(recipe.encoder)
    except WeightsError as error:
        raise WeightsError(f"{error}; or one of {', '.join(OWN)}") from error


def preprocess(
    pairs: Iterable[Pair | Failure],
    source: dict[str, Any],
    folder: Path,
    recipe: PreprocessRecipe,
    *,
    workers: int = 1,
    engine: str = "local",
    device: str = "cpu",
    wait: bool = False,
    report: Callable[[int], None] = lambda done: None,
    skip: Callable[[int], None] = lambda found: None,
    warn: Callable[[str], None] = lambda line: None,
) -> Manifest:
    """Write a dataset folder, or complete one that was interrupted, and return its manifest.

    The same documents and recipe give the same bytes, whatever the number of workers and however often the run was
    interrupted: one process writes each shard as a whole.

    Args:
        pairs: Texts with references; a `Failure` is listed as failed.
        source: Identity of the documents, from `PairSource.identity`.
        folder: Folder of the dataset.
        recipe: Options of the dataset.
        workers: Number of parallel processes.
        engine: Name in `ENGINES`.
        device: Device of parser and encoder; the last digits of vectors depend on it.
        wait: Whether to wait for another run on the folder instead of failing.
        report: Takes the number of documents done, including those of earlier runs.
        skip: Takes the number of documents done by earlier runs.
        warn: Takes a line for each damaged shard, which is written again.

    Raises:
        InputError: The folder has another dataset, or a damaged one; another run has locked it; or there is no such
            device.
        WeightsError: No such parser or encoder.
    """
    check_device(device)
    whole = recipe.to_dict() | {"documents": source, "made_by": makers(recipe)}
    if (folder / MANIFEST).is_file():
        return _finished(folder, whole)
    with alone(folder, wait=wait):
        if not begin(folder, whole):
            return _finished(folder, whole)
        count = done = found = 0
        digest = digest_of(whole)

        def pending() -> Iterator[tuple[int, Sequence[Pair | Failure]]]:
            nonlocal count, found
            for number, entries in enumerate(batches(pairs, recipe.shard)):
                count = number + 1
                path = folder / shard_name(number)
                fault = recorded_fault(path) or _other_recipe(path, digest)
                if path.is_file() and not fault:
                    found += len(entries)
                    skip(found)
                    step(len(entries))
                    continue
                if fault:
                    warn(f"{fault}; made anew")
                yield number, entries

        def step(documents: int) -> None:
            nonlocal done
            done += documents
            report(done)

        for _ in ENGINES[engine](workers).results_of(ShardMaker(recipe, folder, digest, device), pending(), step):
            pass
        return _finish(folder, count, whole)


def _finished(folder: Path, recipe: dict[str, Any]) -> Manifest:
    begin(folder, recipe)
    manifest = Manifest.read(folder)
    manifest.check(folder)
    return manifest


def _other_recipe(shard: Path, digest: str) -> str:
    """Return what is wrong with a shard that another recipe made; empty if none did, or there is no shard yet."""
    if not shard.is_file() or read_contents(shard).recipe == digest:
        return ""
    return f"{shard}: expected a shard of this recipe, found another's"


def _finish(folder: Path, count: int, recipe: dict[str, Any]) -> Manifest:
    shards, lines, width = [], [], 0
    for number in range(count):
        path = folder / shard_name(number)
        contents = read_contents(path)
        lines += [to_line(asdict(failure)) for failure in contents.failures]
        width = max(width, contents.width)
        # The checksum from the time of writing, so that later damage is found.
        checksum = sum_file(path).read_text(encoding="utf-8")
        shards.append(Shard(path.name, contents.documents, len(contents.failures), checksum))
    with replacing(folder / FAILURES) as partial:
        partial.write_text("".join(lines), encoding="utf-8")
    manifest = Manifest(recipe, shards, width)
    manifest.write(folder)
    return manifest
