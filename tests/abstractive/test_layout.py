"""The sentence of each token of encoded documents."""

from dataclasses import replace

import numpy as np
import pytest
import tiny
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Metaspace
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import BpeTrainer
from transformers import PreTrainedTokenizerFast

from discsum.abstractive.sparse import SentenceLayout
from discsum.document import Document, Span
from discsum.errors import InputError
from discsum.priors import c_tree_nuc


@pytest.fixture(scope="module")
def tokenizer():
    plain = tiny.make_tokenizer()
    special = [("[CLS]", plain.token_to_id("[CLS]")), ("[SEP]", plain.token_to_id("[SEP]"))]
    plain.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=special)
    return PreTrainedTokenizerFast(tokenizer_object=plain, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]")


def document(text, *bounds):
    spans = [Span(start, end) for start, end in bounds]
    return Document.from_spans(text, spans, spans)


DOCUMENTS = (
    document("The river rose. It rained all day. The mill broke.", (0, 15), (16, 34), (35, 50)),
    document("Rain. ", (0, 5)),
)


def encode(tokenizer, documents, **options):
    texts = [item.text for item in documents]
    return tokenizer(texts, padding=True, return_tensors="pt", **options)


def with_spaces(kind):
    """Return a tokenizer whose offsets include the white space before a word."""
    plain = Tokenizer(BPE(unk_token="[UNK]"))
    plain.pre_tokenizer = ByteLevel(add_prefix_space=False) if kind == "bytes" else Metaspace()
    texts = [item.text for item in DOCUMENTS]
    plain.train_from_iterator(texts, BpeTrainer(special_tokens=["[PAD]", "[UNK]"], show_progress=False))
    return PreTrainedTokenizerFast(tokenizer_object=plain, pad_token="[PAD]")


@pytest.mark.parametrize("kind", ["bytes", "words"])
def test_white_space_before_a_word_is_not_the_words_sentence(kind):
    encoding = encode(with_spaces(kind), DOCUMENTS[:1])
    starts = [start for start, _ in encoding.encodings[0].offsets]
    assert 15 in starts, "a token begins with the space before the second sentence"
    owner = SentenceLayout.from_documents(DOCUMENTS[:1], encoding).owner[0].tolist()
    assert owner == [0 if start < 15 else 1 if start < 34 else 2 for start in starts]


def test_tokens_belong_to_the_sentence_they_begin_in(tokenizer):
    encoding = encode(tokenizer, DOCUMENTS)
    layout = SentenceLayout.from_documents(DOCUMENTS, encoding)
    assert layout.owner.shape == encoding["input_ids"].shape
    for row, item in enumerate(DOCUMENTS):
        offsets = encoding.encodings[row].offsets
        ids = encoding["input_ids"][row].tolist()
        for token, owner in enumerate(layout.owner[row].tolist()):
            if encoding["attention_mask"][row, token] == 0:
                assert owner == -1
            elif ids[token] == tokenizer.cls_token_id:
                assert owner == 0
            elif ids[token] == tokenizer.sep_token_id:
                assert owner == len(item.sentences) - 1
            else:
                span = item.sentences[owner]
                assert span.start <= offsets[token][0] < span.end
    assert layout.mask.sum(dim=1).tolist() == [3, 1]
    assert layout.lengths.sum(dim=1).tolist() == encoding["attention_mask"].sum(dim=1).tolist()
    assert layout.sentences == ((0, 1, 2), (0,))


def test_what_is_cut_off_is_in_no_sentence(tokenizer):
    offsets = encode(tokenizer, DOCUMENTS[:1]).encodings[0].offsets
    within = sum(start < DOCUMENTS[0].sentences[1].end for start, _ in offsets[1:-1])
    encoding = encode(tokenizer, DOCUMENTS[:1], truncation=True, max_length=within)
    layout = SentenceLayout.from_documents(DOCUMENTS[:1], encoding)
    assert layout.mask.sum(dim=1).tolist() == [2]
    assert layout.sentences == ((0, 1),)
    left = SentenceLayout.from_documents(DOCUMENTS, encode(tokenizer, DOCUMENTS, padding_side="left"))
    assert left.owner[1, 0] == -1
    assert int(left.starts[1, 0]) == int((left.owner[1] < 0).sum())


