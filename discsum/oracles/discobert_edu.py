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
    """Select EDUs greedily as in `bertsum`, each with the EDU of its sentence that it depends on.

    These are the labels of Xu et al. 2020 (DiscoBERT). A candidate is an EDU and its direct head within the sentence,
    scored and selected together. `k` counts candidates, so up to twice as many EDUs may be selected. `heads` `(edus,)`
    has the EDU that each EDU depends on in its sentence, -1 for none (`in_sentence_heads`).
    """
    groups = [[index] if head < 0 else [index, head] for index, head in enumerate(heads.tolist())]
    return select_groups(units, references, groups, k)
