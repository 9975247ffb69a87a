from dataclasses import replace

import networkx
import nltk
from format_cases import chain, numbered, trees
from hypothesis import given

from discsum.document import Document
from discsum.tree import Node, RSTTree

DOCUMENT = Document.from_edu_texts(
    ["Rain fell,", "so we stayed,", "and read."],
    RSTTree(3, [Node(0, 2, 0, "SN", "causal-cause", 0.5), Node(1, 2, 1, "NN", "joint-list")]),
)


def test_nltk():
    assert DOCUMENT.to_nltk() == nltk.Tree(
        "SN:causal-cause", ["Rain fell,", nltk.Tree("NN:joint-list", ["so we stayed,", "and read."])]
    )
    assert numbered(RSTTree(1)).to_nltk() == nltk.Tree("EDU", ["unit number 0."])


def test_n_ary_nltk():
    nodes = [Node(0, 3, 0, "NN", "joint-list"), Node(1, 3, 1, "NN", "joint-list"), Node(2, 3, 2, "NS", "causal-cause")]
    document = Document.from_edu_texts(["One,", "two,", "three", "because."], RSTTree(4, nodes))
    inner = nltk.Tree("NS:causal-cause", ["three", "because."])
    assert document.to_nltk(n_ary=True) == nltk.Tree("NNN:joint-list", ["One,", "two,", inner])
    assert document.to_nltk() == nltk.Tree("NN:joint-list", ["One,", nltk.Tree("NN:joint-list", ["two,", inner])])
    # A list in a list.
    apart = replace(nodes[1], joined=False)
    nested = Document.from_edu_texts(document.edu_texts, RSTTree(4, [nodes[0], apart, nodes[2]]))
    assert nested.to_nltk(n_ary=True) == document.to_nltk()


def test_networkx():
    graph = DOCUMENT.to_networkx()
    assert graph.nodes[1] == {"kind": "edu", "text": "so we stayed,", "start": 11, "end": 24, "sentence": 0}
    assert graph.nodes[3]["probability"] == 0.5
    assert dict(graph.edges) == {
        (3, 0): {"role": "satellite", "relation": "causal-cause"},
        (3, 4): {"role": "nucleus", "relation": "causal-cause"},
        (4, 1): {"role": "nucleus", "relation": "joint-list"},
        (4, 2): {"role": "nucleus", "relation": "joint-list"},
    }


@given(tree=trees())
def test_any_tree(tree):
    document = numbered(tree)
    graph = document.to_networkx()
    assert networkx.is_arborescence(graph)
    for n_ary in (False, True):
        assert tuple(document.to_nltk(n_ary=n_ary).leaves()) == document.edu_texts


def test_the_deepest_trees():
    for side in ("left", "right", "both"):
        document = numbered(chain(3000, side))
        inner = document.to_nltk()
        while isinstance(inner, nltk.Tree):
            inner = max(inner, key=lambda child: isinstance(child, nltk.Tree))
        assert inner in document.edu_texts
        assert networkx.is_arborescence(document.to_networkx())
