"""Secondary edges and signals of rs4."""

import json
import warnings
from dataclasses import replace

import pytest
from benchmarks.tree_files import rs3_structure
from format_cases import numbered, trees
from hypothesis import given, settings
from hypothesis import strategies as st
from rs3_files import RELATIONS, element, rs3

from discsum.document import Document
from discsum.errors import FormatError, FormatWarning
from discsum.erst import ERST, SecondaryEdge, Signal
from discsum.formats import dump, load
from discsum.tree import RSTTree

TYPES = '</relations><sigtypes><sig type="dm" subtypes="dm"/><sig type="lexical" subtypes="word;phrase"/></sigtypes>'
CONTENT = rs3(
    element(1, "", 4, "span"),
    element(2, "", 1, "purpose-goal"),
    element(3, "", 4, "causal-cause"),
    element(4, "span", 5, "span"),
    element(5, "span"),
    '<secedges><secedge id="3-4" source="3" target="4" relname="purpose-goal"/></secedges>',
    '<signals><signal source="2" type="dm" subtype="dm" tokens="3" status="gold"/>',
    '<signal source="3-4" type="lexical" subtype="word" tokens=""/></signals>',
).replace("</relations>", TYPES)


def test_they_come_back():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        document = Document.from_rs4(CONTENT)
        written = document.to_rs4()
        assert document.erst.edges == (SecondaryEdge((2, 2), (0, 1), "purpose-goal"),)
        assert document.erst.signals == (
            Signal((1, 1), None, "dm", "dm", "3", "gold"),
            Signal(None, 0, "lexical", "word"),
        )
        assert rs3_structure(written.encode()) == rs3_structure(CONTENT.encode())
        assert '<sig type="lexical" subtypes="word;phrase"/>' in written
        assert Document.from_rs4(written).erst == document.erst
        by_json = load(dump(document, "json"), "json")
        assert by_json == document.with_id("")
        assert by_json.to_rs4() == written


@pytest.mark.parametrize("name", ["rs3", "dis", "rsd"])
def test_other_formats_say_what_they_leave_out(name):
    document = Document.from_rs4(CONTENT)
    with pytest.warns(FormatWarning, match=f"{name}: secondary edges and signals are left out; rs4 and json keep them"):
        content = dump(document, name)
    assert load(content, name).erst is None


def test_files_without_any():
    assert Document.from_rs4(rs3(element(1))).erst is None
    assert Document.from_rs4(rs3(element(1))).to_rs4() == Document.from_rs3(rs3(element(1))).to_rs3()


def test_elements_that_the_tree_lacks():
    content = CONTENT.replace('target="4"', 'target="9"')
    with pytest.warns(FormatWarning, match=r"story:7: 2 secondary edges or signals name elements that the tree lacks"):
        document = Document.from_rs4(content, "story")
    assert (document.erst.edges, len(document.erst.signals)) == ((), 1)
    headed = CONTENT.replace("<body>\n", "<body>\n<segment id='9'>Heading</segment>\n")
    headed = headed.replace('source="2"', 'source="9"')
    with pytest.warns(FormatWarning) as caught:
        assert len(Document.from_rs4(headed, roots="drop").erst.signals) == 1
    assert "1 secondary edges or signals name elements that the tree lacks" in str(caught[-1].message)
    with pytest.warns(FormatWarning):
        joined = Document.from_rs4(headed)
    assert rs3_structure(joined.to_rs4().encode()) == rs3_structure(headed.encode())


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("edges", 0, "source"), [1], r"erst.edges\[0\].source: expected the first and last EDU of a place, got \[1\]"),
        (("edges", 0, "relation"), 5, r"erst.edges\[0\].relation: expected a string, got 5"),
        (("signals", 1, "edge"), 7, r"erst.signals\[1\].edge: expected the index of one of 1 edges, got 7"),
        (("signals", 0, "type"), None, r"erst.signals\[0\].type: expected a string, got None"),
        (("signal_types",), [], r"erst.signal_types: expected an object, got \[\]"),
    ],
)
def test_the_field_of_a_bad_object(path, value, message):
    data = Document.from_rs4(CONTENT).to_json()
    *above, key = ("erst", *path)
    inner = data
    for step in above:
        inner = inner[step]
    inner[key] = value
    with pytest.raises(FormatError, match=message):
        load(json.dumps(data), "json")


