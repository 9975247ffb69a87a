"""What a summarizer's recipe learns from: dataset folders, and tables that become such folders beside the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discsum.constants import UNITS
from discsum.data.prepared import MEMORY, Report, read_sources
from discsum.data.preprocess import PreprocessRecipe
from discsum.encoder.synthesizer import SynthesizerConfig
from discsum.errors import InputError
from discsum.oracles import ORACLES
from discsum.persistence import fingerprint
from discsum.recipes.fields import differences
from discsum.recipes.sources import Source
from discsum.summarizer.training.examples import UnitCollection
from discsum.summarizer.training.recipe import SummarizerRecipe
from discsum.summarizer.training.unit_examples import UnitExamples

# What recipes call options of `discsum preprocess`, where they have another name for one.
FIELD = {"encoder": "vectors"}


@dataclass(frozen=True)
class UnitData:
    """What the training run of an extractive summarizer reads of its documents.

    Attributes:
        parser: Parser of the trees.
        vectors: Unit vectors, as in `SummarizerConfig`; none where units are encoded in training.
        unit: `sentence` or `edu`.
        network: Whose head says which priors are read, and whose `max_units` how much of a document.
        oracle: Oracle of the labels.
        oracle_units: Units the oracle may take, at most.
    """

    parser: str
    vectors: str | None
    unit: str
    network: SynthesizerConfig
    oracle: str
    oracle_units: int | None

    @classmethod
    def of(cls, recipe: SummarizerRecipe) -> UnitData:
        """Return what the run of a recipe reads."""
        vectors = None if recipe.encodes else recipe.vectors
        return cls(recipe.parser, vectors, recipe.unit, recipe.synthesizer, recipe.oracle, recipe.oracle_units)

    @property
    def made_by(self) -> PreprocessRecipe:
        """Recipe of dataset folders made for it."""
        # Both units where the oracle can label both: encoding is what costs, and another recipe may want the other one.
        units = (self.unit,) if self.oracle in ORACLES and ORACLES.facts(self.oracle).get("edu_only") else UNITS
        return PreprocessRecipe(self.parser, self.oracle, self.oracle_units, units, self.vectors or "none")

    def examples(self, folder: Path, memory: int = MEMORY, first: int = 0, last: int | None = None) -> UnitExamples:
        """Return a dataset folder's examples."""
        return UnitExamples(folder, self.unit, self.network, first, last, memory, encoded=self.vectors is not None)

    def check(self, folder: Path, recipe: Mapping[str, Any]) -> None:
        """Check that a dataset folder was made by what is read of it.

        Raises:
            InputError: It was not; the message names the differences.
        """
        # Vectors that are not read do no harm.
        names = ["oracle", "oracle_units", *(["encoder"] if self.vectors else [])]
        wanted = self.made_by.to_dict()
        there = {name: recipe[name] for name in names} | {"parser": recipe["made_by"]["parser"]}
        changed = differences(there, {name: wanted[name] for name in names} | {"parser": fingerprint(self.parser)})
        if changed:
            # What the recipe would have to say to take the folder as it is.
            named = [name for name in (*names, "parser") if recipe[name] != wanted[name]]
            values = {FIELD.get(name, name): recipe[name] for name in named}
            fields = [f"{field}={'null' if value is None else value}" for field, value in values.items()]
            options = [f"--set {field}" for field in fields]
            remedy = f"add {' '.join(fields)} to discsum train or {' '.join(options)} to discsum evaluate, or "
            raise InputError(
                f"{folder}: expected a dataset folder made as the recipe says, found another ({changed}); "
                f"{remedy if fields else ''}preprocess as the recipe says"
            )


def collection(sources: Sequence[Source], data: Path, needs: UnitData, cache: Path, report: Report) -> UnitCollection:
    """Return the examples of a recipe's sources; arguments and errors as in `read_sources`."""
    return UnitCollection(read_sources(sources, data, needs, cache, report))
