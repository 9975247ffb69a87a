"""Oracle labels: the units that a greedy search with the reference at hand would select, by name in `ORACLES`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discsum.errors import InputError
from discsum.oracles.bertsum import bertsum, discobert_edu
from discsum.oracles.kedzie import kedzie
from discsum.oracles.rouge12 import rouge12_f

# How many units each may take unless told otherwise, as its paper sets it.
ORACLES: dict[str, int | None] = {"kedzie": None, "bertsum": 3, "discobert-edu": 5, "rouge12-f": None}


def oracle_labels(
    name: str,
    units: Sequence[str],
    references: str | Sequence[str],
    k: int | None = None,
    heads: NDArray[np.int64] | None = None,
) -> NDArray[np.int8]:
    """Return 1 for every unit of the oracle summary and 0 for the others `(units,)`.

    Args:
        name: One of `ORACLES`.
        units: The units' texts.
        references: The reference summary, or several.
        k: At most so many units; by default what the oracle's paper sets.
        heads: `(units,)` the EDU each EDU depends on in its sentence, -1 for none; `discobert-edu` needs them.

    Raises:
        InputError: An unknown name (the message lists the choices), no reference, or no heads where they are needed.
    """
    if name not in ORACLES:
        raise InputError(f"expected an oracle out of {', '.join(ORACLES)}, got {name!r}")
    texts = [references] if isinstance(references, str) else list(references)
    if not any(text.strip() for text in texts):
        raise InputError("expected a reference summary to make oracle labels, got none")
    limit = ORACLES[name] if k is None else k
    if name == "discobert-edu":
        if heads is None:
            raise InputError(
                "discobert-edu: expected EDUs that depend on each other, got units without heads; use unit edu"
            )
        chosen = discobert_edu(units, texts, limit, heads)
    else:
        search = {"kedzie": kedzie, "bertsum": bertsum, "rouge12-f": rouge12_f}[name]
        chosen = search(units, texts, limit)
    labels = np.zeros(len(units), dtype=np.int8)
    labels[chosen] = 1
    return labels
