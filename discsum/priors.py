"""Attention matrices computed from the discourse tree alone.

Xiao, Huber, Carenini 2020, *Do We Really Need That Many Parameters In Transformer For Extractive
Summarization? Discourse Can Help!*, section 4. Every matrix is float32 and its rows sum to 1; do
not apply softmax to it. A document in place of its tree or of the sentences of its EDUs raises
`TypeError`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discsum.dependency import attach_to_sentences, check_edu_to_sentence, edu_heads
from discsum.errors import InputError
from discsum.tree import RSTTree, check_tree


def d_tree(tree: RSTTree, edu_to_sentence: ArrayLike | None = None) -> NDArray[np.float32]:
    """Return the D-Tree `(edus, edus)`: `A[dependent, head] = 1`, the root points at itself.

    Given the sentence of every EDU `(edus,)`, the dependency tree is edited first so that every sentence
    has one root (`attach_to_sentences`).

    Raises:
        InputError: Sentences that `attach_to_sentences` refuses.
    """
    heads = edu_heads(tree)
    if edu_to_sentence is not None:
        heads = attach_to_sentences(heads, edu_to_sentence)
    matrix = np.zeros((tree.edus, tree.edus), dtype=np.float32)
    matrix[np.arange(tree.edus), heads] = 1
    return matrix


def c_tree(tree: RSTTree) -> NDArray[np.float32]:
    """Return the C-Tree `(edus, edus)`: how many constituents cover both EDUs, rows normalised.

    `A = normalize(sum_L M^L)`, where `M^L[i, j] = 1` iff EDUs i and j share a constituent at level L. The
    root and the leaves count as constituents, so before normalisation `A[i, j] = depth(lca(i, j)) + 1`.
    """
    check_tree(tree)
    return c_tree_weighted(tree, np.ones(len(tree.nodes)), np.ones(tree.edus))


def c_tree_nuc(tree: RSTTree) -> NDArray[np.float32]:
    """Return the C-Tree w/Nuc `(edus, edus)`: as `c_tree`, but a nucleus counts 2.

    A satellite counts 1, and so does the root, which stands in no relation.
    """
    check_tree(tree)
    return _weighted_by_role(tree, [1.0] * len(tree.nodes))


def c_tree_confidence(tree: RSTTree) -> NDArray[np.float32]:
    """Return the C-Tree `(edus, edus)` in which a nucleus counts 1 + p if its parent node has probability p.

    A satellite counts 1, and so does the root. So a tree in which the parser is certain gives `c_tree_nuc`, as gold
    trees do, and one in which it is not gives `c_tree`. The paper leaves this to future work.
    """
    check_tree(tree)
    return _weighted_by_role(tree, [node.probability for node in tree.nodes])


def c_tree_weighted(tree: RSTTree, node_weights: ArrayLike, leaf_weights: ArrayLike) -> NDArray[np.float32]:
    """Return the C-Tree `(edus, edus)` in which every constituent counts its own weight.

    Before normalisation `A[i, j]` is the sum of the weights of all constituents that cover EDUs i and j:
    the weights on the path from the root to `lca(i, j)`, both included.

    Args:
        tree: The tree over the EDUs.
        node_weights: `(nodes,)`, positive, in pre-order.
        leaf_weights: `(edus,)`, positive: the EDUs are constituents too.

    Raises:
        InputError: Weights of another shape, or that are not positive and finite.
    """
    check_tree(tree)
    nodes = _check_weights("node", node_weights, len(tree.nodes))
    leaves = _check_weights("leaf", leaf_weights, tree.edus)
    node_parent, edu_parent = tree.parents
    # A parent of -1 takes the last entry.
    paths = [*nodes.tolist(), 0.0]
    for index, parent in enumerate(node_parent.tolist()):
        paths[index] += paths[parent]
    sums = np.concatenate([np.array(paths)[edu_parent] + leaves, paths[:-1]])
    return _normalize(_within_float32(sums)[lowest_common(tree)])


def lowest_common(tree: RSTTree) -> NDArray[np.int64]:
    """Return `(edus, edus)`: the lowest constituent that covers both EDUs, numbered as in `RSTTree.children`."""
    check_tree(tree)
    # Every boundary between two EDUs is one node's split. Of the boundaries between a pair of EDUs, their lowest common
    # node is the highest, the first in pre-order: a running minimum gives it for all pairs of an EDU at once.
    by_split = np.empty(len(tree.nodes), dtype=np.int64)
    by_split[tree.spans[:, 2]] = tree.edus + np.arange(len(tree.nodes))
    common = np.empty((tree.edus, tree.edus), dtype=np.int64)
    for edu, row in enumerate(common):
        np.minimum.accumulate(by_split[edu:], out=row[edu + 1 :])
        np.minimum.accumulate(by_split[:edu][::-1], out=row[:edu][::-1])
        row[edu] = edu
    return common


def project_to_sentences(
    matrix: ArrayLike, edu_to_sentence: ArrayLike, sentences: int | None = None
) -> NDArray[np.float32]:
    """Return the matrix `(sentences, sentences)` that an EDU matrix `(edus, edus)` induces, rows normalised.

    `A_s = normalize(I A_e I^T)` with `I[s, e] = 1` iff EDU e is in sentence s, that is, starts in it. A
    sentence in which no EDU starts (an earlier EDU covers it) has no row in `A_e`: it attends to itself
    alone, and no other sentence attends to it.

    Args:
        matrix: `(edus, edus)`, not negative.
        edu_to_sentence: `(edus,)`: the sentence of every EDU, in any order.
        sentences: Number of sentences; by default up to the last one in which an EDU starts.

    Raises:
        InputError: Shapes that do not fit each other, a weight that is negative or not finite, or a sentence that is
            not a whole number or out of range.
    """
    check_edu_to_sentence(edu_to_sentence)
    matrix, sentence = np.asarray(matrix), np.asarray(edu_to_sentence)
    if sentence.ndim != 1 or not len(sentence):
        raise InputError(f"expected a sentence for each EDU, got an array of shape {sentence.shape}")
    if matrix.shape != (len(sentence), len(sentence)):
        raise InputError(f"expected a square matrix over {len(sentence)} EDUs, got shape {matrix.shape}")
    if np.iscomplexobj(matrix):
        raise InputError(f"expected real weights, got {matrix.dtype}")
    if not (fine := np.isfinite(matrix) & (matrix >= 0)).all():
        raise InputError(f"expected finite weights of at least 0, got {matrix[~fine][0]}")
    if not np.issubdtype(sentence.dtype, np.integer):
        raise InputError(f"expected whole numbers of sentences, got {sentence.dtype}")
    count = int(sentence.max()) + 1 if sentences is None else sentences
    if sentence.min() < 0 or sentence.max() >= count:
        raise InputError(f"expected sentences in 0 to {count - 1}, got {sentence.min()} to {sentence.max()}")
    if np.any(np.diff(sentence) < 0):
        order = np.argsort(sentence, kind="stable")
        matrix, sentence = matrix[np.ix_(order, order)], sentence[order]
    present, starts = np.unique(sentence, return_index=True)
    # (edus, edus) -> (present, edus) -> (present, present); sums may exceed what float16 holds.
    sums = np.add.reduceat(np.add.reduceat(matrix, starts, axis=0, dtype=np.float64), starts, axis=1)
    projected = np.zeros((count, count), dtype=np.float32)
    projected[np.ix_(present, present)] = _within_float32(sums)
    empty = np.flatnonzero(projected.sum(axis=1) == 0)
    projected[empty, empty] = 1
    return _normalize(projected)


def _weighted_by_role(tree: RSTTree, probabilities: list[float]) -> NDArray[np.float32]:
    """Return the C-Tree in which nuclei of nodes of probability p count 1 + p, satellites and the root 1."""
    above = np.array([*probabilities, 1.0])
    nodes, leaves = (
        np.where(nucleus, 1.0 + above[parent], 1.0) for nucleus, parent in zip(tree.nucleus, tree.parents, strict=True)
    )
    (nodes if tree.nodes else leaves)[0] = 1.0
    return c_tree_weighted(tree, nodes, leaves)


def _normalize(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Divide every row by its sum, in place; the sums are float64 so that large trees lose no digits."""
    matrix /= matrix.sum(axis=1, keepdims=True, dtype=np.float64).astype(np.float32)
    return matrix


def _within_float32(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return values of at least 0 scaled to at most 1, by a power of 2, which changes no digit."""
    scaled: NDArray[np.float64] = np.ldexp(values, -np.frexp(values.max(initial=0.0))[1])
    return scaled.astype(np.float32)


def _check_weights(kind: str, weights: ArrayLike, count: int) -> NDArray[np.float64]:
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (count,):
        raise InputError(f"expected {count} {kind} weights, got an array of shape {values.shape}")
    if not (fine := np.isfinite(values) & (values > 0)).all():
        raise InputError(f"expected positive finite {kind} weights, got {values[~fine][0]}")
    return values
