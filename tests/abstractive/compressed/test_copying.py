"""Copy attention against its definition, and the words that only the text has."""

import pytest
import torch
from pretend_device import check_same
from tiny_copy import make_copying, make_words
from transformers import AutoModelForSeq2SeqLM, PegasusForConditionalGeneration

from discsum.abstractive.compressed.config import VARIANTS
from discsum.abstractive.compressed.conversion import compress
from discsum.abstractive.compressed.copying import CopyAttention, decoded, extended_ids, observing, unknown_words
from discsum.abstractive.compressed.mixture import smoothed_loss
from discsum.abstractive.compressed.model import split_sinusoids
from discsum.abstractive.sparse import sparsify
from discsum.errors import InputError


@pytest.fixture
def source(inputs):
    """The texts, with two words that the vocabulary of 60 does not have."""
    ids = inputs.ids.clone()
    ids[0, 3] = ids[0, 9] = 60
    ids[1, 5] = 61
    return ids


@torch.no_grad()
def test_probabilities_sum_to_one(inputs, source):
    model = make_copying()
    found = model(**inputs.forward, source_ids=source).logits.exp()
    assert found.shape == (2, 6, 62)
    torch.testing.assert_close(found.sum(-1), torch.ones(2, 6))
    # A word that only the other text has gets no probability.
    assert found[0, :, 61].max() < 1e-30
    assert found[0, :, 60].min() > 1e-6
    assert found[1, :, 60].max() < 1e-30
    # Without `source_ids`, the vocabulary is not extended.
    assert model(**inputs.forward).logits.shape == (2, 6, 60)


@torch.no_grad()
def test_the_mixture_is_its_definition(inputs, source):
    model = make_copying()
    found = model(**inputs.forward, source_ids=source).logits.exp()
    output = model.model(**inputs.forward)
    states, encoded = output.last_hidden_state, output.encoder_last_hidden_state
    for row in range(2):
        for step in range(6):
            state = states[row, step]
            p = torch.softmax(model.lm_head(state), -1)
            places = [one for one in range(22) if inputs.mask[row, one] and source[row, one] not in (0, 1, 2)]
            products = torch.stack([model.copying.query(state) @ encoded[row, place] for place in places]) / 32**0.5
            weights, gate = torch.softmax(products, -1), torch.sigmoid(model.copying.gate(state))
            expected = torch.cat([p * (1 - gate), torch.zeros(2)])
            for place, weight in zip(places, weights, strict=True):
                expected[source[row, place]] += gate.squeeze() * weight
            torch.testing.assert_close(found[row, step], expected, atol=1e-6, rtol=1e-4)


@torch.no_grad()
def test_with_the_gate_closed_it_is_the_stock_model(inputs):
    model = make_copying()
    torch.nn.init.constant_(model.copying.gate.bias, -1e4)
    stock = PegasusForConditionalGeneration(model.config).eval()
    stock.load_state_dict(model.state_dict(), strict=False)
    expected = torch.log_softmax(stock(**inputs.forward).logits, -1)
    torch.testing.assert_close(model(**inputs.forward).logits, expected, atol=1e-4, rtol=1e-4)
    for options in ({"num_beams": 1}, {"num_beams": 4}):
        given = {**inputs.generate, **options, "max_new_tokens": 8, "min_new_tokens": 5}
        assert model.generate(**given).tolist() == stock.generate(**given).tolist()


@torch.no_grad()
def test_with_the_gate_open_only_words_of_the_text_are_written(inputs, source):
    model = make_copying()
    torch.nn.init.constant_(model.copying.gate.bias, 1e4)
    found = model.generate(**inputs.generate, source_ids=source, num_beams=2, max_new_tokens=6)
    for row, text in zip(found.tolist(), source.tolist(), strict=True):
        assert set(row[1:]) <= set(text) - {0, 1, 2}


@torch.no_grad()
def test_unknown_words_are_read_as_the_unknown_word(inputs, source):
    model = make_copying()
    inputs.forward["decoder_input_ids"] = inputs.decoder.clone()
    inputs.forward["decoder_input_ids"][:, 2] = 60
    found = model(**inputs.forward, source_ids=source).logits
    inputs.forward["decoder_input_ids"][:, 2] = 3
    assert found.equal(model(**inputs.forward, source_ids=source).logits)


