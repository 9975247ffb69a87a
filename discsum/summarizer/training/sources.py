"""What a summarizer's recipe learns from: dataset folders, and tables that become such folders beside the run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from discsum.constants import UNITS
from discsum.data.manifest import MANIFEST, RECIPE
from discsum.data.preprocess import PreprocessRecipe, makers, preprocess
from discsum.data.summaries import read_pairs
from discsum.encoder.synthesizer import SynthesizerConfig
from discsum.errors import InputError
from discsum.files import sha256
from discsum.persistence import fingerprint
from discsum.recipes.fields import differences
from discsum.recipes.sources import Source
from discsum.summarizer.training.examples import Collection
from discsum.summarizer.training.recipe import SummarizerRecipe
from discsum.summarizer.training.unit_examples import MEMORY, UnitExamples

Report = Callable[[str], None]
# What recipes call options of `discsum preprocess`, where they have another name for one.
FIELD = {"encoder": "vectors"}
# Where a recipe names a table's columns, as errors say it.
COLUMNS = ("text_column in the recipe's source", "summary_column in the recipe's source")


@dataclass(frozen=True)
class Reading:
    """What a training run reads of its documents.

    Attributes:
        parser: Parser of the trees.
        vectors: Unit vectors, as in `SummarizerConfig`; none where units are encoded in training, or not at all.
        unit: `sentence` or `edu`.
        network: Whose head says which priors are read, and whose `max_units` how much of a document.
        oracle: Oracle of the labels; none where they are not read.
        oracle_units: Units the oracle may take, at most.
    """

    parser: str
    vectors: str | None = None
    unit: str = "sentence"
    network: SynthesizerConfig = field(default_factory=lambda: SynthesizerConfig(head="none", max_units=1 << 20))
    oracle: str | None = None
    oracle_units: int | None = None

    @classmethod
    def of(cls, recipe: SummarizerRecipe) -> Reading:
        """Return what an extractive summarizer's run reads."""
        vectors = None if recipe.encodes else recipe.vectors
        return cls(recipe.parser, vectors, recipe.unit, recipe.synthesizer, recipe.oracle, recipe.oracle_units)

    @property
    def made_by(self) -> PreprocessRecipe:
        """Recipe of dataset folders made for it."""
        oracle = self.oracle or "rouge12-f"
        # Both units where the oracle can label both: encoding is what costs, and another recipe may want the other one.
        units = (self.unit,) if oracle == "discobert-edu" else UNITS
        return PreprocessRecipe(self.parser, oracle, self.oracle_units, units, self.vectors or "none")

    def examples(self, folder: Path, memory: int, first: int = 0, last: int | None = None) -> UnitExamples:
        """Return a dataset folder's examples."""
        return UnitExamples(folder, self.unit, self.network, first, last, memory, encoded=self.vectors is not None)

    def check(self, folder: Path, examples: UnitExamples) -> None:
        """Check that a dataset folder was made by what is read of it.

        Raises:
            InputError: It was not; the message names the differences.
        """
        # Vectors and labels that are not read do no harm.
        names = [*(["oracle", "oracle_units"] if self.oracle else []), *(["encoder"] if self.vectors else [])]
        wanted = asdict(self.made_by)
        there = {name: examples.recipe[name] for name in names} | {"parser": examples.recipe["made_by"]["parser"]}
        changed = differences(there, {name: wanted[name] for name in names} | {"parser": fingerprint(self.parser)})
        if changed:
            # What the recipe would have to say to take the folder as it is.
            named = [name for name in (*names, "parser") if examples.recipe[name] != wanted[name]]
            values = {FIELD.get(name, name): examples.recipe[name] for name in named}
            fields = [f"{field}={'null' if value is None else value}" for field, value in values.items()]
            options = [f"--set {field}" for field in fields]
            remedy = f"add {' '.join(fields)} to discsum train or {' '.join(options)} to discsum evaluate, or "
            raise InputError(
                f"{folder}: expected a dataset folder made as the recipe says, found another ({changed}); "
                f"{remedy if fields else ''}preprocess as the recipe says"
            )


def collection(
    sources: Sequence[Source], data: Path, reading: Reading, cache: Path, report: Report, workers: int = 1
) -> Collection:
    """Return the examples of a recipe's sources.

    Args:
        sources: Dataset folders, or tables of texts with summaries.
        data: Folder that their paths are relative to.
        reading: What is read of the documents.
        cache: Folder in which dataset folders made of tables are kept, named by all that made them; runs may share it.
        report: Takes lines of progress.
        workers: Processes that make dataset folders.

    Raises:
        InputError: A source that is none, a dataset folder made with other options, or no document at all.
    """
    found = []
    memory = MEMORY // max(1, len(sources))
    for source in sources:
        path = data / source.path
        if (path / MANIFEST).is_file() or (path / RECIPE).is_file():
            examples = reading.examples(path, memory, source.first, source.last)
            reading.check(path, examples)
            if source.columns:
                raise InputError(
                    f"{path}: expected no {' and '.join(source.columns)} with a dataset folder, whose columns are "
                    "chosen by discsum preprocess"
                )
        else:
            examples = reading.examples(_prepared(path, source, reading.made_by, cache, report, workers), memory)
        report(f"{source}: {len(examples)} documents")
        found.append((examples, source.weight))
    whole = Collection(found)
    if not len(whole):
        raise InputError("expected documents with text and references, got none")
    return whole


def _prepared(table: Path, source: Source, wanted: PreprocessRecipe, cache: Path, report: Report, workers: int) -> Path:
    """Return the dataset folder of a table's rows, made where there is none yet."""
    if not table.is_file():
        raise InputError(f"{table}: expected a dataset folder or a table, found neither")
    identity = {"name": table.name, "sha256": sha256(table), "first": source.first, "last": source.last}
    # Only where they are named: folders keep the names that they have.
    identity |= source.columns
    content = [asdict(wanted), identity, makers(wanted)]
    name = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:12]
    folder = cache / f"{table.name.split('.')[0]}-{name}"
    pairs = read_pairs(table, **source.columns, first=source.first, last=source.last, options=COLUMNS)
    manifest = preprocess(
        pairs,
        identity,
        folder,
        wanted,
        workers=workers,
        wait=True,
        report=lambda done: report(f"{source}: parsed {done}\r"),
        warn=report,
    )
    if manifest.failed:
        report(f"{source}: {manifest.failed} rows left out, see {folder / 'failures.jsonl'}")
    return folder
