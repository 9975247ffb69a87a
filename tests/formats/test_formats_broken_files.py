"""Errors for broken files: they say what was expected, what was found, and on which line."""

import copy
import json

import pytest

from discsum.document import Document
from discsum.errors import FormatError, InputError
from discsum.formats import dump, load, read_tree
from discsum.tree import Node, RSTTree

HEADER = """<rst><header><relations>
<rel name="joint-list" type="multinuc"/><rel name="purpose-goal" type="rst"/>
</relations></header><body>
"""


def rs3(*lines):
    """Return a file whose first element is on line 4."""
    return HEADER + "\n".join(lines) + "\n</body></rst>\n"


def segment(id, parent="", relation="", text="words"):
    link = f' parent="{parent}" relname="{relation}"' if parent else ""
    return f'<segment id="{id}"{link}>{text}</segment>'


def group(id, kind, parent="", relation=""):
    link = f' parent="{parent}" relname="{relation}"' if parent else ""
    return f'<group id="{id}" type="{kind}"{link}/>'


BROKEN_RS3 = [
    ("", 1, "expected well-formed XML, got: no element found"),
    ("<rst>\n<body>\n</rst>", 3, "expected well-formed XML, got: mismatched tag"),
    (HEADER + "a & b", 4, "expected well-formed XML"),
    ("<rst><body></body></rst>", None, "expected <segment> elements, found none"),
    ('<!DOCTYPE r [<!ENTITY a "b">]>\n<rst/>', 1, "expected XML without entity declarations"),
    (
        '<!DOCTYPE rst SYSTEM "rst.dtd">\n<rst/>',
        1,
        "expected XML without entity declarations or external references, got ExternalReferenceForbidden("
        "system_id='rst.dtd', public_id=None); remove the DOCTYPE line",
    ),
    (rs3(segment(1), segment(2)), 5, "expected one root, got 2: segment '1' and segment '2'"),
    (rs3(segment(1), segment(2, 9, "purpose-goal")), 5, "segment '2': expected a parent in the file, got '9'"),
    (rs3(segment(1), segment(1, 1, "purpose-goal")), 5, "segment '1': expected each id once, got that of line 4"),
    (rs3("<segment>words</segment>"), 4, "<segment>: expected an id, got none"),
    (rs3(segment(1, text=" ")), 4, "segment '1': expected some text, got none"),
    (rs3(segment(1, 2, "span"), group(2, "tree")), 5, "group '2': expected the type span or multinuc, got 'tree'"),
    (rs3(segment(1), group(2, "span", 3, "span"), group(3, "span", 2, "span")), 5, "group '2': expected a root above"),
    (rs3(segment(1, 1, "span")), 4, "segment '1': expected a root above it, its parents form a cycle"),
    (rs3(segment(1, 2, "purpose-goal"), group(2, "span")), 5, "group '2': expected one nucleus (a child with relname"),
    (rs3(segment(1, 3, "span"), segment(2, 3, "span"), group(3, "span")), 6, "expected one nucleus"),
    (rs3(segment(1), group(2, "multinuc", 1, "purpose-goal")), 5, "group '2': expected nuclei, got 0"),
    (rs3(segment(1), segment(2, 1, "span")), 5, "segment '2': expected a relation to segment '1', got 'span'"),
    (
        rs3(segment(1, 3, "span"), segment(2, 3, "span"), group(3, "multinuc")),
        4,
        "segment '1': expected a relation to group '3', got 'span', which names the one nucleus of a span",
    ),
    (rs3(segment(1), '<segment id="2" parent="1">words</segment>'), 5, "segment '2': expected a relname, got none"),
    (
        rs3(
            segment(1, 5, "joint-list"),
            segment(2, 6, "joint-list"),
            segment(3, 5, "joint-list"),
            segment(4, 6, "joint-list"),
        ).replace("</body>", group(5, "multinuc") + group(6, "multinuc", 5, "purpose-goal") + "</body>"),
        7,
        "group '6': expected a continuous span, got EDUs 4-4 and EDUs 2-2",
    ),
    (
        rs3(segment(1, 2, "purpose-goal"), segment(2), segment(3, 4, "purpose-goal"), segment(4, 1, "purpose-goal")),
        7,
        "segment '1': expected a continuous span, got EDUs 3-4 and EDUs 1-1",
    ),
]

