"""Inputs of the document encoder: unit vectors, layout features and a head's prior, for one document or a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.document import Document
from discsum.encoder.features import unit_features
from discsum.encoder.heads import HEADS
from discsum.encoder.heads.base import UnitTree
from discsum.encoder.synthesizer import InputBatch, SynthesizerConfig
from discsum.errors import InputError
from discsum.tree import RSTTree

# Most EDUs of a section of several sentences: matrices over EDUs are made before they are projected to sentences.
MOST_EDUS = 4096


@dataclass(frozen=True)
class UnitInputs:
    """Inputs of the network for one section of a document.

    Attributes:
        first: Position of the section's first unit in the document.
        vectors: `(units, width)` unit vectors.
        features: `(units, features)` layout features.
        prior: Arrays that the head reads from the section's tree.
    """

    first: int
    vectors: Tensor
    features: Tensor
    prior: Mapping[str, Tensor]


def unit_inputs(
    document: Document, unit: str, vectors: Tensor, network: SynthesizerConfig, size: int | None = None
) -> Iterator[UnitInputs]:
    """Yield the inputs of each section of a parsed document, in order; nothing for a document without a tree.

    A section has at most `size` units; without `size`, at most `max_units`, and sentences with at most `MOST_EDUS` EDUs
    together unless it is a single sentence. Its prior comes from the tree over its own EDUs, so memory is linear in the
    document's length. `vectors` `(units, width)` only need to cover the sections that are used.
    """
    count = len(document.units(unit))
    if not count or document.tree is None:
        return
    features = torch.from_numpy(unit_features(document, unit))
    # EDUs before the end of each unit that count toward `MOST_EDUS`.
    edus = np.zeros(count, dtype=np.int64)
    if size is None and unit == "sentence":
        edus = np.bincount(document.edu_to_sentence, minlength=count).cumsum()
    for first, after in _sections(edus, min(size or network.max_units, network.max_units)):
        arrays = HEADS[network.head].prior(_section(document, unit, first, after), network.for_head())
        prior = prior_tensors(network.head, arrays)
        yield UnitInputs(first, vectors[first:after], features[first:after], prior)


def prior_tensors(head: str, arrays: Any) -> dict[str, Tensor]:
    """Return what the `prior` of a head returned as tensors, float64 as float32.

    Raises:
        InputError: No dictionary of NumPy arrays of numbers or booleans.
    """
    if not isinstance(arrays, Mapping):
        raise InputError(
            f"head {head!r}: expected prior(units, config) to return a dictionary of NumPy arrays, got "
            f"{type(arrays).__name__}; return {{}} if the head reads nothing from the tree"
        )
    prior = {}
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise InputError(_no_array(head, name, f"{type(array).__module__}.{type(array).__name__}"))
        try:
            # In order, because torch takes no array with negative strides; a copy, because it may be read-only.
            tensor = torch.from_numpy(np.array(array, order="C"))
            prior[name] = tensor.float() if tensor.dtype == torch.float64 else tensor
        except (TypeError, ValueError) as error:
            raise InputError(_no_array(head, name, f"an array of {array.dtype}")) from error
    return prior


def _no_array(head: str, name: object, found: str) -> str:
    return (
        f"head {head!r}: expected prior(units, config)[{name!r}] as a NumPy array of numbers or booleans, got "
        f"{found.removeprefix('builtins.')}; convert it, for example with numpy.asarray(..., dtype=numpy.float32)"
    )


def _sections(edus: NDArray[np.int64], size: int) -> Iterator[tuple[int, int]]:
    """Yield the first unit of each section of at most `size` units, and the unit after its last.

    `edus` `(units,)` is the number of EDUs up to the end of each unit.
    """
    first, before = 0, 0
    while first < len(edus):
        most = int(np.searchsorted(edus, before + MOST_EDUS, side="right"))
        after = min(max(first + 1, most), first + size)
        yield first, after
        first, before = after, int(edus[after - 1])


def _section(document: Document, unit: str, first: int, after: int) -> UnitTree:
    assert document.tree is not None, "only parsed documents have inputs"
    if unit == "edu":
        section = document.tree.section(first, after - 1)
        return UnitTree(section, document.edu_to_sentence[first:after], None, document, first)
    edus = np.flatnonzero((document.edu_to_sentence >= first) & (document.edu_to_sentence < after))
    if not len(edus) or (after == first + 1 and len(edus) > MOST_EDUS):
        # No EDU starts here, because one EDU covers all these sentences; or a single sentence is very long. Place a
        # single EDU in the first sentence, so that each sentence attends to itself.
        return UnitTree(RSTTree(1), np.zeros(1, dtype=np.int64), after - first, document, first)
    section = document.tree.section(int(edus[0]), int(edus[-1]))
    return UnitTree(section, document.edu_to_sentence[edus] - first, after - first, document, first)


def batched(inputs: Sequence[UnitInputs]) -> InputBatch:
    """Return the inputs as one padded batch."""
    lengths = torch.tensor([len(item.vectors) for item in inputs])
    return InputBatch(
        padded([item.vectors for item in inputs]),
        padded([item.features for item in inputs]),
        {name: padded([item.prior[name] for item in inputs]) for name in inputs[0].prior},
        torch.arange(int(lengths.max()))[None, :] < lengths[:, None],
    )


def padded(arrays: Sequence[Tensor]) -> Tensor:
    """Stack tensors of the same rank into `(batch, ...)`, padded with 0 or False, or with -1 if they are integers."""
    sizes = [max(array.shape[place] for array in arrays) for place in range(arrays[0].dim())]
    empty = 0 if arrays[0].is_floating_point() or arrays[0].dtype == torch.bool else -1
    filled = arrays[0].new_full((len(arrays), *sizes), empty)
    for row, array in enumerate(arrays):
        place: tuple[int | slice, ...] = (row, *(slice(size) for size in array.shape))
        filled[place] = array
    return filled
