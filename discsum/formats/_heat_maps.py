"""The prior matrices of a document as small images, for a page that draws them."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discsum.document import Document
from discsum.priors import c_tree, c_tree_nuc, d_tree, project_to_sentences

# Most cells per side; a larger matrix is shown by the means of blocks.
CELLS = 256
# Without a limit, one matrix of 20,000 EDUs would need some gigabytes.
MOST_EDUS = 6000


def heat_maps(document: Document) -> list[dict[str, Any]]:
    """Return D-Tree, C-Tree and C-Tree w/Nuc over EDUs and over sentences; none for more than `MOST_EDUS` EDUs.

    An image is `{name, unit, units, block, least, most, cells}`: a cell is the mean of `block` times `block` weights as
    one byte of base64. 0 is no weight; 1 to 255 are on a logarithmic scale from `least`, the least mean above 0, to
    `most`, because most weights of a C-Tree are far below those near its diagonal.
    """
    tree = document.tree
    if tree is None or tree.edus > MOST_EDUS:
        return []
    sentence, count = document.edu_to_sentence, len(document.sentences)
    images = []
    for name, matrix in (
        ("D-Tree", d_tree(tree, sentence)),
        ("C-Tree", c_tree(tree)),
        ("C-Tree w/Nuc", c_tree_nuc(tree)),
    ):
        images.append(_image(name, "edu", matrix))
        images.append(_image(name, "sentence", project_to_sentences(matrix, sentence, count)))
    return images


def _image(name: str, unit: str, matrix: NDArray[np.float32]) -> dict[str, Any]:
    units = len(matrix)
    block = -(-units // CELLS)
    starts = np.arange(0, units, block)
    sizes = np.minimum(starts + block, units) - starts
    # Along rows first, because rows are contiguous in memory.
    sums = np.add.reduceat(np.add.reduceat(matrix, starts, axis=1), starts, axis=0)
    means = sums / np.outer(sizes, sizes)
    weighty = means > 0
    least, most = float(means[weighty].min()), float(means.max())
    steps = np.log(means, where=weighty, out=np.zeros_like(means)) - np.log(least)
    span = np.log(most / least)
    shares = steps / span if span else np.ones_like(means)
    cells = np.where(weighty, 1 + np.round(np.clip(shares, 0, 1) * 254), 0).astype(np.uint8)
    encoded = b64encode(cells.tobytes()).decode("ascii")
    return {
        "name": name,
        "unit": unit,
        "units": units,
        "block": block,
        "least": float(f"{least:.6g}"),
        "most": float(f"{most:.6g}"),
        "cells": encoded,
    }
