"""Which way of reading documents costs less: measured on a CPU, for mean_key and beams that share their sentences.

By tests/benchmarks/sparse_decoder.py, in the shape of bart-large.
"""

from __future__ import annotations

from collections.abc import Sequence

# Selecting r sentences and reading them costs as much as reading (r + SELECTING) * GATHERED of them in place.
GATHERED, SELECTING = 3.5, 2
# Over a summary of so many tokens it must pay not to make keys and values; the maps that take their place cost a step
# as much as reading so many sentences more.
STEPS, MAPPING = 100, 15


def whole_is_cheaper(sentences: int, r: int) -> bool:
    """Return whether reading all sentences of a document costs a step less than selecting `r`."""
    return sentences < (r + SELECTING) * GATHERED


def states_are_cheaper(sentences: Sequence[int], read: Sequence[int], head_size: int, beams: int) -> bool:
    """Return whether reading encoder states costs a summary less than making keys and values of them first.

    Making both costs `4 width^2` a token, doing without them `4 width * heads * beams` a step and token that is read.

    Args:
        sentences: How many each document has.
        read: How many of them a step reads.
        head_size: Size of an attention head.
        beams: Queries of a step and document.
    """
    return sum(sentences) * head_size > STEPS * beams * sum(count + MAPPING for count in read)
