"""Cost model of sparse decoding: when to read whole documents, and when to read encoder states.

Constants measured on a CPU by tests/benchmarks/sparse_decoder.py: bart-large's shape, mean_key, shared beams.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

# Selecting r sentences and reading them costs as much as reading (r + SELECTING) * GATHERED sentences in place.
GATHERED, SELECTING = 3.5, 2
# Reading states must pay off over a summary of STEPS tokens; per step, its extra projections cost as much as
# reading MAPPING more sentences.
STEPS, MAPPING = 100, 15


def whole_below(r: int) -> int:
    """Return the number of sentences below which a step that reads all of them is faster than one that selects `r`."""
    return math.ceil((r + SELECTING) * GATHERED)


def states_are_cheaper(sentences: Sequence[int], read: Sequence[int], head_size: int, beams: int) -> bool:
    """Return whether reading encoder states is cheaper over a summary than projecting them to keys and values first.

    Projecting costs `4 width^2` a token; reading states costs `4 width * heads * beams` for each step and token read.
    `sentences` are the numbers of sentences of the documents, `read` how many of them a step reads.
    """
    return sum(sentences) * head_size > STEPS * beams * sum(count + MAPPING for count in read)
