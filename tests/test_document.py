import copy
import json
import pickle

import numpy as np
import pytest

from discsum.document import EDU, Document, Span
from discsum.errors import InputError
from discsum.tree import Node, RSTTree

TEXT = " It rained, so we left.\nNobody minded. "


def test_spans_find_their_sentences():
    document = Document.from_spans(TEXT, [Span(1, 23), Span(24, 38)], [Span(1, 11), Span(12, 23), Span(24, 38)])
    assert [edu.sentence for edu in document.edus] == [0, 0, 1]
    assert document.edu_texts == ("It rained,", "so we left.", "Nobody minded.")
    assert document.units("sentence") == document.sentences
    assert document.units("edu") == document.edus


@pytest.mark.parametrize(
    ("sentences", "edus", "message"),
    [
        ([Span(1, 23)], [Span(1, 38)], "after the last sentence: expected every character to be in one"),
        ([Span(1, 38)], [Span(1, 11), Span(10, 38)], "EDU 1: expected to start at character 11 or later, got 10"),
        ([Span(1, 38)], [Span(1, 99)], "EDU 0: expected a span in 0 to 39"),
        ([Span(1, 38)], [Span(1, 11), Span(12, 12), Span(12, 38)], "EDU 1: expected a span"),
        ([Span(12, 38)], [Span(1, 38)], "start in a sentence, got none at character 1"),
    ],
)
def test_spans_that_do_not_tile(sentences, edus, message):
    with pytest.raises(InputError, match=message):
        Document.from_spans(TEXT, sentences, edus)


def test_wrong_sentence_and_wrong_tree():
    with pytest.raises(InputError, match="EDU 0: expected sentence 0, got 1"):
        Document("a", (Span(0, 1),), (EDU(0, 1, 1),))
    with pytest.raises(InputError, match="tree over 1 EDUs, got one over 2"):
        Document("a", (Span(0, 1),), (EDU(0, 1, 0),), RSTTree(2, [Node(0, 1, 0, "NS", "x")]))


def test_an_unknown_unit():
    with pytest.raises(InputError, match="'sentence' or 'edu', got 'word'"):
        Document("").units("word")


def test_edu_texts_without_a_text():
    document = Document.from_edu_texts(["We left", " because it rained. ", "Nobody minded"])
    assert document.text == "We left because it rained. Nobody minded"
    assert [edu.sentence for edu in document.edus] == [0, 0, 1]
    with pytest.raises(InputError, match="EDU 1"):
        Document.from_edu_texts(["a", " "])
    with pytest.raises(TypeError, match=r"expected the texts of EDUs, got \[None\]"):
        Document.from_edu_texts([None])


def test_lists_and_numpys_numbers_make_the_same_document():
    spans = [Span(1, 23), Span(24, 38)]
    document = Document.from_spans(TEXT, spans, spans)
    assert Document(TEXT, [*document.sentences], [*document.edus], warnings=[]) == document
    assert hash(Document(TEXT, [*document.sentences], [*document.edus])) == hash(document)
    counted = Document.from_spans(TEXT, spans, [Span(*map(np.int64, (span.start, span.end))) for span in spans])
    assert json.loads(json.dumps(counted.to_json())) == document.to_json()


@pytest.mark.parametrize(("sentences", "edus"), [([(0, 10)], [Span(0, 10)]), ([Span(0, 10)], [(0, 10)])])
def test_units_that_are_no_spans(sentences, edus):
    with pytest.raises(TypeError, match=r"(sentences|edus): expected spans, such as Span\(0, 9\), got \(0, 10\)"):
        Document.from_spans("It rained.", sentences, edus)


def test_what_a_document_computed_cannot_be_changed():
    tree = RSTTree(2, [Node(0, 1, 0, "NS", "causal-cause")])
    document = Document.from_edu_texts(["It rained,", "so we left."], tree)
    for array in (document.edu_to_sentence, tree.spans, *tree.parents, *tree.nucleus):
        with pytest.raises(ValueError, match="read-only"):
            array += 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Document(None), "text: expected str, got NoneType"),
        (lambda: Document(TEXT, id=3), "id: expected str, got int"),
        (lambda: Document(TEXT).with_id(3), "id: expected str, got int"),
        (lambda: Document(TEXT, [(1, 38)]), r"expected units such as Span\(0, 9\), got \(1, 38\); from_spans takes"),
        (lambda: Document(TEXT, [Span(1, 38)], [Span(1, 38)]), r"expected units such as EDU\(0, 9, sentence=0\), got"),
        (lambda: Document(TEXT, tree="(a b)"), "expected an RSTTree, got str"),
        (lambda: RSTTree(2, Node(0, 1, 0, "NS", "joint")), "nodes: expected several nodes, got one Node"),
    ],
)
def test_fields_of_other_types(make, message):
    with pytest.raises(TypeError, match=message):
        make()


def test_a_document_without_a_tree_says_why():
    for text, remedy in (("", "it has no text"), ("It rained.", "parse its text first")):
        with pytest.raises(InputError, match=f"got none; {remedy}"):
            Document(text).to_rs3()


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda document: pickle.loads(pickle.dumps(document))])
def test_copies_keep_their_arrays_read_only(copied):
    tree = RSTTree(2, [Node(0, 1, 0, "NS", "causal-cause")])
    document = Document.from_edu_texts(["The mill closed", "because the river fell."], tree)
    # What is cached before is not copied.
    assert len(document.edu_to_sentence) + len(tree.spans) + len(tree.parents) + len(tree.nucleus) == 7
    for one in (document, copied(document)):
        for array in (one.edu_to_sentence, one.tree.spans, *one.tree.parents, *one.tree.nucleus):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
        assert one == document and hash(one) == hash(document)


def test_spans_of_numpy_are_written_as_json():
    spans = [Span(*place) for place in np.array([[0, 10], [11, 19]])]
    document = Document.from_spans("It rained. We left.", spans, spans)
    assert Document.from_json(json.loads(json.dumps(document.to_json()))) == document


def test_a_unit_of_white_space_alone_is_refused():
    with pytest.raises(InputError, match="EDU 1: expected more than white space, got"):
        Document("a \u2003b", (Span(0, 4),), (EDU(0, 1, 0), EDU(1, 3, 0), EDU(3, 4, 0)))