@torch.no_grad()
def test_step_by_step_is_teacher_forcing(inputs, source):
    model = make_copying()
    options = {"num_beams": 1, "max_new_tokens": 5, "output_logits": True, "return_dict_in_generate": True}
    found = model.generate(**inputs.generate, source_ids=source, **options)
    whole = model(**inputs.generate, source_ids=source, decoder_input_ids=found.sequences[:, :-1]).logits
    torch.testing.assert_close(torch.stack(found.logits, 1), whole, atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_outputs_are_tuples_on_request(inputs):
    model = make_copying()
    rows = model(**inputs.forward, return_dict=False)
    assert isinstance(rows, tuple)
    assert rows[0].equal(model(**inputs.forward).logits)


@torch.no_grad()
def test_a_text_alone_and_in_a_padded_batch(inputs, source):
    model = make_copying()
    whole = model(**inputs.forward, source_ids=source).logits
    length = int(inputs.mask[1].sum())
    alone = model(
        input_ids=inputs.ids[1:, :length], decoder_input_ids=inputs.decoder[1:], source_ids=source[1:, :length]
    ).logits
    torch.testing.assert_close(alone[0], whole[1], atol=1e-4, rtol=1e-4)


def test_a_text_without_a_word_copies_nothing(inputs):
    model = make_copying()
    inputs.ids[1, :] = 2
    inputs.mask[1, 1:] = 0
    inputs.forward = {"input_ids": inputs.ids, "attention_mask": inputs.mask, "labels": inputs.decoder}
    output = model(**inputs.forward)
    torch.testing.assert_close(output.logits.exp().sum(-1), torch.ones(2, 6))
    output.loss.backward()
    assert all(one.grad is None or one.grad.isfinite().all() for one in model.parameters())


def test_beside_encoder_outputs_the_text_is_asked_for(inputs):
    model = make_copying()
    states = model.get_encoder()(inputs.ids)
    with pytest.raises(InputError, match="expected source_ids"):
        model(encoder_outputs=states, decoder_input_ids=inputs.decoder)


@torch.no_grad()
def test_saved_and_sparse(inputs, source, tmp_path):
    model = make_copying(position_base=1000.0)
    expected = model(**inputs.forward, source_ids=source).logits
    model.save_pretrained(tmp_path / "model")
    loaded = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "model")
    assert type(loaded) is type(model)
    assert loaded.config.position_base == 1000.0
    torch.testing.assert_close(loaded(**inputs.forward, source_ids=source).logits, expected, atol=1e-5, rtol=1e-5)
    sparsify(model, r=2)
    layout = {"layout": inputs.layout}
    assert (model(**inputs.forward, source_ids=source, **layout).logits - expected).abs().max() > 1e-3
    model.generate(**inputs.generate, source_ids=source, num_beams=2, max_new_tokens=3, **layout)


@pytest.mark.parametrize("width", [6, 7])
def test_positions(width):
    found = split_sinusoids(9, width, 1000.0)
    for place in range(9):
        for one in range(width):
            half = (width + 1) // 2
            angle = torch.tensor(place / 1000.0 ** (2 * (one % half) / width))
            expected = angle.sin() if one < half else angle.cos()
            torch.testing.assert_close(found[place, one], expected, atol=1e-5, rtol=1e-5)


def test_the_base_of_stock_positions_is_ten_thousand():
    model = make_copying()
    stock = PegasusForConditionalGeneration(model.config)
    found, expected = (one.get_encoder().embed_positions.weight for one in (model, stock))
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)


def test_losses_with_and_without_logits(inputs, source):
    model, labels = make_copying(), torch.randint(3, 60, (2, 6))
    labels[0, 1], labels[1, 3:], labels[1, 0] = 60, -100, 61
    given = {**inputs.forward, "source_ids": source}
    output = model(**given, labels=labels)
    expected = torch.nn.functional.nll_loss(output.logits.flatten(0, 1), labels.flatten())
    torch.testing.assert_close(output.loss, expected)
    assert output.mixture is None
    bare = model(**given, dense=False)
    assert bare.logits is None
    torch.testing.assert_close(-bare.mixture.scores_of(labels).label.mean(), expected)


def test_observers_see_the_last_step(inputs):
    model = make_copying()
    seen = []
    with observing(seen.append), torch.no_grad():
        model(**inputs.forward)
    assert [one.shape for one in seen] == [(2, 22)]
    torch.testing.assert_close(seen[0].sum(-1), torch.ones(2))
    assert seen[0][1][inputs.mask[1] == 0].max() == 0
    model(**inputs.forward)
    assert len(seen) == 1


def test_unknown_words_come_back():
    tokenizer = make_words()
    texts = ["The zebra sat on 12 Mats, the Zebra.", "A cat."]
    encoding = tokenizer(texts, return_tensors="pt", padding=True)
    words = unknown_words(tokenizer, texts, encoding)
    size = len(tokenizer)
    assert words == [{"zebra": size, "12": size + 1, "mats": size + 2, ",": size + 3}, {"a": size}]
    ids = extended_ids(tokenizer, texts, encoding, words)
    assert decoded(tokenizer, ids, words) == ["the zebra sat on 12 mats, the zebra.", "a cat."]
    # A word outside of the vocabulary has an id only if the summary's own text contains it.
    targets = ["zebra giraffe", "zebra a"]
    written = tokenizer(targets, return_tensors="pt", padding=True)
    unknown = tokenizer.get_vocab()["<unk>"]
    found = extended_ids(tokenizer, targets, written, words)
    assert found[:, :2].tolist() == [[size, unknown], [unknown, size]]


def test_a_row_without_a_readable_token_has_no_gate_and_shows_no_attention():
    seen = []
    readable = torch.tensor([[True, False, True], [False, False, False]])
    with observing(seen.append), torch.no_grad():
        attention, gate = CopyAttention(8)(torch.randn(2, 4, 8), torch.randn(2, 3, 8), readable)
    assert (gate[0] > 0).all() and not gate[1].any()
    assert not attention[0, :, 1].any()
    assert seen[0][0, [0, 2]].all() and not seen[0][~readable].any()


@pytest.mark.parametrize("borders", [None, "sentences"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_compressed_models_on_another_device(inputs, source, variant, borders):
    borders = borders if variant.startswith("strided") else None
    model = compress(make_copying(), variant, borders=borders)

    def given_of(to, given):
        own = {"borders": to(inputs.layout)} if borders else {}
        return {name: to(value) for name, value in {**given, "source_ids": source}.items()} | own

    def loss(to):
        mixture = model(**given_of(to, inputs.forward), use_cache=False, dense=False).mixture
        return smoothed_loss(mixture.scores_of(to(inputs.decoder)), 0.1)["loss"]

    def generate(to):
        return model.generate(**given_of(to, inputs.generate), num_beams=2, max_new_tokens=5)

    check_same(model, loss, generate)
