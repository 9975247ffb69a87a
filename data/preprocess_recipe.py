"""The options of a dataset folder, and the versions of the program and models that make it."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

from discsum.constants import PARSER_KIND, PRECISIONS, SHIPPED_PARSER, UNITS, VECTORS
from discsum.data.shard_sizes import DOCUMENTS, SIZE_UNITS
from discsum.errors import WeightsError
from discsum.oracles import ORACLES, is_edu_only
from discsum.persistence import fingerprint
from discsum.recipes.fields import Checked, Count, ModelName, about, one_of

# Encoders that are neither a folder nor a model of the hub.
NOT_ENCODED = "none"
OWN = (NOT_ENCODED, *VECTORS)
# Value of `oracle` for no labels.
UNLABELLED = "none"


def _oracles() -> list[str]:
    return [*ORACLES, UNLABELLED]


@dataclass(frozen=True)
class PreprocessRecipe(Checked):
    """Everything that a dataset's content depends on, in addition to the documents."""

    parser: Annotated[ModelName, about("Name or folder of the parser.")] = SHIPPED_PARSER
    oracle: Annotated[str, one_of(_oracles, "Name of the oracle that labels units; `none` for no labels.")] = (
        "rouge12-f"
    )
    oracle_units: Annotated[
        Count | None, about("Maximum number of units that the oracle selects; by default as in its paper.")
    ] = None
    units: Annotated[tuple[str, ...], about("Which units are labelled and encoded: `sentence`, `edu`, or both.")] = (
        UNITS
    )
    encoder: Annotated[
        ModelName,
        about(
            "Encoder of the units: `none`; `contextual`, `discourse` or `isolated` for the parser's own encoder (see "
            "`SummarizerConfig.vectors`); or the name or folder of a Hugging Face encoder, which encodes each unit "
            "separately."
        ),
    ] = NOT_ENCODED
    shard: Annotated[Count, about("Documents per file, or bytes of input per file, as `shard_unit` says.")] = 256
    tree: Annotated[bool, about("Whether documents have trees, or only sentences and EDUs.")] = True
    shard_unit: Annotated[
        str, one_of(SIZE_UNITS, "What `shard` counts: `documents`, or `bytes` of the tables that are read.")
    ] = DOCUMENTS
    precision: Annotated[str, one_of(PRECISIONS, "Numeric precision of the parser's encoder.")] = "fp32"
    batch_size: Annotated[Count, about("Documents processed together; the last digits of numbers depend on it.")] = 8

    def problems(self) -> list[str]:
        """Return what is wrong with fields that do not fit together."""
        problems = []
        if is_edu_only(self.oracle) and self.units != ("edu",):
            problems.append(f"oracle: expected {self.oracle} with the unit edu only, got {' and '.join(self.units)}")
        if self.oracle == UNLABELLED and self.oracle_units is not None:
            problems.append(f"oracle_units: expected none with oracle {UNLABELLED}, got {self.oracle_units}")
        if not self.tree and (self.oracle, self.encoder) != (UNLABELLED, NOT_ENCODED):
            problems.append(
                f"tree: expected oracle none and encoder none without trees, got {self.oracle} and {self.encoder}"
            )
        if not self.units or not set(self.units) <= set(UNITS):
            problems.append(f"units: expected one or more of {', '.join(UNITS)}, got {', '.join(self.units) or 'none'}")
        # Rejects likely typos here: the hub takes a minute to reject an unknown name.
        alike = get_close_matches(self.encoder.lower(), OWN, cutoff=0.8)
        if self.encoder not in OWN and alike and not Path(self.encoder).is_dir():
            problems.append(
                f"encoder: expected one of {', '.join(OWN)}, or an encoder's name or folder, got {self.encoder!r}"
            )
        return problems


def own_makers(parser: str) -> dict[str, str]:
    """Return the version of discsum and the fingerprint of the parser."""
    return {"discsum": version("discsum"), "parser": fingerprint(parser, PARSER_KIND)}


def makers_without_encoder(recipe: PreprocessRecipe) -> dict[str, str]:
    """Return the version of discsum, the parser's fingerprint, and the identity of a foreign oracle."""
    return own_makers(recipe.parser) | ({} if recipe.oracle == UNLABELLED else ORACLES.code(recipe.oracle))


def makers(recipe: PreprocessRecipe) -> dict[str, str]:
    """Return the version of discsum, the parser's fingerprint, and the identities of encoder and foreign oracle.

    Raises:
        WeightsError: No such parser or encoder.
    """
    made = makers_without_encoder(recipe)
    if recipe.encoder in OWN:
        return made
    from discsum.parsers.unit_encoders import identity

    try:
        return made | identity(recipe.encoder)
    except WeightsError as error:
        raise WeightsError(f"{error}; or use one of {', '.join(OWN)}") from error