def test_relations_without_type():
    relations = RELATIONS.replace(' type="multinuc"', "").replace(' type="rst"', "")
    lines = [element(1, "", 4, "joint-list"), element(2, "", 4, "joint-list"), element(3, "", 4, "purpose-goal")]
    document = load(rs3(*lines, element(4, "multinuc"), relations=relations), "rs3")
    assert [(node.nuclearity, node.relation) for node in document.tree.nodes] == [
        ("NS", "purpose-goal"),
        ("NN", "joint-list"),
    ]


def test_two_edges_between_the_same_places_are_two():
    document = Document.from_rs4(CONTENT)
    edges = (*document.erst.edges, SecondaryEdge((2, 2), (0, 1), "joint-list"))
    signals = (*document.erst.signals, Signal(None, 1, "dm", "dm", "1"))
    both = replace(document, erst=replace(document.erst, edges=edges, signals=signals))
    assert Document.from_rs4(both.to_rs4()).erst == both.erst
    again = CONTENT.replace("</secedges>", '<secedge id="3-4" source="3" target="4" relname="joint-list"/></secedges>')
    assert Document.from_rs4(again).erst.edges == edges


@given(data=st.data(), tree=trees(least=2))
@settings(max_examples=200, deadline=None)
def test_those_at_any_place_come_back_or_are_counted_in_a_warning(data, tree):
    marks = st.sampled_from([None, True, False])
    marked = RSTTree(tree.edus, [{**node, "joined": data.draw(marks)} for node in tree.to_dicts()])
    spans = [(edu, edu) for edu in range(tree.edus)] + [(node.first, node.last) for node in tree.nodes]
    places = st.sampled_from(spans)
    edges = tuple(data.draw(st.lists(st.builds(SecondaryEdge, places, places, st.sampled_from("ab")), max_size=4)))
    anchors = st.tuples(places, st.none()) | st.tuples(st.none(), st.integers(0, max(0, len(edges) - 1)))
    found = data.draw(st.lists(anchors, max_size=4))
    # The numbers of tokens tell signals apart.
    signals = tuple(Signal(*anchor, "dm", "dm", str(number)) for number, anchor in enumerate(found, start=1))
    document = replace(numbered(marked), erst=ERST(edges, signals, (("dm", "dm"),)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        content = document.to_rs4()
    read = Document.from_rs4(content)
    kept = read.erst or ERST()
    lost = [int(str(one.message).split(": ")[-1].split()[0]) for one in caught]
    assert sum(lost) == len(edges) + len(signals) - len(kept.edges) - len(kept.signals)
    assert set(kept.edges) <= set(edges)

    def of(erst, signal):
        return signal.place or erst.edges[signal.edge]

    for signal in kept.signals:
        assert of(kept, signal) == of(document.erst, signals[int(signal.tokens) - 1])
    again = Document.from_rs4(read.to_rs4())
    assert (again.tree, again.erst) == (tree, read.erst)


def test_a_signal_without_a_place_or_an_edge_is_left_out_with_a_warning():
    document = Document.from_rs4(CONTENT)
    erst = replace(document.erst, signals=(*document.erst.signals, Signal(None, None, "dm", "dm", "1")))
    with pytest.warns(FormatWarning, match="1 secondary edges or signals name places that the tree lacks"):
        content = replace(document, erst=erst).to_rs4()
    assert Document.from_rs4(content).erst == document.erst


def test_tokens_of_signals_count_the_words_that_are_kept():
    heading = '<segment id="9">A mill stops</segment>'
    content = CONTENT.replace("<body>", f"<body>{heading}").replace('tokens="3"', 'tokens="2,6"')
    assert heading in content
    dropped = load(content, "rs4", roots="drop")
    assert len(dropped.edus) == 3
    assert [signal.tokens for signal in dropped.erst.signals] == ["3", ""]


def test_tokens_that_are_no_numbers_are_left_out():
    signal = Signal((0, 0), None, "dm", "dm", f"2, \xb2,x,,-1,{'9' * 5000},4")
    assert signal.token_numbers == [2, 4]
    content = CONTENT.replace("<body>", '<body><segment id="9">A mill stops</segment>').replace('"3"', '"\xb2"')
    assert [one.tokens for one in load(content, "rs4", roots="drop").erst.signals] == ["", ""]


def test_json_objects_survive_a_round_trip_too():
    document = load(CONTENT, "rs4")
    assert document.erst.edges
    assert Document.from_json(document.to_json()) == document
