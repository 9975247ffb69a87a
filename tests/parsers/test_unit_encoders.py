"""Encoders that return one vector per unit."""

import numpy as np
import pytest
import tiny
import torch

from discsum.constants import UNITS
from discsum.errors import InputError, InputWarning
from discsum.parsers.encoder import longest_window
from discsum.parsers.parsing import with_vectors
from discsum.parsers.unit_encoders import UnitEncoder

TEXTS = [tiny.ARTICLE, "The river rose. " + "Rain " * 100, "Mill"]


@pytest.fixture(scope="module")
def encoded(parser):
    return [with_vectors(item, parser) for item in parser.encode(TEXTS, keep=UNITS)]


@pytest.mark.parametrize("name", ["contextual", "discourse", "isolated", "encoder"])
@pytest.mark.parametrize("unit", ["sentence", "edu"])
def test_a_document_alone_and_together(parser, encoded, encoder_folder, name, unit):
    encoder = UnitEncoder.load(str(encoder_folder) if name == "encoder" else name, parser)
    together = encoder.vectors([item.document for item in encoded], unit)
    for item, vectors in zip(encoded, together, strict=True):
        assert vectors.shape == (len(item.document.units(unit)), encoder.width)
        torch.testing.assert_close(encoder.of(item, unit), vectors, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", ["contextual", "isolated"])
def test_what_follows_the_wanted_units_is_not_read(parser, name):
    texts = ["Rain fell.\nThe mill stood still.\nNobody came.", "Rain fell.\nThe mill stood still.\nOtters swim."]
    documents = [parser.encode([text], sentences="newline")[0].document for text in texts]
    encoder = UnitEncoder.load(name, parser)
    first, second, whole = encoder.vectors([*documents, documents[1]], "sentence", [2, 2, None])
    assert first.shape == (2, encoder.width)
    torch.testing.assert_close(first, second, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(whole, encoder.vectors(documents, "sentence")[1], atol=1e-5, rtol=1e-4)


def test_windows_of_another_size_are_for_trained_layers(parser):
    document = parser.encode(["Rain fell on the mill. " * 20])[0].document
    narrow, wide = (UnitEncoder.load("contextual", parser, layers=1, window=window) for window in (None, 30))
    assert (narrow.windows.window, wide.windows.window) == (parser.network.config.window, 30)
    assert not torch.allclose(narrow.vectors([document], "edu")[0], wide.vectors([document], "edu")[0], atol=1e-4)
    with pytest.raises(
        InputError, match=r"encoder_window: expected no window without trained layers \(encoder_layers\), got 30"
    ):
        UnitEncoder.load("contextual", parser, window=30)
    with pytest.raises(InputError, match=r"encoder_window: expected at most [0-9]+ subwords, got 9999"):
        UnitEncoder.load("contextual", parser, layers=1, window=9999)
    smallest = 2 * parser.network.config.overlap + 4
    for kind, size in (("contextual", smallest), ("isolated", 3)):
        encoder = UnitEncoder.load(kind, parser, layers=1, window=size)
        assert encoder.vectors([document], "edu")[0].shape == (len(document.edus), encoder.width)
        with pytest.raises(InputError, match=f"encoder_window: expected at least {size} subwords, got {size - 1}"):
            UnitEncoder.load(kind, parser, layers=1, window=size - 1)


def test_discourse_vectors_of_the_first_units_are_those_of_the_whole_text(parser, encoded):
    encoder, documents = UnitEncoder.load("discourse", parser), [item.document for item in encoded]
    for some, every in zip(
        encoder.vectors(documents, "sentence", [1] * len(documents)),
        encoder.vectors(documents, "sentence"),
        strict=True,
    ):
        torch.testing.assert_close(some, every[:1], atol=1e-5, rtol=1e-4)


def test_isolated_units_do_not_see_each_other(parser):
    documents = [parser.encode([text], sentences="newline")[0].document for text in ("Rain.\nRain.\nMill.", "Rain.")]
    vectors = UnitEncoder.load("isolated", parser).vectors(documents, "sentence")
    np.testing.assert_allclose(vectors[0][0], vectors[0][1], atol=1e-5)
    np.testing.assert_allclose(vectors[0][0], vectors[1][0], atol=1e-5)
    assert not np.allclose(vectors[0][0], vectors[0][2], atol=1e-3)


def test_discourse_vectors_have_the_parsers_states(parser, encoded):
    encoder = UnitEncoder.load("discourse", parser)
    plain = UnitEncoder.load("contextual", parser)
    item = encoded[0]
    edus, sentences = encoder.of(item, "edu"), encoder.of(item, "sentence")
    torch.testing.assert_close(edus[:, : plain.width], plain.of(item, "edu"))
    owner = item.document.edu_to_sentence
    for sentence in range(len(sentences)):
        own = edus[owner == sentence, plain.width :]
        torch.testing.assert_close(sentences[sentence, plain.width :], own.mean(dim=0))


def test_only_the_last_layers_learn_and_the_parser_stays(parser, encoded, encoder_folder):
    document = encoded[0].document
    before = {name: value.clone() for name, value in parser.network.state_dict().items()}
    for name in ("contextual", "isolated", str(encoder_folder)):
        encoder = UnitEncoder.load(name, parser, layers=1)
        assert not encoder.own
        total = encoder.vectors([document], "edu")[0].square().sum()
        total.backward()
        learning = {id(parameter) for parameter in encoder.trained.parameters()}
        for parameter in encoder.windows.parameters():
            assert (parameter.grad is not None) <= (id(parameter) in learning)
        assert any(parameter.grad is not None for parameter in encoder.trained.parameters())
        with torch.no_grad():
            for parameter in encoder.trained.parameters():
                parameter.add_(1.0)
    assert all(parser.network.state_dict()[name].equal(value) for name, value in before.items())


def test_a_copy_shares_all_weights_but_those_of_its_trained_layers(parser):
    own = dict(parser.network.encoder.named_parameters())
    encoder = UnitEncoder.load("contextual", parser, layers=1)
    trained = {id(weight) for weight in encoder.trained.parameters()}
    for name, weight in encoder.windows.named_parameters():
        assert (weight is own[name]) == (id(weight) not in trained), name
    assert trained
    # Training mode of the copy, and so its dropout, does not affect the parser.
    encoder.train()
    assert not any(module.training for module in parser.network.encoder.modules())


def test_more_layers_than_there_are(parser):
    with pytest.raises(
        InputError, match=r"encoder_layers: expected at most \d+, the encoder's number of layers, got 99"
    ):
        UnitEncoder.load("contextual", parser, layers=99)


def test_windows_of_hugging_face_encoders(parser, encoder_folder):
    by_default, narrow = (UnitEncoder.load(str(encoder_folder), parser, window=window) for window in (None, 10))
    longest = longest_window(by_default.windows.encoder)
    assert (by_default.windows.window, narrow.windows.window) == (min(512, longest), 10)
    with pytest.raises(InputError, match=f"encoder_window: expected at most {longest} subwords, got {longest + 1}"):
        UnitEncoder.load(str(encoder_folder), parser, window=longest + 1)


def test_units_longer_than_a_window_are_named(parser, encoder_folder):
    document = parser.encode(["Rain fell.\n" + "Rain " * 30], sentences="newline", ids=["wet"])[0].document
    encoder = UnitEncoder.load(str(encoder_folder), parser, window=10)
    message = "wet: 1 of 2 units have more than 8 subwords, of which only the first 8 are read"
    with pytest.warns(InputWarning, match=message):
        encoder.vectors([document], "sentence")


@pytest.mark.parametrize("name", ["contextual", "discourse", "isolated"])
def test_gradients_reach_the_trained_layers(parser, encoded, name):
    encoder = UnitEncoder.load(name, parser, layers=1)
    encoder.train()
    found = encoder.vectors([item.document for item in encoded], "edu")
    # Of the last column: that of an EDU's state, in discourse vectors.
    sum(vectors[:, -1].square().sum() for vectors in found).backward()
    assert any(weight.grad is not None and weight.grad.any() for weight in encoder.trained.parameters())
    assert torch.backends.cudnn.enabled
