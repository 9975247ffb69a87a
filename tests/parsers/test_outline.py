from dataclasses import replace

import pytest
from rich.cells import cell_len
from small_trees import document_of

from discsum.document import Document
from discsum.errors import InputError
from discsum.formats import dump
from discsum.formats.tree import to_text
from discsum.tree import Node, RSTTree

EDUS = [
    "When the rain came,",
    "the miller said",
    "that the wheel\nhad stopped,",
    "the baker left,",
    "and the town slept.",
]


def document():
    nodes = [
        Node(0, 4, 0, "SN", "context-circumstance"),
        Node(1, 4, 2, "NN", "joint-list"),
        Node(1, 2, 1, "SN", "attribution-positive"),
        Node(3, 4, 3, "NN", "joint-list"),
    ]
    return document_of([EDUS], RSTTree(5, nodes))


def test_a_small_tree():
    assert to_text(document()) == (
        "├─ [S context-circumstance] When the rain came,\n"
        "└─ [N]\n"
        "   ├─ [N joint-list]\n"
        "   │  ├─ [S attribution-positive] the miller said\n"
        "   │  └─ [N] that the wheel had stopped,\n"
        "   ├─ [N joint-list] the baker left,\n"
        "   └─ [N joint-list] and the town slept.\n"
    )


@pytest.mark.parametrize(("first", "joined"), [(0, None), (1, False)])
def test_a_list_in_a_list_stays_nested_as_in_rs3(first, joined):
    inner = Node(first, first + 1, first, "NN", "joint-list", joined=joined)
    nodes = [Node(0, 2, 1 - first, "NN", "joint-list"), inner]
    three = document_of([EDUS[:2] + EDUS[3:4]], RSTTree(3, nodes))
    assert to_text(three).count("joint-list]") == 4
    assert dump(three, "rs3").count("<group") == 2
    flat = document_of([EDUS[:3]], RSTTree(3, [nodes[0], replace(inner, joined=None)]))
    assert to_text(flat).count("joint-list]") == (3 if first else 4)


def test_satellites_stand_beside_their_nucleus():
    nodes = [
        Node(0, 3, 2, "NS", "causal-result"),
        Node(0, 2, 0, "SN", "context-background"),
        Node(1, 2, 1, "NS", "elaboration-attribute"),
    ]
    assert to_text(document_of([EDUS[:4]], RSTTree(4, nodes))) == (
        "├─ [S context-background] When the rain came,\n"
        "├─ [N] the miller said\n"
        "├─ [S elaboration-attribute] that the wheel had stopped,\n"
        "└─ [S causal-result] the baker left,\n"
    )


def test_long_units_are_wrapped_under_themselves():
    text = to_text(document(), width=30)
    assert "├─ [S context-circumstance] When the rain came,\n" in text
    long = document_of(
        [["one two three four five six seven eight nine ten", "eleven"]],
        RSTTree(2, [Node(0, 1, 0, "NN", "joint-list")]),
    )
    assert to_text(long, width=50) == (
        "├─ [N joint-list] one two three four five six\n"
        "│                 seven eight nine ten\n"
        "└─ [N joint-list] eleven\n"
    )


@pytest.mark.parametrize("relation", ["joint-list", "\u5e76\u5217\u5173\u7cfb"])
@pytest.mark.parametrize("text", ["\u6f22\u5b57" * 40, "\U0001f600 " * 30, "x" * 90, "sister-in-law " * 9])
def test_no_line_has_more_columns_than_the_terminal(text, relation):
    pair = document_of([[text.strip(), "eleven"]], RSTTree(2, [Node(0, 1, 0, "NN", relation)]))
    first, *others, _ = to_text(pair, width=50).splitlines()
    assert max(map(cell_len, (first, *others))) <= 50
    before = f"├─ [N {relation}] "
    guide = "│".ljust(cell_len(before))
    assert all(line.startswith(guide) for line in others)
    shown = first.removeprefix(before) + "".join(line.removeprefix(guide) for line in others)
    assert shown.replace(" ", "") == text.replace(" ", "")


def test_one_unit():
    assert to_text(document_of([["All is well."]], RSTTree(1))) == "All is well.\n"


def test_no_tree():
    with pytest.raises(InputError, match="tree: expected document 'toy' to have a discourse tree, got none"):
        to_text(document_of([["All is well."]]))


@pytest.mark.parametrize("nuclearity", ["NS", "SN", "NN"])
def test_three_thousand_units_on_one_chain(nuclearity):
    count = 3000
    tree = RSTTree(count, [Node(first, count - 1, first, nuclearity, "joint-list") for first in range(count - 1)])
    lines = to_text(document_of([[f"unit{index}" for index in range(count)]], tree)).splitlines()
    assert sum("unit" in line for line in lines) == count
    assert len(lines) == count + (count - 2 if nuclearity == "NS" else 0)


def test_control_characters_do_not_reach_the_terminal():
    document = Document.from_edu_texts(
        ["The mill\x1b[31m", "broke.\x07"], RSTTree(2, [Node(0, 1, 0, "NN", "joint-list")])
    )
    assert to_text(document) == "├─ [N joint-list] The mill\ufffd[31m\n└─ [N joint-list] broke.\ufffd\n"
