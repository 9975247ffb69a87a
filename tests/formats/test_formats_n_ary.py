"""N-ary trees of files survive reading and writing: nested lists, several satellites of a nucleus."""

import json

import pytest
from benchmarks.tree_files import dis_structure, heads, rs3_structure
from format_cases import documents, numbered, trees
from hypothesis import given, settings
from hypothesis import strategies as st
from rs3_files import element, n_ary, rs3

from discsum.document import Document
from discsum.errors import FormatError, TreeError
from discsum.formats import dump, load
from discsum.tree import Node, RSTTree

# Two nuclei, the second itself a list of two with the same relation; and all three nuclei in one list.
NESTED = rs3(
    element(1, "", 4, "joint-list"),
    element(2, "", 5, "joint-list"),
    element(3, "", 5, "joint-list"),
    element(4, "multinuc"),
    element(5, "multinuc", 4, "joint-list"),
)
FLAT = rs3(*(element(id, "", 4, "joint-list") for id in (1, 2, 3)), element(4, "multinuc"))
# A nucleus with two satellites; and a second satellite attached to the nucleus together with the first one.
ONE_LEVEL = rs3(
    element(1, "", 4, "span"),
    element(2, "", 1, "purpose-goal"),
    element(3, "", 1, "causal-cause"),
    element(4, "span"),
)
TWO_LEVELS = rs3(
    element(1, "", 4, "span"),
    element(2, "", 1, "purpose-goal"),
    element(3, "", 4, "causal-cause"),
    element(4, "span", 5, "span"),
    element(5, "span"),
)
SHAPES = {"nested": NESTED, "flat": FLAT, "one level": ONE_LEVEL, "two levels": TWO_LEVELS}


@pytest.mark.parametrize("name", ["rs3", "rs4"])
@pytest.mark.parametrize("content", SHAPES.values(), ids=SHAPES)
def test_small_shapes_come_back(content, name):
    document = load(content, name)
    assert rs3_structure(dump(document, name).encode()) == rs3_structure(content.encode())
    by_json = load(dump(document, "json"), "json")
    assert dump(by_json, name) == dump(document, name)


def test_shapes_differ_though_their_binary_trees_are_equal():
    assert load(NESTED, "rs3").tree == load(FLAT, "rs3").tree
    assert load(ONE_LEVEL, "rs3").tree == load(TWO_LEVELS, "rs3").tree
    structures = {rs3_structure(content.encode()) for content in SHAPES.values()}
    assert len(structures) == 4
    assert [node.joined for node in load(NESTED, "rs3").tree.nodes] == [None, False]
    assert [node.joined for node in load(FLAT, "rs3").tree.nodes] == [None, True]
    assert [node.joined for node in load(ONE_LEVEL, "rs3").tree.nodes] == [None, True]
    assert [node.joined for node in load(TWO_LEVELS, "rs3").tree.nodes] == [None, None]


@given(lines=n_ary())
@settings(max_examples=300, deadline=None)
def test_any_n_ary_tree_comes_back(lines):
    content = rs3(*lines)
    document = load(content, "rs3")
    written = document.to_rs3()
    assert rs3_structure(written.encode()) == rs3_structure(content.encode())
    assert load(dump(document, "json"), "json").to_rs3() == written
    assert load(written, "rs3").tree == document.tree
    assert load(written, "rs3").to_rs3() == written
    # The same through dis, which would only change a list in one bracket with its satellites, which no rs3 file has.
    by_dis = load(document.to_dis(), "dis")
    assert by_dis.tree == document.tree
    assert by_dis.to_dis() == document.to_dis()


@given(lines=n_ary())
@settings(max_examples=100, deadline=None)
def test_rst2dep_finds_the_same_heads(lines):
    pytest.importorskip("rst2dep")
    content = rs3(*lines)
    expected = heads(content)
    document = load(content, "rs3")
    assert expected is not None
    assert heads(document.to_rs3()) == expected
    assert heads(load(dump(document, "json"), "json").to_rs3()) == expected


