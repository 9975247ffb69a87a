"""Reading in pieces of any size gives the same result as reading at once."""

from dataclasses import fields, replace

import numpy as np
import pytest
import tiny
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from discsum.constants import UNITS
from discsum.document import Span
from discsum.parsers import budgets, edu_vectors, encoder, long_lstm, reading, row_buffer, running_sums, subwords
from discsum.parsers.budgets import Budget
from discsum.parsers.long_lstm import run_in_pieces
from discsum.parsers.reading import STATES, SUBWORDS
from discsum.parsers.row_buffer import RowBuffer
from discsum.parsers.running_sums import RunningSums
from discsum.parsers.structure import cohesion, scores
from discsum.parsers.subwords import first_subwords, split_subwords
from discsum.parsers.unit_encoders import UnitEncoder

KEEP = (*UNITS, STATES, SUBWORDS)
PARSER = tiny.make_parser(cohesion=4, label_edges=4, label_heads=True, label_rank=4)
LONG = "\n\n".join([tiny.ARTICLE] * 4)
# Every size that bounds memory, with its module.
SIZES = [
    (subwords, "PIECE"),
    (encoder, "WINDOWS"),
    (edu_vectors, "STEPS"),
    (long_lstm, "STEPS"),
    (running_sums, "PIECE"),
    (running_sums, "FEW"),
    (cohesion, "PIECE"),
    (scores, "PIECE"),
    (row_buffer, "PART"),
]


def shrink(patch, size):
    for module, name in SIZES:
        patch.setattr(module, name, size)
    patch.setattr(budgets, "ON_CPU", Budget(size, size, size, size))


@pytest.fixture(params=[1, 3, 40])
def small(request, monkeypatch):
    shrink(monkeypatch, request.param)


def encode(text, **given):
    return PARSER.encode([text], keep=KEEP, **given)[0]


def assert_same(found, expected):
    assert found.document.sentences == expected.document.sentences
    assert found.document.edus == expected.document.edus
    for one, other in zip(found.document.tree.nodes, expected.document.tree.nodes, strict=True):
        assert replace(one, probability=0) == replace(other, probability=0)
        assert one.probability == pytest.approx(other.probability, abs=1e-3)
    for name in KEEP:
        torch.testing.assert_close(found.vectors[name], expected.vectors[name], atol=1e-4, rtol=1e-4)


WHOLE = {sentences: encode(LONG, sentences=sentences) for sentences in ("model", "newline")}
SPANS = {name: WHOLE["model"].document.units(name) for name in UNITS}
GIVEN = encode(LONG, edus=[SPANS["edu"]]), encode(LONG, sentences=SPANS["sentence"], edus=[SPANS["edu"]])


@pytest.mark.parametrize("sentences", WHOLE)
def test_units_that_are_found(small, sentences):
    assert_same(encode(LONG, sentences=sentences), WHOLE[sentences])


def test_units_that_are_given(small):
    assert_same(encode(LONG, edus=[SPANS["edu"]]), GIVEN[0])
    assert_same(encode(LONG, sentences=SPANS["sentence"], edus=[SPANS["edu"]]), GIVEN[1])


def test_texts_of_a_batch(small):
    texts = [LONG, "", "Rain.", tiny.ARTICLE]
    expected = [WHOLE["model"].document.edus, *(PARSER.parse(text).edus for text in texts[1:])]
    assert [document.edus for document in PARSER.parse_many(texts)] == expected
    assert [document.edus for document in PARSER.segment(texts)] == expected


@pytest.mark.parametrize("kind", ["contextual", "discourse"])
def test_vectors_of_units(kind, monkeypatch):
    document = WHOLE["model"].document
    units = UnitEncoder.load(kind, PARSER)
    expected = {name: units.vectors([document], name)[0] for name in UNITS}
    shrink(monkeypatch, 5)
    for name in UNITS:
        torch.testing.assert_close(units.vectors([document], name)[0], expected[name], atol=1e-4, rtol=1e-4)


