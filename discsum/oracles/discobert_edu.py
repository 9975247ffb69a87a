"""`discobert-edu`: `bertsum` over EDUs, each with the EDU of its sentence that it depends on (Xu et al. 2020)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discsum.oracles import ORACLES
from discsum.oracles.bertsum import select_groups


@ORACLES.register("discobert-edu", units=5, edu_only=True)
def discobert_edu(
    units: Sequence[str], references: Sequence[str], k: int | None, heads: NDArray[np.int64]
) -> list[int]:
    """Return the EDUs found greedily as `bertsum` does, each with the EDU of its sentence that it depends on.

    The labels of Xu et al. 2020 (DiscoBERT): a candidate is an EDU and its direct dependency within the sentence,
    scored and taken together; `k` counts candidates, so there may be up to twice as many labels. `heads` `(edus,)` has
    the EDU each depends on in its sentence, -1 for none (`in_sentence_heads`).
    """
    groups = [[index] if head < 0 else [index, head] for index, head in enumerate(heads.tolist())]
    return select_groups(units, references, groups, k)
