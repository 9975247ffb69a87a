"""Whatever is written is read back the same."""

import dataclasses

import numpy as np
import pytest
from format_cases import chain, documents, numbered
from hypothesis import given, settings
from hypothesis import strategies as st

from discsum.document import EDU, Document, Span
from discsum.errors import FormatError, InputError
from discsum.formats import dump, load, read_tree, readable, writable
from discsum.formats._constituents import constituents
from discsum.formats._plain_text import printable
from discsum.formats.json import _with_pairs, dumps, loads
from discsum.tree import Node, RSTTree

# The outline has its own tests, because its size grows with the square of the depth.
FORMATS = tuple(name for name in writable() if name != "tree")
READABLE = tuple(readable())
PLAIN = tuple(name for name in READABLE if name != "json")


@pytest.mark.parametrize("name", READABLE)
def test_gum_survives_every_format(gum, name):
    for document in gum:
        again = load(dump(document, name), name)
        assert (again.tree, again.edu_texts) == (document.tree, document.edu_texts), document.id


@pytest.mark.parametrize("name", PLAIN)
@given(document=documents())
@settings(max_examples=120, deadline=None)
def test_any_tree_and_text_survive_the_plain_formats(name, document):
    content = dump(document, name)
    again = load(content.encode().decode(), name)
    assert again.tree == document.tree
    assert again.edu_texts == tuple(map(printable, document.edu_texts))
    assert dump(again, name) == content


@given(document=documents())
@settings(max_examples=150, deadline=None)
def test_json_keeps_everything(document):
    assert load(dump(document, "json").encode().decode(), "json") == document
    assert Document.from_json(document.to_json()) == document


def test_json_keeps_probabilities_and_the_raw_text():
    document = Document.from_edu_texts(["One", "two."], RSTTree(2, [Node(0, 1, 0, "NN", "joint-list", 0.25)]))
    assert document.to_json() == {
        "id": "",
        "text": "One two.",
        "parser": "",
        "sentences": [{"start": 0, "end": 8}],
        "edus": [{"start": 0, "end": 3, "sentence": 0}, {"start": 4, "end": 8, "sentence": 0}],
        "nodes": [
            {"first": 0, "last": 1, "split": 0, "nuclearity": "NN", "relation": "joint-list", "probability": 0.25}
        ],
    }
    assert load(dump(document, "json"), "json").tree.nodes[0].probability == 0.25


@pytest.mark.parametrize("side", ["left", "right", "both"])
@pytest.mark.parametrize("name", list(FORMATS))
def test_the_deepest_trees(name, side):
    document = numbered(chain(5000 if name == "dis" else 3000, side))
    content = dump(document, name)
    if name in READABLE:
        assert load(content, name).tree == document.tree


@pytest.mark.parametrize("name", list(FORMATS))
def test_one_edu(name):
    document = numbered(RSTTree(1))
    content = dump(document, name)
    assert "unit number 0." in content
    if name in READABLE:
        assert load(content, name).tree == RSTTree(1)


@pytest.mark.parametrize("name", list(FORMATS))
def test_a_document_without_a_tree(name):
    document = dataclasses.replace(numbered(RSTTree(1)), tree=None, id="draft")
    if name == "json":
        assert load(dump(document, name), name) == document
    elif name == "html":
        assert document.text in dump(document, name)
    else:
        with pytest.raises(InputError, match=r"expected document 'draft' to have a discourse tree, got none"):
            dump(document, name)


def pair(label):
    return numbered(RSTTree(2, [Node(0, 1, 0, "NS", label)]))


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("label", ["span", "tab\there", "\x01", " "])
def test_labels_that_would_not_be_read_back(name, label):
    with pytest.raises(InputError, match=f"{name}: expected a relation on one line"):
        dump(pair(label), name)


@pytest.mark.parametrize("label", ["two words", "odd (one)", 'a"b', "x_m", "x_r_r"])
def test_unusual_labels(label):
    for name in ("rs3", "rs4", "rsd", "json"):
        assert load(dump(pair(label), name), name).tree == pair(label).tree
    if " " in label:
        with pytest.raises(InputError, match="dis: expected a relation of one word without brackets"):
            dump(pair(label), "dis")


