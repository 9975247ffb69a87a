import itertools
import re
import xml.etree.ElementTree as ElementTree

from format_cases import EDU_TEXTS, documents, numbered, trees
from hypothesis import given, settings

from discsum.document import Document
from discsum.formats._plain_text import printable
from discsum.formats.svg import BOUNDARY_HEIGHT, TEXT_WIDTH, _width, _wrap
from discsum.tree import Node, RSTTree

SVG = "{http://www.w3.org/2000/svg}"


def labels(drawing, kind):
    return [text for text in drawing.iter(f"{SVG}text") if kind in text.get("class", "").split()]


@given(document=documents())
@settings(max_examples=60, deadline=None)
def test_every_drawing_is_xml_with_all_relations_and_texts(document):
    drawing = ElementTree.fromstring(document.to_svg())
    assert len(labels(drawing, "relation")) == document.tree.edus - 1
    assert [text.text for text in labels(drawing, "number")] == [str(edu + 1) for edu in range(document.tree.edus)]


@given(tree=trees(least=2))
@settings(max_examples=60, deadline=None)
def test_no_line_crosses_a_relation(tree):
    drawing = ElementTree.fromstring(numbered(tree).to_svg())
    strips = [(float(text.get("x")), float(text.get("y"))) for text in labels(drawing, "relation")]
    rows = [float(text.get("y")) for text in labels(drawing, "number")]
    assert all(below - above >= BOUNDARY_HEIGHT - 4 for above, below in itertools.pairwise(sorted(rows)))
    assert len({y for _, y in strips}) == len(strips)
    for path in drawing.iter(f"{SVG}path"):
        if path.get("class") in ("leader", "head"):
            continue
        start_x, start_y, x, ys, ends = _extent(path.get("d"))
        for label_x, label_y in strips:
            vertical = min(start_y, *ys) < label_y - 4 < max(start_y, *ys) and label_x < start_x
            flat = any(abs(y - (label_y - 3)) < 5 for y in ends) and x > label_x and start_x < label_x + 100
            assert not (vertical and start_x < label_x + 100), "a bar right of the label's start"
            assert not flat, "a branch along the label"


def _extent(line):
    """Return start x and y, end x, further y, and the y of horizontal parts of a path that `svg` wrote."""
    start_x, start_y = map(float, re.match(r"M(\S+) ([^HV]+)", line).groups())
    x = float(re.search(r"H(\S+)$", line)[1])
    corner = re.search(r"Q\S+ (\S+) ", line)
    y = float(corner[1]) if corner else start_y
    return start_x, start_y, x, [y], [y]


def test_satellites_and_nuclei_look_different():
    tree = RSTTree(3, [Node(0, 2, 1, "NS", "purpose-goal"), Node(0, 1, 0, "NN", "joint-list")])
    drawing = ElementTree.fromstring(Document.from_edu_texts(["Go", "and look", "to know."], tree).to_svg())
    classes = [path.get("class") for path in drawing.iter(f"{SVG}path")]
    assert (classes.count("satellite"), classes.count("head"), classes.count("multi")) == (1, 1, 2)
    assert [text.text for text in labels(drawing, "minor")] == ["to know."]
    assert [(text.get("class"), text.text) for text in labels(drawing, "relation")] == [
        ("relation s", "purpose-goal"),
        ("relation n", "joint-list"),
    ]


@given(text=EDU_TEXTS.map(printable))
def test_wrapped_lines_fit_and_lose_nothing(text):
    lines = _wrap(text * 40)
    assert all(_width(line) <= TEXT_WIDTH for line in lines)
    assert "".join(lines).replace(" ", "") == (text * 40).replace(" ", "")
