"""Statistics of discourse trees, against plain recursion over all small trees."""

from collections import Counter

import pytest
from small_trees import document_of, every_tree, leaves, random_tree

from discsum.errors import InputError
from discsum.parsers.tree_statistics import tree_statistics
from discsum.tree import Node, RSTTree

# Two sentences of several EDUs and two of one EDU, among five EDUs.
DIVISIONS = ([["a b", "c"], ["d e f", "g", "h"]], [["a b"], ["c", "d e f", "g"], ["h"]])


def recursive_depth(nested):
    return 0 if isinstance(nested, int) else 1 + max(map(recursive_depth, nested[1:]))


def constituents(nested):
    yield leaves(nested)
    if not isinstance(nested, int):
        for child in nested[1:]:
            yield from constituents(child)


@pytest.mark.parametrize("sentences", DIVISIONS)
def test_every_tree_over_five_edus(sentences):
    places, start = [], 0
    for sentence in sentences:
        places.append([*range(start, start + len(sentence))])
        start += len(sentence)
    for nested, tree in every_tree(5):
        found = tree_statistics([document_of(sentences, tree)])
        assert found.depth == recursive_depth(nested)
        assert found.constituents == sum(place in list(constituents(nested)) for place in places)
        assert (found.documents, found.edus, found.words, found.nodes) == (1, 5, 8, 4)
        assert found.sentences == len(sentences)
        assert Counter(found.nuclearity) == Counter(node.nuclearity for node in tree.nodes)


def test_sums_over_documents():
    documents = [document_of([["a", "b"], ["c"]], random_tree(3, seed)) for seed in range(4)]
    documents.append(document_of([["only one"]], random_tree(1, 0)))
    single, found = [tree_statistics([document]) for document in documents], tree_statistics(documents)
    for name in ("documents", "edus", "words", "sentences", "constituents", "depth", "relations"):
        assert getattr(found, name) == sum((getattr(one, name) for one in single[1:]), getattr(single[0], name))
    assert found.means()["EDUs per document"] == 13 / 5
    assert sum(sum(counts.values()) for counts in found.by_relation().values()) == found.nodes == 8


def test_a_deep_tree():
    nodes = [Node(first, 4999, first, "NS", "elaboration-additional") for first in range(4999)]
    assert RSTTree(5000, nodes).depths[1].max() == 4999


def test_a_document_without_a_tree_is_named():
    with pytest.raises(InputError, match="expected document 'toy' to have a discourse tree"):
        tree_statistics([document_of([["a"]])])