TWO = "( Root (span 1 2)\n  ( Nucleus (leaf 1) (rel2par span) (text _!one_!) )\n  ( Satellite (leaf 2) %s )\n)\n"
BROKEN_DIS = [
    ("", 1, "expected a tree, ( Root …, got the end of the file"),
    ("(\n", 1, "expected a bracket with Root, Nucleus, Satellite, span, leaf, rel2par or text, got '('"),
    (")", 1, "expected ( Root first, got ')'"),
    ("(leaf 1)", 1, "expected ( Root first, got '(leaf 1)'"),
    ("( Root (span 1 2)\n", 2, "expected a bracket to close Root (span 1 2) of line 1, got the end of the file"),
    (TWO % "(text _!two_!)", 3, "Satellite (leaf 2): expected (rel2par …), got none"),
    (TWO % "(rel2par span) (text _!two_!)", 1, "expected a relation on the Satellite of line 3, got 'span'"),
    (TWO % "(rel2par List)", 3, "Satellite (leaf 2): expected (text _!…_!) with some text, got none"),
    (TWO % "(rel2par List) (text _!two)", 3, "expected _! and a bracket after the text, found none after"),
    (TWO.replace("leaf 2", "leaf 3") % "", 3, "Satellite (leaf 3): expected (rel2par …)"),
    (TWO.replace("leaf 2", "leaf 3") % "(rel2par List)", 3, "Satellite (leaf 3): expected leaf 2 here"),
    (TWO.replace("Nucleus", "Satellite") % "(rel2par x) (text _!2_!)", 1, "expected a Nucleus among its children"),
    (TWO.replace("Satellite", "Nucleus") % "(rel2par x) (text _!2_!)", 1, "expected a relation on each of several"),
    (TWO % "(rel2par List) (text _!two_!)" + "( Root (leaf 1))", 5, "expected one tree, got more after it"),
    (TWO % "(colour red)", 3, "expected a bracket with Root, Nucleus"),
]


def rsd(*rows):
    """Return an rsd file from rows of (id, text, distance, head, relation)."""
    return "\n".join(f"{id}\t{text}\t{away}\t_\t_\t_\t{head}\t{label}\t_\t_" for id, text, away, head, label in rows)


ROOT = (1, "one", 0, 0, "ROOT")
BROKEN_RSD = [
    ("", None, "expected one line per EDU, found none"),
    ("1 one 0", 1, "expected 10 columns between tabs, got 1"),
    (rsd(ROOT, (3, "two", 0, 1, "x_r")), 2, "column 1: expected EDU 2, got '3'"),
    (rsd(ROOT, (2, " ", 0, 1, "x_r")), 2, "column 2: expected the text of EDU 2, got none"),
    (rsd(ROOT, (2, "two", "far", 1, "x_r")), 2, "column 3: expected the head's distance or _, got 'far'"),
    (rsd(ROOT, (2, "two", 0, "one", "x_r")), 2, "column 7: expected the head's number, or 0 for the root, got 'one'"),
    (rsd(ROOT, (2, "two", 0, 5, "x_r")), 2, "column 7: expected an EDU up to 2, got 5"),
    (rsd(ROOT, (2, "two", 0, 1, "_r")), 2, "column 8: expected a relation, got '_r'"),
    (rsd(ROOT, (2, "two", 0, 0, "ROOT")), 2, "expected one root, got 2: EDU 1 and EDU 2 have no head"),
    (rsd((1, "one", 0, 2, "x_r"), (2, "two", 0, 1, "x_r")), 1, "EDU 1: expected a root above it, its heads form"),
    (
        rsd((1, "a", 0, 3, "x_r"), (2, "b", 0, 4, "x_r"), (3, "c", 0, 0, "ROOT"), (4, "d", 0, 3, "x_r")),
        2,
        "EDU 4: expected a continuous span, got EDUs 2-2 and EDUs 4-4",
    ),
]

TABLE = [
    pytest.param(name, *case, id=f"{name}-{index}")
    for name, cases in (("rs3", BROKEN_RS3), ("dis", BROKEN_DIS), ("rsd", BROKEN_RSD))
    for index, case in enumerate(cases)
]


@pytest.mark.parametrize(("name", "content", "line", "message"), TABLE)
def test_the_fault_and_its_line(name, content, line, message):
    with pytest.raises(FormatError) as caught:
        load(content, name, source="story", roots="error")
    assert message in str(caught.value)
    assert (caught.value.source, caught.value.line) == ("story", line)
    assert str(caught.value).startswith("story: " if line is None else f"story:{line}: ")


