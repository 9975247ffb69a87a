import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_trees import every_tree, random_tree

from discsum.dependency import (
    attach_to_sentences,
    depths,
    edu_heads,
    group_heads,
    in_sentence_heads,
    node_heads,
    same_unit_groups,
    sentence_heads,
)
from discsum.errors import InputError
from discsum.formats import read_tree
from discsum.priors import c_tree, c_tree_nuc, d_tree, project_to_sentences
from discsum.tree import RSTTree


def slow_head(nested):
    """Return the head EDU of a node: the head of its leftmost nucleus."""
    while not isinstance(nested, int):
        nested = nested[2] if nested[0] == "SN" else nested[1]
    return nested


def slow_paths(nested, path=()):
    """Yield every EDU with its path from the root: (node, its role, its parent)."""
    if not path:
        path = ((nested, "root", None),)
    if isinstance(nested, int):
        yield nested, path
        return
    for role, child in zip(nested[0], nested[1:], strict=True):
        yield from slow_paths(child, (*path, (child, role, nested)))


def slow_heads(nested):
    heads, top = {}, []
    for edu, path in slow_paths(nested):
        satellites = [parent for _, role, parent in path if role == "S"]
        if satellites:
            heads[edu] = slow_head(satellites[-1])
        else:
            top.append(edu)
    heads |= {edu: min(top) for edu in top}
    return [heads[edu] for edu in sorted(heads)]


def slow_depth(heads, unit):
    steps = 0
    while heads[unit] != unit:
        unit, steps = heads[unit], steps + 1
        assert steps <= len(heads), "cycle"
    return steps


def slow_attach(heads, sentence):
    edited = list(heads)
    for one in set(sentence):
        outside = [
            edu
            for edu in range(len(heads))
            if sentence[edu] == one and (sentence[heads[edu]] != one or heads[edu] == edu)
        ]
        chosen = min(outside, key=lambda edu: (slow_depth(heads, edu), edu))
        for edu in outside:
            if edu != chosen:
                edited[edu] = chosen
    return edited


def assert_one_root_a_sentence(heads, sentence):
    roots = [int(s) for e, s in enumerate(sentence) if heads[e] == e or sentence[heads[e]] != s]
    assert sorted(roots) == sorted({int(s) for s in sentence})
    assert sum(heads[e] == e for e in range(len(heads))) == 1
    for edu in range(len(heads)):
        slow_depth(heads, edu)


@pytest.mark.parametrize("edus", range(1, 7))
def test_heads_of_every_small_tree(edus):
    for nested, tree in every_tree(edus):
        heads = edu_heads(tree)
        assert heads.dtype == np.int64
        assert heads.tolist() == slow_heads(nested), nested
        if tree.nodes:
            assert node_heads(tree)[0] == slow_head(nested)
            assert heads[slow_head(nested)] == slow_head(nested)


def test_nuclei_of_a_multinuclear_satellite_are_sisters():
    # 0 <- (1 = 2): both nuclei of the satellite depend on 0, not 2 on 1.
    tree = RSTTree(
        3,
        [
            {"first": 0, "last": 2, "split": 0, "nuclearity": "NS", "relation": "elaboration-additional"},
            {"first": 1, "last": 2, "split": 1, "nuclearity": "NN", "relation": "joint-list"},
        ],
    )
    assert edu_heads(tree).tolist() == [0, 0, 0]


cases = st.tuples(st.integers(1, 40), st.integers(0, 10**6))