@given(tree=trees(least=2), joined=st.lists(st.sampled_from([None, True, False]), min_size=11, max_size=11))
@settings(max_examples=200, deadline=None)
def test_the_binary_tree_survives_any_marks(tree, joined):
    marked = RSTTree(
        tree.edus,
        [{**node, "joined": mark} for node, mark in zip(tree.to_dicts(), joined, strict=False)],
    )
    for name in ("rs3", "dis", "rsd", "json"):
        assert load(dump(numbered(marked), name), name).tree == tree


@given(document=documents(least=2))
@settings(max_examples=60, deadline=None)
def test_json_leaves_out_what_is_not_set(document):
    data = document.to_json()
    assert "erst" not in data
    assert all(
        node.keys() == {"first", "last", "split", "nuclearity", "relation", "probability"} for node in data["nodes"]
    )
    marked = load(ONE_LEVEL, "rs3").to_json()
    assert [node.get("joined") for node in marked["nodes"]] == [None, True]
    assert Document.from_json(marked).to_json() == marked


def test_a_mark_that_is_none():
    data = load(ONE_LEVEL, "rs3").to_json()
    data["nodes"][1]["joined"] = "yes"
    with pytest.raises(FormatError, match=r"nodes: node 1: expected joined to be true, false or left out, got 'yes'"):
        load(json.dumps(data), "json")
    with pytest.raises(TreeError, match="expected joined to be true, false or left out, got 1"):
        RSTTree(2, [{"first": 0, "last": 1, "split": 0, "nuclearity": "NN", "relation": "x", "joined": 1}])


def test_trees_of_a_parser_are_written_as_before():
    nodes = [
        Node(0, 4, 2, "NS", "purpose-goal", 0.5),
        Node(0, 2, 1, "NS", "causal-cause", 0.5),
        Node(0, 1, 0, "NN", "joint-list", 0.5),
        Node(3, 4, 3, "NN", "joint-list", 0.5),
    ]
    body = numbered(RSTTree(5, nodes)).to_rs3().split("<body>")[1].split()
    links = [part for part in body if part.startswith(("parent", "type", "relname"))]
    assert " ".join(links) == (
        'parent="8" relname="joint-list">unit parent="8" relname="joint-list">unit parent="8" '
        'relname="causal-cause">unit parent="9" relname="joint-list">unit parent="9" relname="joint-list">unit '
        'type="span"/> type="span" parent="6" relname="span"/> type="multinuc" parent="7" relname="span"/> '
        'type="multinuc" parent="7" relname="purpose-goal"/>'
    )


DIS = """( Root (span 1 6)
  ( Nucleus (leaf 1) (rel2par List) (text _!One,_!) )
  ( Satellite (leaf 2) (rel2par aside-e) (text _!an aside,_!) )
  ( Nucleus (leaf 3) (rel2par List) (text _!two,_!) )
  ( Nucleus (span 4 5) (rel2par List)
    ( Nucleus (leaf 4) (rel2par List) (text _!three,_!) )
    ( Nucleus (leaf 5) (rel2par List) (text _!four,_!) )
  )
  ( Satellite (leaf 6) (rel2par attribution) (text _!she said._!) )
)
"""


def test_n_ary_dis_comes_back():
    document = load(DIS, "dis")
    assert document.to_dis() == DIS
    assert load(dump(document, "json"), "json").to_dis() == DIS
    # rs3 keeps the nested list too.
    assert document.to_rs3().split("<body>")[1].count('type="multinuc"') == 2


def test_binary_dis_says_nothing_of_lists_in_lists():
    content = """( Root (span 1 3)
      ( Nucleus (leaf 1) (rel2par List) (text _!One,_!) )
      ( Nucleus (span 2 3) (rel2par List)
        ( Nucleus (leaf 2) (rel2par List) (text _!two,_!) )
        ( Nucleus (leaf 3) (rel2par List) (text _!three._!) ) ) )"""
    document = load(content, "dis")
    assert [node.joined for node in document.tree.nodes] == [None, None]
    assert dis_structure(document.to_dis().encode()) == dis_structure(content.encode())
