"""One vector a unit, pooled from the encoding of the whole text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.document import Span


def pool(vectors: Tensor, starts: NDArray[np.int64], spans: Sequence[Span]) -> Tensor:
    """Return `(units, width)`: the mean of the subword vectors that begin in each span.

    Args:
        vectors: `(subwords, width)` contextual vectors of the whole text.
        starts: `(subwords,)` offset of each subword's first character, in order.
        spans: Units of the text, in order; one without a subword gets zeros.
    """
    bounds = np.array([(span.start, span.end) for span in spans], dtype=np.int64).reshape(-1, 2)
    first, after = torch.from_numpy(np.searchsorted(starts, bounds.T)).to(vectors.device)
    owner = torch.repeat_interleave(torch.arange(len(spans), device=vectors.device), after - first)
    # Units tile the text, so the subwords of all units are one stretch.
    inside = vectors[first[0] : after[-1]] if len(spans) else vectors[:0]
    sums = vectors.new_zeros(len(spans), vectors.shape[1]).index_add(0, owner, inside)
    means: Tensor = sums / (after - first).clamp_min(1)[:, None]
    return means