GOOD = Document.from_edu_texts(["One,", "two."], RSTTree(2, [Node(0, 1, 0, "NS", "purpose-goal")])).to_json()


def changed(path, value):
    data = copy.deepcopy(GOOD)
    *above, key = path
    inner = data
    for step in above:
        inner = inner[step]
    inner[key] = value
    return data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "expected an object, got a list; write one object per line"),
        ({}, "text: expected a string, got no such field (only no field)"),
        (changed(["text"], 7), "text: expected a string, got 7"),
        (changed(["id"], 7), "id: expected a string, got 7"),
        (changed(["edus"], "x"), "edus: expected a list, got 'x'"),
        (changed(["edus", 1], 5), "edus[1]: expected an object, got 5"),
        (changed(["edus", 1, "start"], 5.0), "edus[1].start: expected an integer, got 5.0"),
        (changed(["edus", 1, "sentence"], True), "edus[1].sentence: expected an integer, got True"),
        (changed(["edus", 1, "sentence"], 3), "EDU 1: expected sentence 0, got 3"),
        (changed(["edus", 1, "end"], 99), "EDU 1: expected a span in 0 to 9"),
        (changed(["sentences"], []), "expected every EDU to start in a sentence"),
        (changed(["nodes"], []), "nodes: expected 1 nodes over 2 EDUs, got 0"),
        (changed(["nodes", 0, "nuclearity"], "XX"), "expected nuclearity NS, SN, NN, got 'XX'"),
        (changed(["nodes", 0, "probability"], "high"), "nodes[0].probability: expected a number, got 'high'"),
        (changed(["nodes", 0, "probability"], float("nan")), "expected a probability in [0, 1], got nan"),
        (changed(["nodes", 0], {"first": 0}), "nodes[0].last: expected an integer, got no such field (only first)"),
    ],
)
def test_the_field_of_a_bad_object(data, message):
    with pytest.raises(FormatError) as caught:
        load(json.dumps(data), "json", source="story")
    assert message in str(caught.value)
    assert str(caught.value).startswith("story: ")


@pytest.mark.parametrize(
    ("content", "line"), [("{\n]", 2), ("", 1), ("[" * 100_000, None), ('{"text": ' + "9" * 9999 + "}", None)]
)
def test_no_json(content, line):
    with pytest.raises(FormatError, match="expected a JSON object") as caught:
        load(content, "json", source="story")
    assert caught.value.line == line


def test_unknown_formats():
    document = Document.from_json(GOOD)
    with pytest.raises(
        InputError, match="one of the formats dis, html, json, networkx, nltk, rs3, rs4, rsd, svg, tree, got 'xml'"
    ):
        dump(document, "xml")
    with pytest.raises(InputError, match="expected one of the readable formats dis, json, rs3, rs4, rsd, got 'svg'"):
        load("<svg/>", "svg")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"expected a tree file \(.dis, .json, .rs3, .rs4, .rsd\), got the suffix"):
        read_tree(tmp_path / "story.txt")
    with pytest.raises(InputError, match=r"story.dis: expected a file to read, got: No such file"):
        read_tree(tmp_path / "story.dis")
    (tmp_path / "story.rsd").write_bytes(b"1\tcaf\xe9\t0")
    with pytest.raises(FormatError, match=r"story.rsd: expected utf-8, got byte 0xe9 at offset 5"):
        read_tree(tmp_path / "story.rsd")


@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        ('{"text": "It rained."', "; is it truncated?"),
        ('{"text": "It rai', "; is it truncated?"),
        ('{"text": "It rained."}\n{"text": "It rained."}', "; rename it to .jsonl if it has one object per line"),
        ('{"text": "It rained.", edus: []}', "(column 24)"),
    ],
)
def test_what_to_do_about_invalid_json(content, remedy):
    with pytest.raises(FormatError) as caught:
        load(content, "json")
    assert str(caught.value).endswith(remedy)


def test_a_lone_surrogate_in_the_text_of_a_tree_is_named():
    with pytest.raises(FormatError, match=r"^story: expected text that UTF-8 can hold, got .*; remove it"):
        load('<rst><header/><body><segment id="1">A \ud800 mill.</segment></body></rst>', "rs3", source="story")
