"""Make a dataset folder of documents with summaries: parsed, labelled and optionally encoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from discsum.data.dataset_maker import SHARD_FILE, DatasetMaker
from discsum.data.equal_ids import warn_of_equal_ids
from discsum.data.failures import Failure
from discsum.data.pairs import Pair, Pairs
from discsum.data.preprocess_recipe import OWN, PreprocessRecipe, makers
from discsum.data.shard_run import ShardJob, absolute
from discsum.data.shards import check_shards
from discsum.data.storage import Location, check_all_unchanged
from discsum.data.tasks import check_shard_unit, shards_of
from discsum.errors import InputError


def preprocess_job(
    pairs: Iterable[Pair | Failure], source: dict[str, Any], folder: Location, recipe: PreprocessRecipe
) -> ShardJob[Pair]:
    """Return the job of a dataset folder, for `make_all`, `make_part` and `finish` of `shard_run`.

    Args:
        pairs: Texts with references, iterated over again at each use of the job; a `Failure` is listed as failed. If
            they come from `PairSource.pairs` and the tables can be divided, workers read them themselves.
        source: Identity of the documents, from `PairSource.identity`.
        folder: Folder of the dataset.
        recipe: Options of the dataset.

    Raises:
        InputError: `pairs` is an iterator, which would be exhausted after the first use; or shards sized in bytes, but
            workers cannot read the texts themselves.
        WeightsError: No such parser or encoder.
    """
    if isinstance(pairs, Iterator):
        raise InputError("pairs: expected a list, or what PairSource.pairs returns, got an iterator; make a list of it")
    tables = pairs.tables(recipe.shard_unit) if isinstance(pairs, Pairs) else None
    check_shard_unit(recipe.shard_unit, tables)
    made_by = makers(recipe)
    elsewhere = replace(recipe, parser=absolute(recipe.parser), encoder=absolute(recipe.encoder, OWN))

    def maker(place: Location, digest: str, device: str) -> DatasetMaker:
        return DatasetMaker(place, digest, made_by, device, elsewhere)

    whole = recipe.to_dict() | {"documents": source, "made_by": made_by}

    def shards() -> Iterator[Iterable[Pair | Failure]]:
        return shards_of(pairs, recipe.shard, recipe.shard_unit, tables)

    files = pairs.source.files if isinstance(pairs, Pairs) and not pairs.source.is_dataset else []
    warn_of_equal_ids(file.path for file in files)
    return ShardJob(shards, folder, whole, SHARD_FILE, maker, check_shards, lambda: check_all_unchanged(files))
