"""Training examples of the parser: a document's subwords with gold EDUs, and with predicted ones."""

import numpy as np
import pytest
import tiny
from hypothesis import given
from hypothesis import strategies as st
from small_treebank import GUM, gold
from small_trees import document_of, random_tree

from discsum.document import Document, Span
from discsum.errors import InputError
from discsum.parsers.training.examples import label_set, make_example, restrict_to_predicted
from discsum.parsers.treebank import read_gum


def test_an_edu_without_a_subword_cannot_be_learned(tokenizer):
    document = Document.from_spans(
        "mill \x00 wheel", [Span(0, 12)], [Span(0, 4), Span(5, 6), Span(7, 12)], random_tree(3, 0), "mill"
    )
    with pytest.raises(InputError, match="mill: expected no two EDUs to share a subword, but EDUs 1 and 2 do"):
        make_example(document, tokenizer, label_set([document]))


@given(st.integers(2, 12), st.integers(0, 10_000), st.data())
def test_gold_nodes_over_predicted_edus(edus, seed, data):
    words = [f"{word} mill" for word in tiny.WORDS[:edus]]
    document = document_of([words], random_tree(edus, seed))
    example = make_example(document, tiny.make_tokenizer(), label_set([document]))
    chosen = data.draw(st.sets(st.integers(1, len(example.subwords) - 1)))
    predicted = np.array(sorted({0, *chosen}))
    found = restrict_to_predicted(example, predicted, np.array([0]))
    # In subwords: a node is kept if its start, split and end are borders of predicted EDUs.
    starts, borders = (
        [*example.targets.edu_starts.tolist(), len(example.subwords)],
        [*predicted.tolist(), len(example.subwords)],
    )
    expected = []
    for node, label in zip(document.tree.nodes, example.targets.labels.tolist(), strict=True):
        places = starts[node.first], starts[node.last + 1], starts[node.split + 1]
        if all(place in borders for place in places):
            first, after, second = map(borders.index, places)
            expected.append((first, after - 1, second - 1, label))
    rows = [(*node, label) for node, label in zip(found.nodes.tolist(), found.labels.tolist(), strict=True)]
    assert rows == expected
    assert found.edu_starts is predicted


def test_over_gold_edus_all_nodes_are_held(tokenizer):
    document = gold("mill")
    example = make_example(document, tokenizer, label_set([document]))
    same = restrict_to_predicted(example, example.targets.edu_starts, example.targets.sentence_starts)
    assert same.nodes.tolist() == document.tree.spans.tolist()
    starts = example.targets.edu_starts
    assert [example.subwords.starts[index] for index in starts] == [edu.start for edu in document.edus]
    assert np.flatnonzero(example.tags.argmax(axis=1)).tolist() == starts.tolist()
    assert example.tags.sum(axis=0)[2] == 2


@pytest.mark.skipif(not GUM.is_dir(), reason=f"GUM is not at {GUM}; set DISCSUM_DATA to the folder that holds it")
def test_every_document_of_gum_can_be_learned_from():
    documents = read_gum(GUM, "train") + read_gum(GUM, "dev")
    assert len(documents) == 207
    assert len(label_set(documents)) == 50
