"""How much is computed at once: on a CPU what fits its caches, elsewhere what keeps the device busy."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Budget:
    """Sizes of what is padded and computed together, padding included.

    Attributes:
        documents: Subwords of documents that are parsed together, of those that are given together.
        tokens: Subwords of one pass of the encoder, special ones included, and of the segmenter.
        edus: EDUs that one pass of the LSTM and the Transformer across EDUs reads.
        cells: Cells `blocks * blocks` of charts that are decoded together.
        overlap: Whether the CPU's own work, on the documents before and after, is done while the device computes.
    """

    documents: int
    tokens: int
    edus: int
    cells: int
    overlap: bool = False


# More tokens take memory and save no time on a CPU; there an LSTM reads each document alone, without padding.
ON_CPU = Budget(documents=sys.maxsize, tokens=2048, edus=1, cells=2**15)
ELSEWHERE = Budget(documents=2**18, tokens=2**16, edus=2**14, cells=2**20, overlap=True)


def budget_of(device: torch.device) -> Budget:
    """Return the budget of a device."""
    return ON_CPU if device.type == "cpu" else ELSEWHERE


def padded_groups(sizes: Sequence[int], budget: int, power: int = 1) -> Iterator[list[int]]:
    """Yield indices of items that are padded to the longest of a group, shortest items first.

    Args:
        sizes: Length of each item.
        budget: Largest number of items of a group times its longest length; a longer item is a group of its own.
        power: Power of the length in it.
    """
    group: list[int] = []
    for index in sorted(range(len(sizes)), key=sizes.__getitem__):
        if group and (len(group) + 1) * sizes[index] ** power > budget:
            yield group
            group = []
        group.append(index)
    if group:
        yield group


def joined(parts: Sequence[Tensor]) -> Tensor:
    """Return the rows of all parts; a single part is not copied."""
    return parts[0] if len(parts) == 1 else torch.cat([*parts])