def test_only_what_is_open_is_held(monkeypatch):
    monkeypatch.setattr(encoder, "WINDOWS", 1)
    monkeypatch.setattr(budgets, "ON_CPU", Budget(documents=1, tokens=32, edus=1, cells=1))
    held, forget = [], reading.Reading.forget

    def watched(self):
        forget(self)
        held.append(len(self._held))

    monkeypatch.setattr(reading.Reading, "forget", watched)
    text = "\n\n".join([tiny.ARTICLE] * 20)
    document = PARSER.parse(text)
    starts = first_subwords(split_subwords(text, PARSER.tokenizer), document.edus)
    assert len(held) > 100
    # Subwords that cannot be tagged yet, their context, and one EDU.
    assert max(held) < 2 * PARSER.network.tagger.reach + np.diff(starts).max()
    assert held[-1] == 0


PARTS = [*"abc Z\xe9.\n\t\0\u3042\U0001f600", " rain", " mill. ", " -- ", " - " * 9]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=60).map("".join)


@settings(max_examples=40)
@given(TEXTS, st.integers(1, 12), st.sampled_from(["model", "newline"]))
def test_arbitrary_text(text, size, sentences):
    expected = PARSER.parse(text, sentences=sentences)
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch, size)
        found = PARSER.parse(text, sentences=sentences)
    assert (found.sentences, found.edus) == (expected.sentences, expected.edus)
    assert (found.tree is None) == (expected.tree is None)


@given(TEXTS, st.integers(1, 30))
def test_subwords_of_pieces(text, size):
    whole = split_subwords(text, PARSER.tokenizer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subwords, "PIECE", size)
        found = split_subwords(text, PARSER.tokenizer)
    for field in fields(whole):
        one, other = getattr(found, field.name), getattr(whole, field.name)
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("training", [False, True])
def test_running_sums(training, monkeypatch):
    rows = torch.randn(60, 3, requires_grad=training)
    places = torch.tensor([0, 60, 7, 8, 8, 9, 31, 59])
    expected = torch.cat([torch.zeros(1, 3), rows * 0.5]).double().cumsum(0)[places]
    for size in (1, 9, 100):
        monkeypatch.setattr(running_sums, "PIECE", size)
        sums = RunningSums(rows, 0.5)
        torch.testing.assert_close(sums[places], expected)
    if training:
        ours, theirs = (torch.autograd.grad(of.square().sum(), rows)[0] for of in (sums[places], expected))
        torch.testing.assert_close(ours, theirs)


def test_edus_are_pooled_in_mixed_precision():
    edus, vectors = PARSER.network.edus, torch.randn(6, PARSER.network.encoder.width)
    layout = edu_vectors.EDULayout(
        torch.tensor([0, 2]), torch.tensor([2, 6]), torch.tensor([0, 1]), torch.tensor([1, 2])
    )
    with torch.autocast("cpu", torch.bfloat16):
        found = edus.pool(vectors, layout)
    torch.testing.assert_close(found.float(), edus.pool(vectors, layout), atol=0.1, rtol=0.1)


@pytest.mark.parametrize("training", [False, True])
def test_an_lstm_in_pieces(training, monkeypatch):
    torch.manual_seed(0)
    lstm = nn.LSTM(6, 4, 3, batch_first=True, bidirectional=True).train(training)
    inputs = torch.randn(50, 6, requires_grad=True)
    whole = run_in_pieces(lstm, inputs)
    (expected,) = torch.autograd.grad(whole.square().sum(), inputs)
    for size in (1, 7, 49):
        monkeypatch.setattr(long_lstm, "STEPS", size)
        found = run_in_pieces(lstm, inputs)
        torch.testing.assert_close(found, whole)
        torch.testing.assert_close(torch.autograd.grad(found.square().sum(), inputs)[0], expected)


@given(st.lists(st.integers(0, 9), max_size=8), st.integers(1, 400))
def test_gathered_rows(sizes, part):
    rows, pieces = RowBuffer(), [torch.randn(size, 2, 3) for size in sizes]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_buffer, "PART", part)
        for piece in pieces:
            rows.add(piece)
    if pieces:
        assert rows.whole(3).equal(torch.cat(pieces))
    else:
        assert rows.whole(3).shape == (0, 3)


def test_pooling_takes_each_units_own_subwords():
    vectors = torch.arange(12.0).view(6, 2)
    starts = np.array([1, 4, 7, 10, 13, 16])
    pooled = reading.pool(vectors, starts, [Span(0, 6), Span(7, 9), Span(9, 10), Span(10, 20)])
    expected = [vectors[:2].mean(0), vectors[2], torch.zeros(2), vectors[3:].mean(0)]
    torch.testing.assert_close(pooled, torch.stack(expected))
