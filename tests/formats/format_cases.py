"""Random documents with trees, and trees of extreme shapes."""

from hypothesis import strategies as st

from discsum.document import Document
from discsum.formats._plain_text import printable
from discsum.tree import NUCLEARITIES, Node, RSTTree

LABELS = ("joint-list", "elaboration-additional", "same-unit", "Contrast", "Topic-Drift", "attribution-e")


@st.composite
def trees(draw, least=1, most=12, labels=LABELS):
    """Draw any binary tree; a label may be used both for satellites and for several nuclei."""
    edus = draw(st.integers(least, most))
    nodes, waiting = [], [(0, edus - 1)]
    while waiting:
        first, last = waiting.pop()
        if first < last:
            split = draw(st.integers(first, last - 1))
            nodes.append(Node(first, last, split, draw(st.sampled_from(NUCLEARITIES)), draw(st.sampled_from(labels))))
            waiting += [(split + 1, last), (first, split)]
    return RSTTree(edus, nodes)


# Strings that have a meaning in one of the formats, mixed into arbitrary Unicode text.
MARKS = ["_!", "_\u2060!", "<P>", "//TT_ERR", ") )", "]]>", "&amp;", "\t", "\r\n", "\x00", "\u2028", "# 1"]
MARKS += ["\ud800", "\ud83d\ude00"]
TEXTS = st.lists(st.text(st.characters(codec=None)) | st.sampled_from(MARKS), min_size=1, max_size=4).map("".join)
EDU_TEXTS = TEXTS.filter(lambda text: printable(text) != "")


@st.composite
def documents(draw, texts=EDU_TEXTS, **shape):
    tree = draw(trees(**shape))
    return Document.from_edu_texts([draw(texts) for _ in range(tree.edus)], tree, id="some name")


def numbered(tree):
    return Document.from_edu_texts([f"unit number {index}." for index in range(tree.edus)], tree)


def chain(edus, side):
    """Return a tree of maximum depth that branches `right`, `left`, or `both` in turn; nuclearity varies by level."""
    nodes, first, last = [], 0, edus - 1
    while first < last:
        level = len(nodes)
        nuclearity = NUCLEARITIES[level % 3]
        if side == "right" or (side == "both" and level % 2):
            nodes.append(Node(first, last, first, nuclearity, "joint-list"))
            first += 1
        else:
            nodes.append(Node(first, last, last - 1, nuclearity, "joint-list"))
            last -= 1
    return RSTTree(edus, nodes)