@settings(deadline=None)
@given(cases, st.randoms(use_true_random=False), st.booleans())
def test_post_edit_gives_every_sentence_one_root(case, choose, contiguous):
    edus, seed = case
    heads = edu_heads(random_tree(edus, seed))
    sentence = [choose.randint(0, max(1, edus // 2)) for _ in range(edus)]
    if contiguous:
        sentence.sort()
    edited = attach_to_sentences(heads, sentence)
    assert edited.tolist() == slow_attach(heads.tolist(), sentence)
    assert_one_root_a_sentence(edited, sentence)
    assert depths(edited).tolist() == [slow_depth(edited, edu) for edu in range(edus)]
    between = sentence_heads(heads, sentence, max(sentence) + 2)
    assert sum(between[s] == s for s in range(len(between))) == 1
    for edu in range(edus):
        if sentence[edited[edu]] != sentence[edu]:
            assert between[sentence[edu]] == sentence[edited[edu]]
    assert depths(between).max() < len(between)


def test_sentence_without_an_edu_hangs_on_the_one_before():
    heads = np.array([0, 0, 1])
    assert sentence_heads(heads, [0, 0, 2], 4).tolist() == [0, 0, 0, 2]
    assert sentence_heads(heads, [1, 1, 2]).tolist() == [1, 1, 1]


def test_in_sentence_heads():
    assert in_sentence_heads([0, 0, 1, 1], [0, 0, 1, 0]).tolist() == [-1, 0, -1, 1]


def test_long_chains():
    heads = np.maximum(np.arange(3000) - 1, 0)
    assert depths(heads).tolist() == list(range(3000))
    right = RSTTree(
        2000,
        [
            {"first": i, "last": 1999, "split": i, "nuclearity": "NS", "relation": "elaboration-additional"}
            for i in range(1999)
        ],
    )
    assert np.array_equal(edu_heads(right), np.maximum(np.arange(2000) - 1, 0))


@pytest.mark.parametrize(
    ("heads", "message"),
    [([1, 0], "cycle"), ([1, 2, 0], "cycle"), ([0, 5], "heads in 0 to 1"), ([0, 2, 3, 1], "cycle")],
)
def test_what_is_no_tree_is_named(heads, message):
    with pytest.raises(InputError, match=message):
        depths(heads)


def test_maps_that_do_not_fit():
    with pytest.raises(InputError, match="a sentence for each of 2 EDUs"):
        attach_to_sentences([0, 0], [0])
    with pytest.raises(InputError, match="expected sentence numbers of at least 0, got -1"):
        attach_to_sentences([0, 0], [0, -1])
    with pytest.raises(InputError, match="EDUs in 1 sentences"):
        sentence_heads([0, 0], [0, 1], 1)
    for heads in ([0.5, 0], [float("nan"), 0], [float("inf"), 0], [None, 0]):
        for call in (lambda: attach_to_sentences(heads, [0, 0]), lambda: depths(heads)):  # noqa: B023
            with pytest.raises(InputError, match=r"heads: expected whole numbers, got \["):
                call()
    for heads in ([5, 0], [-1, 0]):
        with pytest.raises(InputError, match="expected heads from 0 to 1, got"):
            attach_to_sentences(heads, [0, 0])


@pytest.fixture
def gum():
    data = Path(os.environ.get("DISCSUM_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    files = sorted((data / "gum" / "rst" / "rstweb").glob("*.rs4"))
    if not files:
        pytest.skip("no GUM: set DISCSUM_DATA to a folder with gum/rst/rstweb/*.rs4")
    return files


def test_gum_trees(gum):
    for path in gum:
        document = read_tree(path)
        tree, sentence = document.tree, document.edu_to_sentence
        assert_one_root_a_sentence(attach_to_sentences(edu_heads(tree), sentence), sentence)
        for matrix in (d_tree(tree, sentence), c_tree(tree), c_tree_nuc(tree)):
            np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-5)
            projected = project_to_sentences(matrix, sentence, len(document.sentences))
            assert projected.shape == (len(document.sentences),) * 2
            np.testing.assert_allclose(projected.sum(axis=1), 1, atol=1e-5)


def test_heads_equal_those_of_rst2dep(gum):
    # python -m rst2dep -a hirao -p FILE.rs4, with rst2dep 1.4.0
    make_rsd = pytest.importorskip("rst2dep.rst2dep").make_rsd
    for path in gum[::4]:
        rows = [line.split("\t") for line in make_rsd(str(path), "", algorithm="hirao").strip().split("\n")]
        expected = np.array([int(row[6]) - 1 for row in rows])
        root = np.flatnonzero(expected < 0)[0]
        assert np.array_equal(edu_heads(read_tree(path).tree), np.where(expected < 0, root, expected)), path.stem


@settings(deadline=None, max_examples=200)
@given(edus=st.integers(2, 12), seed=st.integers(0, 10_000))
def test_clauses_of_any_nuclearity_form_a_tree(edus, seed):
    random = np.random.default_rng(seed)
    nodes = [
        replace(node, relation=str(random.choice(["same-unit", "joint-list", "attribution-positive"])))
        for node in random_tree(edus, seed).nodes
    ]
    tree = RSTTree(edus, nodes)
    _, groups = np.unique(same_unit_groups(tree), return_inverse=True)
    heads, found = edu_heads(tree), group_heads(edu_heads(tree), groups)
    for group in range(len(found)):
        # Fails if the heads form a circle.
        slow_depth(found.tolist(), group)
    assert (found == np.arange(len(found))).sum() == 1
    for group, head in enumerate(found.tolist()):
        outside = {int(groups[heads[unit]]) for unit in np.flatnonzero(groups == group)} - {group}
        assert head in outside or (head == group and groups[heads == np.arange(edus)].item() == group)


def test_a_clause_whose_first_part_is_a_satellite_depends_on_what_its_nucleus_does():
    # 0 is the root; 2, the nucleus, depends on it, and 1 belongs to the same clause.
    assert group_heads(np.array([0, 2, 0]), np.array([0, 1, 1])).tolist() == [0, 0]
    # Within a single sentence, the root has no head.
    assert group_heads(np.array([-1, 2, -1]), np.array([0, 1, 1])).tolist() == [0, 1]
