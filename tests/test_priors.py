from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_trees import every_tree, leaves, random_tree

from discsum.dependency import edu_heads, node_heads, same_unit_groups
from discsum.document import Document
from discsum.errors import InputError
from discsum.priors import c_tree, c_tree_confidence, c_tree_nuc, c_tree_weighted, d_tree, project_to_sentences
from discsum.tree import Node, RSTTree


def slow_c_tree(nested, weight_of):
    """Return normalize(sum over levels of weight * M^L), level by level."""
    size = len(leaves(nested))
    total = np.zeros((size, size))
    level = [(nested, "root")]
    while level:
        below = []
        for node, role in level:
            covered = leaves(node)
            total[np.ix_(covered, covered)] += weight_of[role]
            if not isinstance(node, int):
                below += list(zip(node[1:], node[0], strict=True))
        level = below
    return total / total.sum(axis=1, keepdims=True)


def slow_projection(matrix, sentence, count):
    indicator = np.zeros((count, len(sentence)))
    indicator[sentence, np.arange(len(sentence))] = 1
    projected = indicator @ matrix @ indicator.T
    for row in range(count):
        if row not in sentence:
            projected[row, row] = 1
    return projected / projected.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("edus", range(1, 7))
def test_every_small_tree(edus):
    for nested, tree in every_tree(edus):
        plain, nuclei = c_tree(tree), c_tree_nuc(tree)
        assert plain.dtype == nuclei.dtype == np.float32
        assert np.abs(plain - slow_c_tree(nested, {"root": 1, "N": 1, "S": 1})).max() < 1e-6, nested
        assert np.abs(nuclei - slow_c_tree(nested, {"root": 1, "N": 2, "S": 1})).max() < 1e-6, nested
        dependency = d_tree(tree)
        assert dependency.dtype == np.float32
        assert np.array_equal(dependency, np.eye(edus)[edu_heads(tree)])


def test_by_hand():
    # ((0 1) 2): the root NS, the left node SN.
    tree = RSTTree(
        3,
        [
            {"first": 0, "last": 2, "split": 1, "nuclearity": "NS", "relation": "elaboration-additional"},
            {"first": 0, "last": 1, "split": 0, "nuclearity": "SN", "relation": "context-background"},
        ],
    )
    np.testing.assert_allclose(c_tree(tree), [[3 / 6, 2 / 6, 1 / 6], [2 / 6, 3 / 6, 1 / 6], [1 / 4, 1 / 4, 2 / 4]])
    # Root 1, node 0-1 nucleus 2, EDU 0 satellite 1, EDU 1 nucleus 2, EDU 2 satellite 1.
    np.testing.assert_allclose(
        c_tree_nuc(tree), [[4 / 8, 3 / 8, 1 / 8], [3 / 9, 5 / 9, 1 / 9], [1 / 4, 1 / 4, 2 / 4]], rtol=1e-6
    )
    assert d_tree(tree).tolist() == [[0, 1, 0], [0, 1, 0], [0, 1, 0]]
    # The sentence of EDUs 1 and 2 already has one root, 1. That of EDUs 0 and 2 has none in common: the leftmost, 0,
    # becomes the head of 2.
    assert d_tree(tree, [0, 1, 1]).tolist() == [[0, 1, 0], [0, 1, 0], [0, 1, 0]]
    assert d_tree(tree, [0, 1, 0]).tolist() == [[0, 1, 0], [0, 1, 0], [1, 0, 0]]


def test_confidence_lies_between_both_trees():
    tree = RSTTree(2, [{"first": 0, "last": 1, "split": 0, "nuclearity": "NS", "relation": "a", "probability": 0.25}])
    # Root 1, nucleus 1.25, satellite 1.
    np.testing.assert_allclose(c_tree_confidence(tree), [[2.25 / 3.25, 1 / 3.25], [1 / 3, 2 / 3]], rtol=1e-6)
    for chance, expected in ((0.0, c_tree), (1.0, c_tree_nuc)):
        nodes = [replace(node, probability=chance) for node in random_tree(9, 1).nodes]
        assert np.array_equal(c_tree_confidence(RSTTree(9, nodes)), expected(RSTTree(9, nodes)))


def test_half_precision_sums_do_not_overflow():
    matrix = np.full((4, 4), 60_000, dtype=np.float16)
    assert project_to_sentences(matrix, [0, 0, 0, 1]).tolist() == [[0.75, 0.25], [0.75, 0.25]]


def test_one_edu():
    for matrix in (c_tree(RSTTree(1)), c_tree_nuc(RSTTree(1)), d_tree(RSTTree(1)), d_tree(RSTTree(1), [0])):
        assert matrix.tolist() == [[1.0]]


