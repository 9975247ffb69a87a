"""Limits on how much is computed at once: on a CPU what fits its caches, elsewhere what keeps the device busy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Budget:
    """Upper limits on the size of one batch, padding included.

    Attributes:
        documents: Subwords of the documents that are parsed together; more documents are parsed group by group.
        tokens: Subwords per forward pass of the encoder, special tokens included, and of the segmenter.
        edus: EDUs per forward pass of the LSTM and the Transformer over EDUs.
        cells: Chart cells that are computed together: `leaves * leaves` per chart, and at least `LEAST` per leaf, see
            `discsum.parsers.structure.chart`.
        overlap: Whether the CPU works on the previous and next documents while the device computes.
        texts: Texts that are split into subwords together, by threads of the tokenizer, and labelled together by
            teachers.
    """

    documents: int
    tokens: int
    edus: int
    cells: int
    overlap: bool = False
    texts: int = 1


# On a CPU, more tokens cost memory and save no time, and the LSTM reads each document alone, without padding.
ON_CPU = Budget(documents=sys.maxsize, tokens=2048, edus=1, cells=2**15)
ELSEWHERE = Budget(documents=2**18, tokens=2**16, edus=2**14, cells=2**20, overlap=True, texts=32)


def budget_of(device: torch.device) -> Budget:
    """Return the budget of a device."""
    return ON_CPU if device.type == "cpu" else ELSEWHERE


def padded_groups(
    sizes: Sequence[int], budget: int, cost: Callable[[int], int] = lambda size: size
) -> Iterator[list[int]]:
    """Yield groups of item indices, shortest items first; each group is to be padded to its longest item.

    Args:
        sizes: Length of each item.
        budget: Limit on the number of items in a group times the cost of the longest. An item that exceeds it forms its
            own group.
        cost: Returns the cost of an item of a given length, which grows with the length.
    """
    group: list[int] = []
    for index in sorted(range(len(sizes)), key=sizes.__getitem__):
        if group and (len(group) + 1) * cost(sizes[index]) > budget:
            yield group
            group = []
        group.append(index)
    if group:
        yield group


def concatenate(parts: Sequence[Tensor]) -> Tensor:
    """Return the rows of all parts, concatenated; a single part is not copied."""
    return parts[0] if len(parts) == 1 else torch.cat([*parts])
