"""Data of a summarizer recipe: dataset folders, or tables, which are preprocessed into folders next to the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discsum.constants import PARSER_KIND, UNITS
from discsum.data.prepared import MEMORY, Report, read_sources
from discsum.data.preprocess_recipe import NOT_ENCODED, PreprocessRecipe
from discsum.data.storage import Location
from discsum.errors import InputError
from discsum.oracles import is_edu_only
from discsum.persistence import fingerprint
from discsum.recipes.fields import differences
from discsum.recipes.sources import Source
from discsum.summarizer.training.examples import UnitCollection, UnitExamples
from discsum.summarizer.training.recipe import SummarizerRecipe


@dataclass(frozen=True)
class UnitData:
    """The data that a recipe's run needs from dataset folders, for training or for validation."""

    recipe: SummarizerRecipe
    training: bool = False

    @property
    def made_by(self) -> PreprocessRecipe:
        """The preprocessing recipe of the dataset folders that the run needs."""
        recipe = self.recipe
        # Both units if the oracle can label both: encoding is the largest cost, and a later recipe may use the other.
        units = (recipe.unit,) if is_edu_only(recipe.oracle) else UNITS
        vectors = NOT_ENCODED if recipe.encodes else recipe.vectors
        return PreprocessRecipe(recipe.parser, recipe.oracle, recipe.oracle_units, units, vectors)

    def examples(self, folder: Location, memory: int = MEMORY, first: int = 0, last: int | None = None) -> UnitExamples:
        """Return a dataset folder's examples."""
        recipe = self.recipe
        return UnitExamples(
            folder,
            recipe.unit,
            recipe.synthesizer,
            first,
            last,
            memory,
            encoded=not recipe.encodes,
            read=recipe.read_units if self.training else None,
            gains=self.training and recipe.listwise > 0,
        )

    def check(self, folder: Location, recipe: Mapping[str, Any]) -> None:
        """Raise `InputError` with the differences if a dataset folder was made with other options."""
        # The encoder may differ if the vectors are not read.
        names = ["oracle", "oracle_units", *([] if self.recipe.encodes else ["encoder"])]
        wanted = self.made_by.to_dict()
        there = {name: recipe[name] for name in names} | {"parser": recipe["made_by"]["parser"]}
        changed = differences(
            there, {name: wanted[name] for name in names} | {"parser": fingerprint(self.recipe.parser, PARSER_KIND)}
        )
        if recipe["encoder"] == NOT_ENCODED != wanted["encoder"] and "encoder" in names:
            raise InputError(
                f"{folder}: expected unit vectors, found a dataset folder without any; preprocess with "
                f"--encoder {wanted['encoder']}"
            )
        if changed:
            # Settings with which the recipe would accept the folder; the recipe calls the encoder `vectors`.
            fields = [
                f"{'vectors' if name == 'encoder' else name}={'null' if recipe[name] is None else recipe[name]}"
                for name in (*names, "parser")
                if recipe[name] != wanted[name]
            ]
            options = " ".join(f"--set {field}" for field in fields)
            remedy = f"add {' '.join(fields)} to discsum train or {options} to discsum evaluate, or "
            raise InputError(
                f"{folder}: expected a dataset folder made as the recipe says, found one made differently ({changed}); "
                f"{remedy if fields else ''}preprocess as the recipe says"
            )


def collection(
    sources: Sequence[Source], data: Path, recipe: SummarizerRecipe, cache: Path, report: Report
) -> UnitCollection:
    """Return the examples of a recipe's training or validation sources; arguments and errors as in `read_sources`."""
    return UnitCollection(read_sources(sources, data, UnitData(recipe, sources is recipe.train), cache, report))