@settings(deadline=None)
@given(st.integers(1, 60), st.integers(0, 10**6), st.randoms(use_true_random=False), st.booleans())
def test_rows_sum_to_one_in_large_trees_and_their_projections(edus, seed, choose, contiguous):
    tree = random_tree(edus, seed)
    sentence = [choose.randint(0, edus // 2) for _ in range(edus)]
    if contiguous:
        sentence.sort()
    for matrix in (d_tree(tree, sentence), c_tree(tree), c_tree_nuc(tree)):
        np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-5)
        for count in (max(sentence) + 1, max(sentence) + 3):
            projected = project_to_sentences(matrix, sentence, count)
            assert projected.dtype == np.float32
            np.testing.assert_allclose(projected, slow_projection(matrix, np.array(sentence), count), atol=1e-5)
        assert len(project_to_sentences(matrix, sentence)) == max(sentence) + 1


@settings(deadline=None)
@given(st.integers(2, 30), st.integers(0, 10**6))
def test_any_weights_add_up_along_the_path(edus, seed):
    tree = random_tree(edus, seed)
    generator = np.random.default_rng(seed)
    nodes, own = generator.uniform(0.1, 3, edus - 1), generator.uniform(0.1, 3, edus)
    expected = np.diag(own)
    for node, weight in zip(tree.nodes, nodes, strict=True):
        expected[node.first : node.last + 1, node.first : node.last + 1] += weight
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(c_tree_weighted(tree, nodes, own), expected, rtol=1e-5)


def test_deep_trees():
    nodes = [
        {"first": i, "last": 1499, "split": i, "nuclearity": "NS", "relation": "elaboration-additional"}
        for i in range(1499)
    ]
    matrix = c_tree(RSTTree(1500, nodes))
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-5)
    # lca(700, 900) is node 700 at depth 700, lca(700, 3) node 3 at depth 3
    assert matrix[700, 900] / matrix[700, 3] == pytest.approx(701 / 4, rel=1e-5)


@pytest.mark.parametrize("scale", [1e-46, 1e-30, 1e30, 1e300])
def test_weights_beyond_single_precision(scale):
    tree, weights = random_tree(4, 0), np.array([1.0, 2.0, 3.0])
    expected = c_tree_weighted(tree, weights, [1, 2, 3, 4])
    found = c_tree_weighted(tree, weights * scale, np.array([1, 2, 3, 4]) * scale)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    owner = [0, 0, 1, 1]
    projected = project_to_sentences(expected.astype(np.float64) * scale, owner)
    np.testing.assert_allclose(projected, project_to_sentences(expected, owner), rtol=1e-6)


def test_what_does_not_fit_is_named():
    tree = random_tree(3, 0)
    with pytest.raises(InputError, match="expected 2 node weights"):
        c_tree_weighted(tree, [1], [1, 1, 1])
    with pytest.raises(InputError, match=r"positive finite leaf weights, got 0\.0"):
        c_tree_weighted(tree, [1, 1], [1, 0, 1])
    with pytest.raises(InputError, match="positive finite node weights, got inf"):
        c_tree_weighted(tree, [1, np.inf], [1, 1, 1])
    with pytest.raises(InputError, match="square matrix over 2 EDUs"):
        project_to_sentences(c_tree(tree), [0, 1])
    with pytest.raises(InputError, match=r"a sentence for each EDU, got an array of shape \(3, 1\)"):
        project_to_sentences(c_tree(tree), [[0], [1], [1]])
    with pytest.raises(InputError, match="sentences in 0 to 0"):
        project_to_sentences(c_tree(tree), [0, 1, 1], 1)


@pytest.mark.parametrize("matrix", [d_tree, c_tree, c_tree_nuc, c_tree_confidence, node_heads, same_unit_groups])
def test_documents_are_no_trees(matrix):
    document = Document.from_edu_texts(["It rained."], RSTTree(1))
    with pytest.raises(TypeError, match=r"^expected an RSTTree, got Document; a document has it as document.tree$"):
        matrix(document)
    with pytest.raises(TypeError, match=r"^expected an RSTTree, got NoneType; a text without words has no tree$"):
        matrix(Document("").tree)


def test_what_cannot_be_projected():
    for weight in (np.nan, -1.0, np.inf):
        with pytest.raises(InputError, match=f"expected finite weights of at least 0, got {weight}"):
            project_to_sentences([[1.0, weight], [1.0, 1.0]], [0, 1])
    with pytest.raises(InputError, match="expected real weights, got complex128"):
        project_to_sentences(np.eye(2) * 1j, [0, 1])
    with pytest.raises(InputError, match="expected whole numbers of sentences, got float64"):
        project_to_sentences(np.eye(2), [0, 0.9])


def test_a_document_in_place_of_the_sentences_of_its_edus():
    document = Document.from_edu_texts(["It rained,", "so we left."], RSTTree(2, [Node(0, 1, 0, "NS", "causal-cause")]))
    for call in (lambda: d_tree(document.tree, document), lambda: project_to_sentences(np.eye(2), document)):
        with pytest.raises(TypeError, match="expected a sentence for each EDU, got a document; pass its edu_to_sent"):
            call()
