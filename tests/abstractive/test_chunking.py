"""Chunks of documents: sentences, subtrees, rows of words; and the tokenizer of words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_trees import document_of, random_tree

from discsum.abstractive.coarse_to_fine.chunking import chunk_ids, subtrees, text_of
from discsum.abstractive.coarse_to_fine.config import CoarseToFineConfig
from discsum.abstractive.vocabulary import make_word_tokenizer, read_vectors
from discsum.document import Document
from discsum.errors import InputError
from discsum.tree import Node, RSTTree

SENTENCES = [["When the river rose,", "the miller stopped the wheel."], ["He said", "that the 3,000 stones were old."]]
NODES = [
    (0, 3, 1, "NS", "elaboration-additional"),
    (0, 1, 0, "SN", "context-circumstance"),
    (2, 3, 2, "SN", "attribution-positive"),
]
END = "</s>"


@pytest.fixture
def document():
    return document_of(SENTENCES, RSTTree(4, [Node(*node) for node in NODES]))


@pytest.fixture(scope="module")
def tokenizer():
    return make_word_tokenizer([" ".join(edu for sentence in SENTENCES for edu in sentence)], 40, lowercase=True)


def words_of(tokenizer, document, config, end=END, **options):
    """Return the words of each chunk."""
    encoding = tokenizer([text_of(document, end)], **options)
    owners = chunk_ids([document], encoding, config, end)[0].numpy()
    words = np.array(tokenizer.convert_ids_to_tokens(encoding["input_ids"][0]))
    return [" ".join(words[owners == chunk]) for chunk in range(owners.max() + 1)]


def test_sentences_end_with_their_token(document, tokenizer):
    assert words_of(tokenizer, document, CoarseToFineConfig(chunks="sentences")) == [
        "when the river rose , the miller stopped the wheel . </s>",
        "he said that the # stones were old . </s>",
    ]
    plain = CoarseToFineConfig(chunks="sentences", sentence_ends=False)
    assert words_of(tokenizer, document, plain, "")[0].endswith("wheel .")


@pytest.mark.parametrize(
    ("words", "chunks"),
    [
        (22, 1),
        (21, 2),
        # With punctuation and end token, the first sentence has 12 words, the second 10.
        (12, 2),
        (11, 3),
        (10, 3),
        # EDUs above the limit are chunks of their own.
        (9, 4),
        (1, 4),
    ],
)
def test_subtrees_of_at_most_so_many_words(document, tokenizer, words, chunks):
    config = CoarseToFineConfig(chunks="subtrees", subtree_words=words)
    found = words_of(tokenizer, document, config)
    assert len(found) == chunks
    assert " ".join(found) == (
        "when the river rose , the miller stopped the wheel . </s> he said that the # stones were old . </s>"
    )


def test_rows_of_words(document, tokenizer):
    found = words_of(tokenizer, document, CoarseToFineConfig(chunks="3x10"))
    assert found == [
        "when the river rose , the miller stopped the wheel",
        ". </s> he said that the # stones were old",
        ". </s>",
    ]


@given(edus=st.integers(1, 40), words=st.integers(1, 60), seed=st.integers(0, 99))
def test_subtrees_are_the_largest_that_fit(edus, words, seed):
    sizes = np.random.default_rng(seed).integers(1, 9, edus)
    document = document_of([[" ".join(["word"] * size) + "."] for size in sizes], random_tree(edus, seed))
    owners = subtrees(document, sizes, words)
    assert (np.diff(owners) >= 0).all() and set(owners) == set(range(owners.max() + 1))
    spans = {(node.first, node.last) for node in document.tree.nodes} | {(edu, edu) for edu in range(edus)}
    found = [tuple(np.flatnonzero(owners == chunk)[[0, -1]].tolist()) for chunk in range(owners.max() + 1)]
    assert set(found) <= spans
    for first, last in found:
        assert first == last or sizes[first : last + 1].sum() <= words
        around = [span for span in spans if span[0] <= first and last <= span[1] and span != (first, last)]
        assert all(sizes[span[0] : span[1] + 1].sum() > words for span in around)


def test_a_long_list_is_no_deep_recursion():
    edus = 3_000
    nodes = [Node(first, edus - 1, first, "NN", "joint-list") for first in range(edus - 1)]
    document = document_of([[f"Unit {place}."] for place in range(edus)], RSTTree(edus, nodes))
    assert subtrees(document, np.full(edus, 2), 10).tolist() == [*range(edus - 5), *[edus - 5] * 5]


def test_documents_that_have_no_chunks(document, tokenizer):
    bare = Document("Some text.", id="bare")
    with pytest.raises(InputError, match="bare: expected a text with sentences, got a text without sentences; parse"):
        text_of(bare, END)
    with pytest.raises(InputError, match="expected a text with sentences, got an empty one"):
        text_of(Document(""), END)
    without = document_of(SENTENCES)
    config = CoarseToFineConfig(chunks="subtrees")
    with pytest.raises(InputError, match="tree"):
        chunk_ids([without], tokenizer([text_of(without, END)]), config, END)
    with pytest.raises(InputError, match=r"expected at most 6 words, 2 rows of 3, got \d+"):
        chunk_ids([document], tokenizer([text_of(document, END)]), CoarseToFineConfig(chunks="2x3"), END)


def test_a_text_that_is_cut_and_one_of_a_word(document, tokenizer):
    config = CoarseToFineConfig(chunks="sentences")
    cut = words_of(tokenizer, document, config, truncation=True, max_length=4)
    assert cut == ["when the river </s>"]
    assert words_of(tokenizer, document_of([["Old"]]), config) == ["old </s>"]


def test_an_end_token_in_a_text_is_no_end_of_its_sentence(tokenizer):
    document = document_of([["The miller </s> said"], ["old stones."]])
    assert words_of(tokenizer, document, CoarseToFineConfig(chunks="sentences")) == [
        "the miller </s> said </s>",
        "old stones . </s>",
    ]


def test_words_are_the_most_frequent_and_numbers_one_word():
    texts = ["The mill, the mill and 12 mills.", "In 1,234.5 mills the Miller sat."]
    made = make_word_tokenizer(texts, 8, lowercase=True)
    assert made.convert_ids_to_tokens(range(8)) == ["<pad>", "<s>", "</s>", "<unk>", "the", "#", ".", "mill"]
    assert made.decode(made("The 77 wheels")["input_ids"], skip_special_tokens=True) == "the # <unk>"
    assert "The" in make_word_tokenizer(texts, 20, lowercase=False).get_vocab()
    again = make_word_tokenizer(reversed(texts), 8, lowercase=True)
    assert again.get_vocab() == made.get_vocab()


def test_word_vectors(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("2 3\nmill 1 2 3\nwheel 4 5 6\n")
    indices, vectors = read_vectors(path, {"mill": 7, "stone": 8}, 3)
    assert (indices.tolist(), vectors.tolist()) == ([7], [[1.0, 2.0, 3.0]])
    with pytest.raises(InputError, match=r"vectors\.txt, line 2: expected a word and 4 numbers, got 3"):
        read_vectors(path, {"mill": 7}, 4)
    with pytest.raises(InputError, match="expected vectors for words of the training texts, found none"):
        read_vectors(path, {"stone": 8}, 3)
    with pytest.raises(InputError, match="expected word vectors as text"):
        read_vectors(tmp_path / "gone.txt", {"mill": 7}, 3)
