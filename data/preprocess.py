"""Documents with summaries, parsed, labelled and maybe encoded, as a dataset folder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Unpack

from discsum.data import shard_run
from discsum.data.dataset_maker import SHARD_FILE, DatasetMaker
from discsum.data.manifest import Manifest
from discsum.data.pairs import Pair, Pairs
from discsum.data.parts import Part
from discsum.data.preprocess_recipe import PreprocessRecipe, makers
from discsum.data.run_options import RunArguments, RunOptions
from discsum.data.shard_run import ShardJob, absolute
from discsum.data.shards import check_shards
from discsum.data.storage import Location
from discsum.data.tables import Failure
from discsum.data.tasks import shards_of

__all__ = ["PreprocessRecipe", "finish", "preprocess", "preprocess_job", "preprocess_part"]


def preprocess(
    pairs: Iterable[Pair | Failure],
    source: dict[str, Any],
    folder: Location,
    recipe: PreprocessRecipe,
    **options: Unpack[RunArguments],
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
        options: Those of the run, see `RunOptions`.

    Raises:
        InputError: The folder has another dataset, or a damaged one; another run has locked it; or there is no such
            device.
        WeightsError: No such parser or encoder.
    """
    return shard_run.make_all(preprocess_job(pairs, source, folder, recipe), RunOptions(**options))


def preprocess_part(
    pairs: Iterable[Pair | Failure],
    source: dict[str, Any],
    folder: Location,
    recipe: PreprocessRecipe,
    part: Part,
    **options: Unpack[RunArguments],
) -> int:
    """Write the shards of one part into a dataset folder, beside runs that write others; return their number.

    `finish` writes the manifest when the shards of all parts are there. Arguments and errors as of `preprocess`.
    """
    return shard_run.make_part(preprocess_job(pairs, source, folder, recipe), part, RunOptions(**options))


def finish(
    pairs: Iterable[Pair | Failure],
    source: dict[str, Any],
    folder: Location,
    recipe: PreprocessRecipe,
    **options: Unpack[RunArguments],
) -> Manifest:
    """Write the manifest of a dataset folder whose shards were made in parts, and return it; nothing is parsed.

    Arguments as of `preprocess`; the documents are read to know how many shards there are.

    Raises:
        InputError: Shards that are missing or damaged; the message names them. Others as of `preprocess`.
    """
    return shard_run.finish(preprocess_job(pairs, source, folder, recipe), RunOptions(**options))


def preprocess_job(
    pairs: Iterable[Pair | Failure], source: dict[str, Any], folder: Location, recipe: PreprocessRecipe
) -> ShardJob[Pair]:
    """Return the job of a dataset folder; arguments as of `preprocess`.

    Raises:
        WeightsError: No such parser or encoder.
    """
    made_by = makers(recipe)
    elsewhere = replace(recipe, parser=absolute(recipe.parser), encoder=absolute(recipe.encoder))

    def maker(place: Location, digest: str, device: str) -> DatasetMaker:
        return DatasetMaker(place, digest, made_by, device, elsewhere)

    whole = recipe.to_dict() | {"documents": source, "made_by": made_by}
    tables = pairs.tables() if isinstance(pairs, Pairs) else None
    shards = shards_of(pairs, recipe.shard, recipe.shard_unit, tables)
    return ShardJob(shards, folder, whole, SHARD_FILE, maker, check_shards)