def test_encodings_that_do_not_fit(tokenizer):
    with pytest.raises(InputError, match="expected the encoding of one text, got that of a pair of texts"):
        SentenceLayout.from_documents(DOCUMENTS[:1], tokenizer([DOCUMENTS[0].text], [DOCUMENTS[1].text]))
    with pytest.raises(InputError, match="expected 2 encoded texts, got 1"):
        SentenceLayout.from_documents(DOCUMENTS, encode(tokenizer, DOCUMENTS[:1]))
    with pytest.raises(InputError, match="expected the encoding of its text, got that of a longer one"):
        SentenceLayout.from_documents(DOCUMENTS[1:], encode(tokenizer, DOCUMENTS[:1]))
    with pytest.raises(InputError, match="expected a text with sentences, got"):
        SentenceLayout.from_documents([Document("Rain.", (), ())], encode(tokenizer, DOCUMENTS[1:]))

    with pytest.raises(InputError, match=r"unit: expected sentences or edus, got 'edu' \(did you mean edus\?\)"):
        SentenceLayout.from_documents(DOCUMENTS, encode(tokenizer, DOCUMENTS), unit="edu")

    class Slow:
        is_fast = False

    with pytest.raises(InputError, match="got one from a slow tokenizer; use a model with a fast tokenizer"):
        SentenceLayout.from_documents(DOCUMENTS, Slow())
    with pytest.raises(TypeError, match="documents: expected Document, got str; parse the texts first"):
        SentenceLayout.from_documents(["Rain."], encode(tokenizer, DOCUMENTS[:1]))
    with pytest.raises(TypeError, match="encoding: expected what the tokenizer returns, got dict"):
        SentenceLayout.from_documents(DOCUMENTS, {"input_ids": [[1]]})


@pytest.mark.parametrize("row", [[0, 2], [1, 0], [0, -1, 0], [-1, -1], [0, 1, 0]])
def test_owners_that_are_no_sentences(row):
    with pytest.raises(InputError, match="document 0: expected"):
        SentenceLayout.from_owner(torch.tensor([row]))


@given(
    lengths=st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=6), min_size=1, max_size=4),
    seed=st.integers(0, 99),
)
def test_sums_and_spread(lengths, seed):
    longest = max(sum(sizes) for sizes in lengths) + 1
    owner = torch.full((len(lengths), longest), -1)
    for row, sizes in enumerate(lengths):
        owner[row, : sum(sizes)] = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    layout = SentenceLayout.from_owner(owner)
    values = torch.randn(len(lengths), 3, longest, generator=torch.Generator().manual_seed(seed))
    sums = layout.sums(values)
    for row, sizes in enumerate(lengths):
        assert layout.lengths[row, : len(sizes)].tolist() == sizes
        ends = np.cumsum(sizes)
        for sentence, end in enumerate(ends):
            inside = values[row, :, end - sizes[sentence] : end]
            torch.testing.assert_close(sums[row, :, sentence], inside.sum(-1), atol=1e-5, rtol=1e-5)
            assert int(layout.starts[row, sentence]) == end - sizes[sentence]
    spread = layout.spread(sums)
    for row, token in (owner >= 0).nonzero().tolist():
        assert spread[row, :, token].equal(sums[row, :, owner[row, token]])


def test_the_prior_is_the_trees(parser):
    item = parser.parse(tiny.ARTICLE)
    bounds = range(len(item.sentences))
    layout = SentenceLayout.from_owner(torch.tensor([list(bounds)])).with_prior([item])
    assert layout.prior.sum().item() == pytest.approx(1)
    fewer = SentenceLayout.from_owner(torch.tensor([[0, 1]]), [[0, 2]]).with_prior([item])
    ratio = layout.prior[0, 2] / layout.prior[0, 0]
    assert (fewer.prior[0, 1] / fewer.prior[0, 0]).item() == pytest.approx(ratio.item(), rel=1e-5)
    with pytest.raises(InputError, match="expected 1 documents, got 2"):
        layout.with_prior([item, item])
    with pytest.raises(InputError, match=r"prior: expected the shape \(1, 2\), \(documents, sentences\), got \(2,\)"):
        replace(fewer, prior=torch.tensor([0.5, 0.5]))
    with pytest.raises(TypeError, match="prior: expected a tensor, got ndarray"):
        replace(fewer, prior=np.array([[0.5, 0.5]]))
    for wrong in ([[0.5, float("nan")]], [[1.5, -0.5]], [[2.0, 3.0]]):
        with pytest.raises(InputError, match="prior: expected numbers of at least 0 in rows that sum to 1, got the"):
            replace(fewer, prior=torch.tensor(wrong))
    short = parser.parse("It rained all day.")
    with pytest.raises(
        InputError, match=r"expected the document of the layout, with 3 sentences or more, got one with 1$"
    ):
        SentenceLayout.from_owner(torch.tensor([[0, 1, 2]])).with_prior([short])


def test_the_prior_of_edus_is_theirs(parser, tokenizer):
    item = parser.parse(tiny.ARTICLE)
    layout = SentenceLayout.from_documents([item], encode(tokenizer, [item]), "edus").with_prior([item])
    mass = c_tree_nuc(item.tree).sum(axis=0)
    np.testing.assert_allclose(layout.prior[0].numpy(), mass[list(layout.sentences[0])] / mass.sum(), rtol=1e-5)
