"""Data of a summarizer's recipe: dataset folders, and tables, which are preprocessed next to the run."""

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

# Recipe fields that have another name than the option of `discsum preprocess`.
FIELD = {"encoder": "vectors"}


@dataclass(frozen=True)
class UnitData:
    """The part of its documents that a training run reads.

    Attributes:
        parser: Parser of the trees.
        vectors: Unit vectors, as in `SummarizerConfig`; none if units are encoded during training.
        unit: `sentence` or `edu`.
        network: Its head determines the priors, its `max_units` the section of a document that is read.
        oracle: Oracle of the labels.
        oracle_units: Maximum number of units that the oracle selects.
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
        """Recipe of the dataset folders it needs."""
        # Both units if the oracle can label both: encoding costs most, and another recipe may use the other.
        units = (self.unit,) if self.oracle in ORACLES and ORACLES.entry(self.oracle).facts.get("edu_only") else UNITS
        return PreprocessRecipe(self.parser, self.oracle, self.oracle_units, units, self.vectors or "none")

    def examples(self, folder: Path, memory: int = MEMORY, first: int = 0, last: int | None = None) -> UnitExamples:
        """Return a dataset folder's examples."""
        return UnitExamples(folder, self.unit, self.network, first, last, memory, encoded=self.vectors is not None)

    def check(self, folder: Path, recipe: Mapping[str, Any]) -> None:
        """Check that a dataset folder was made with the options of the recipe.

        Raises:
            InputError: It was not; the message names the differences.
        """
        # Vectors that are not read may differ.
        names = ["oracle", "oracle_units", *(["encoder"] if self.vectors else [])]
        wanted = self.made_by.to_dict()
        there = {name: recipe[name] for name in names} | {"parser": recipe["made_by"]["parser"]}
        changed = differences(there, {name: wanted[name] for name in names} | {"parser": fingerprint(self.parser)})
        if changed:
            # Settings by which the recipe would accept the folder.
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
