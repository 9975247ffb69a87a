import numpy as np
import pytest
import tiny
from small_trees import random_tree

from discsum.document import Document, Span
from discsum.parsers.segmenter import INSIDE, SENTENCE_START
from discsum.parsers.training.augment import _wrapped, prune, relayout, restrict
from discsum.parsers.training.examples import label_set, make_example

WORDS = ["the river rose", "the miller said", "because of rain", "and it broke.", "the town asked", "for bread."]


def texts_of(edus, seed):
    generator = np.random.default_rng(seed)
    return [WORDS[generator.integers(len(WORDS))] for _ in range(edus)]


def example(edus, seed):
    texts = texts_of(edus, seed)
    document = Document.from_edu_texts(texts, random_tree(edus, seed), id=f"text-{seed}")
    labels = sorted({(node.nuclearity, node.relation) for node in document.tree.nodes})
    return make_example(document, tiny.make_tokenizer(), labels)


def naive(tree, kept):
    """Return the nodes that have kept EDUs in both children, renumbered, each with its index in the tree."""
    index = {edu: position for position, edu in enumerate(np.flatnonzero(kept).tolist())}
    nodes = []
    for place, node in enumerate(tree.nodes):
        left = [index[edu] for edu in range(node.first, node.split + 1) if kept[edu]]
        right = [index[edu] for edu in range(node.split + 1, node.last + 1) if kept[edu]]
        if left and right:
            nodes.append((left[0], right[-1], left[-1], place))
    return nodes


@pytest.mark.parametrize("seed", range(20))
def test_a_restricted_example_is_the_document_without_those_edus(seed):
    whole = example(12, seed)
    kept = np.random.default_rng(seed).random(12) < 0.6
    kept[:2] = True
    part = restrict(whole, kept)
    nodes = part.targets.nodes.tolist()
    found = [(*node, label) for node, label in zip(nodes, part.targets.labels.tolist(), strict=True)]
    labels = whole.targets.labels
    expected = naive(whole.tree, kept)
    assert found == [(first, last, split, labels[place]) for first, last, split, place in expected]
    assert len(part.targets.nodes) == kept.sum() - 1
    texts = [text for text, keep in zip(texts_of(12, seed), kept, strict=True) if keep]
    ids = [tiny.make_tokenizer().encode(text, add_special_tokens=False).ids for text in texts]
    assert part.subwords.ids.tolist() == [index for group in ids for index in group]
    assert part.targets.edu_starts.tolist() == np.cumsum([0, *(len(group) for group in ids[:-1])]).tolist()
    assert (part.tags[part.targets.edu_starts, INSIDE] == 0).all()
    assert (part.tags[part.targets.sentence_starts, SENTENCE_START] == 1).all()
    assert (part.tags[:, INSIDE] == 0).sum() == kept.sum()


def test_only_whole_sentences_go():
    random = np.random.default_rng(0)
    smaller = 0
    for seed in range(30):
        whole = example(40, seed)
        part = prune(whole, random, section=0.5, drop=0.3)
        smaller += len(part.targets.edu_starts) < 40
        sentences = {tuple(ids) for ids in np.split(whole.subwords.ids, whole.targets.sentence_starts[1:])}
        for ids in np.split(part.subwords.ids, part.targets.sentence_starts[1:]):
            assert tuple(ids) in sentences
    assert smaller > 10


def test_nothing_goes_where_nothing_may():
    whole = example(30, 1)
    assert prune(whole, np.random.default_rng(0), section=0.0, drop=0.0) is whole


def words_of(text, *spans):
    spans = [Span(*span) for span in spans]
    document = Document.from_spans(text, spans, spans, random_tree(len(spans), 0))
    return make_example(document, tiny.make_tokenizer(), label_set([document])).subwords


def test_relaid_texts_lose_line_breaks_and_case():
    words = words_of("The MILL\n\nbroke.", (0, 8), (10, 16))
    found = {tuple(relayout(words, 1.0, np.random.default_rng(seed)).gaps.tolist()) for seed in range(20)}
    # The text always begins after a blank line. Before the second paragraph is a space, a newline or a blank line.
    assert words.gaps.tolist().count(3) == 2
    assert {gaps[0] for gaps in found} == {3}
    assert {max(gaps[1:]) for gaps in found} == {1, 2, 3}
    assert set(words.cases.tolist()) == {0, 1, 2, 4}
    assert set(relayout(words, 1.0, np.random.default_rng(0)).cases.tolist()) <= {0, 3, 4}
    assert relayout(words, 0.0, np.random.default_rng(0)).gaps is words.gaps


def test_wrapped_texts_break_at_spaces():
    text = " ".join(["the river-side mill"] * 20)
    words = words_of(text, (0, len(text) // 2), (len(text) // 2 + 1, len(text)))
    wrapped = _wrapped(words)
    breaks = words.starts[wrapped == 2].tolist()
    assert (np.flatnonzero(wrapped != words.gaps) == np.flatnonzero(wrapped == 2)).all()
    assert all(text[start - 1] == " " for start in breaks)
    assert len(breaks) == len(text) // 72
    assert max(np.diff([0, *breaks, len(text)])) < 2 * 72
