from dataclasses import replace

import networkx
import nltk
import pytest
from format_cases import chain, documents, numbered, trees
from hypothesis import given

from discsum.document import Document
from discsum.errors import FormatError, InputError
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


@given(document=documents())
def test_nltk_trees_come_back(document):
    for n_ary in (False, True):
        written = document.to_nltk(n_ary=n_ary)
        found = Document.from_nltk(written)
        assert (found.edu_texts, found.tree, found.parser) == (document.edu_texts, document.tree, "nltk")
        assert found.to_nltk(n_ary=n_ary) == written


def test_nested_lists_of_n_ary_nltk_come_back():
    written = nltk.Tree.fromstring("(NNN:joint-list One two (NN:joint-list three four))")
    assert Document.from_nltk(written).to_nltk(n_ary=True) == written


def test_nltk_nodes_with_one_child_stand_for_it():
    tree = nltk.Tree.fromstring("(Root (NS:causal-cause (EDU Stay,) (EDU so)))")
    assert Document.from_nltk(tree).to_nltk() == nltk.Tree("NS:causal-cause", ["Stay,", "so"])


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ("(NS:cause a (elaboration b c))", "^node 'elaboration' at EDU 1-2: expected a label with a role for"),
        ("(NN:list a b c)", "^node 'NN:list' at EDU 0-2: .*, got 3 children$"),
        ("(NNS:list a b c)", "^node 'NNS:list' at EDU 0-2: "),
        ("(SS:list a b)", "^node 'SS:list' at EDU 0-1: "),
        ("(NS: a b)", "^node 'NS:' at EDU 0-1: "),
        ("(NS:cause a (NN:list ))", "^node 'NN:list' at EDU 1: .*, got 0 children$"),
    ],
)
def test_nltk_trees_of_another_form(tree, message):
    with pytest.raises(FormatError, match=message):
        Document.from_nltk(nltk.Tree.fromstring(tree))


def test_nltk_leaves_that_are_no_texts():
    with pytest.raises(FormatError, match=r"^node 'NN:list' at EDU 1: expected the text of an EDU, got 7$"):
        Document.from_nltk(nltk.Tree("NN:list", ["a", 7]))
    with pytest.raises(InputError, match=r"^EDU 1: expected some text, got none$"):
        Document.from_nltk(nltk.Tree("NN:list", ["a", " "]))
    with pytest.raises(TypeError, match=r"^tree: expected Tree, got str$"):
        Document.from_nltk("(NN:list a b)")


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
        assert Document.from_nltk(inner).tree == document.tree
        while isinstance(inner, nltk.Tree):
            inner = max(inner, key=lambda child: isinstance(child, nltk.Tree))
        assert inner in document.edu_texts
        assert networkx.is_arborescence(document.to_networkx())