def test_nuclei_that_branch_to_the_right_share_a_constituent():
    nodes = [Node(0, 3, 0, "NN", "joint-list"), Node(1, 3, 1, "NN", "joint-list"), Node(2, 3, 2, "NS", "purpose-goal")]
    assert [item.children for item in constituents(RSTTree(4, nodes))] == [(0, 1, 5), (2, 3)]
    nodes[1] = Node(1, 3, 1, "NN", "joint-sequence")
    assert [item.children for item in constituents(RSTTree(4, nodes))] == [(0, 5), (1, 6), (2, 3)]


def test_read_tree_by_suffix(tmp_path):
    document = numbered(chain(4, "both"))
    for name in READABLE:
        path = tmp_path / f"story.{name}"
        path.write_text("\ufeff" + dump(document, name), encoding="utf-8")
        again = read_tree(path)
        assert (again.tree, again.id) == (document.tree, "story")
        assert again.parser == ("" if name == "json" else name)


def test_the_methods_of_document():
    document = numbered(chain(4, "left"))
    for name in ("rs3", "rs4", "dis", "rsd"):
        content = getattr(document, f"to_{name}")()
        assert getattr(Document, f"from_{name}")(content).tree == document.tree


PAIRS = ["a \ud83d\ude00 b \U0001f600 \ud83d\ude00\ud83d\ude00.", "\ude00\ud83d\ude00", "\ud83d\ud83d\ude00 c"]


@pytest.mark.parametrize("text", PAIRS, ids=ascii)
def test_surrogates_in_a_row_survive_json(text):
    document = Document(text, (Span(0, len(text)),), (EDU(0, len(text), 0),), RSTTree(1, []))
    for found in (loads(dumps(document)), Document.from_json(document.to_json())):
        assert found == document
    with pytest.raises(FormatError, match="surrogates: expected positions of at least 0, got -1"):
        Document.from_json(document.to_json() | {"surrogates": [-1]})
    assert Document.from_json(document.to_json() | {"surrogates": [10**9, 1]})


def test_documents_survive_pandas():
    pandas = pytest.importorskip("pandas")
    tree = RSTTree(2, [Node(0, 1, 0, "NS", "causal-cause")])
    one, other = (Document.from_edu_texts(["Rain fell,", f"so we {what}."], tree) for what in ("stayed", "left"))
    other = dataclasses.replace(other, warnings=("a doubt",))
    frame = pandas.DataFrame([one.to_json(), other.to_json()])
    assert [Document.from_json(row) for row in frame.to_dict("records")] == [one, other]
    # Lists of a Parquet table come as arrays.
    arrays = frame.map(lambda value: np.array(value) if isinstance(value, list) else value)
    assert [Document.from_json(row) for row in arrays.to_dict("records")] == [one, other]


@given(st.text(st.sampled_from("ab\U0001f600\u00e9"), max_size=12), st.lists(st.integers(0, 20), max_size=8))
def test_pairs_are_split_one_after_the_other(text, positions):
    expected = text
    for place in sorted(positions):
        pair = expected[place : place + 1].encode("utf-16-be", "surrogatepass")
        if len(pair) == 4:
            halves = "".join(chr(int.from_bytes(pair[start : start + 2], "big")) for start in (0, 2))
            expected = expected[:place] + halves + expected[place + 1 :]
    assert _with_pairs(text, positions) == expected


@pytest.mark.parametrize(("relation", "listed"), [("elaboration-additional", True), ("Elaboration", False)])
def test_the_header_of_rs3_lists_gums_relations_for_its_trees_only(relation, listed):
    document = Document.from_edu_texts(["It rained,", "again."], RSTTree(2, [Node(0, 1, 0, "NS", relation)]))
    header = document.to_rs3().partition("</relations>")[0]
    assert f'<rel name="{relation}" type="rst"/>' in header
    assert ('<rel name="causal-cause" type="rst"/>' in header) == listed
