"""Sparse models of every family against stock ones, used as in the tests of transformers itself."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch
from seq2seq_families import FAMILIES, make_model
from tiny_bart import Inputs, generated

from discsum.abstractive.coarse_to_fine.model import CACHE
from discsum.abstractive.family import IGNORED
from discsum.abstractive.sparse import SentenceLayout, densify, from_pretrained, sparsify
from discsum.abstractive.training.encoding import decoder_input

WAYS = {
    "greedy": {"num_beams": 1},
    "beams": {"num_beams": 3},
    "sampling": {"do_sample": True},
    "samples": {"do_sample": True, "num_return_sequences": 3},
    "sampled beams": {"do_sample": True, "num_beams": 3, "num_return_sequences": 2},
    "returned beams": {"num_beams": 4, "num_return_sequences": 2, "length_penalty": 2.0},
    "static cache": {"cache_implementation": "static"},
    "no cache": {"use_cache": False},
    "beams without cache": {"use_cache": False, "num_beams": 2},
}
# `generate` is the same for all families, so only some generate in every way; caches and beams are their own.
EVERYWHERE = ("greedy", "beams", "static cache", "no cache")
CASES = [(family, way) for family in FAMILIES for way in WAYS if way in EVERYWHERE or family in ("bart", "led", "t5")]
# transformers allows these for a single document only.
ALONE = {"assisted": None, "prompt lookup": {"prompt_lookup_num_tokens": 3}}


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


def alone(inputs):
    """Return the first document."""
    one = Inputs()
    one.ids, one.mask, one.owner = inputs.ids[:1], inputs.mask[:1], inputs.owner[:1]
    one.layout = SentenceLayout.from_owner(one.owner)
    one.generate = {"input_ids": one.ids, "attention_mask": one.mask}
    one.forward = {**one.generate, "decoder_input_ids": inputs.decoder[:1]}
    return one


@pytest.mark.filterwarnings("ignore:.*all sentences are read", "ignore:sentences are selected")
@pytest.mark.parametrize(("family", "way"), CASES)
def test_all_sentences_are_the_stock_model(family, way, inputs):
    model = make_model(family)
    expected = generated(model, inputs, **WAYS[way])
    sparsify(model, selector="mean_key", r=5)
    assert generated(model, inputs, layout=inputs.layout, **WAYS[way]) == expected
    assert generated(model, inputs, **WAYS[way]) == expected
    densify(model)
    assert generated(model, inputs, **WAYS[way]) == expected


@pytest.mark.filterwarnings("ignore:.*all sentences are read")
@pytest.mark.parametrize("way", ALONE)
def test_drafted_tokens_are_the_stock_models(family, way, inputs):
    model, one = make_model(family), alone(inputs)
    options = ALONE[way] or {"assistant_model": make_model(family, **smaller(family))}
    expected = generated(model, one, **options)
    sparsify(model, selector="mean_key", r=5)
    assert generated(model, one, layout=one.layout, **options) == expected


def smaller(family):
    """Return the changes that make a model with one decoder layer."""
    return {"num_decoder_layers": 1} if family.endswith("t5") else {"decoder_layers": 1}


@pytest.mark.parametrize("way", ["greedy", "static cache", "no cache"])
@pytest.mark.filterwarnings("ignore:sentences are selected")
def test_some_sentences_step_by_step_are_teacher_forcing(family, way, inputs):
    if (family, way) == ("led", "static cache"):
        pytest.skip("LED itself writes other logits with a static cache than without")
    model = sparsify(make_model(family), selector="mean_key", r=2, share_beams=False, dense_where_faster=False)
    options = {"max_new_tokens": 5, "min_new_tokens": 5, "output_logits": True, "return_dict_in_generate": True}
    found = model.generate(**inputs.generate, layout=inputs.layout, **options, **WAYS[way])
    with torch.no_grad():
        whole = model(**inputs.generate, decoder_input_ids=found.sequences[:, :-1], layout=inputs.layout).logits
    torch.testing.assert_close(torch.stack(found.logits, 1), whole, atol=2e-4, rtol=1e-4)
    assert model.sparse.last.read == (2, 2)


def test_drafted_tokens_read_selected_sentences(family, inputs):
    one = alone(inputs)
    model = sparsify(make_model(family), selector="ideal", r=2, dense_where_faster=False)
    expected = generated(model, one, layout=one.layout)
    assert generated(model, one, layout=one.layout, prompt_lookup_num_tokens=3) == expected


@pytest.mark.filterwarnings("ignore:.*all sentences are read")
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding(family, side, inputs):
    inputs.owner = torch.cat([inputs.owner[:1], torch.roll(inputs.owner[1:], 7 if side == "left" else 0, 1)])
    inputs.ids = torch.cat([inputs.ids[:1], torch.roll(inputs.ids[1:], 7 if side == "left" else 0, 1)])
    inputs.mask = (inputs.owner >= 0).long()
    inputs.generate = {"input_ids": inputs.ids, "attention_mask": inputs.mask}
    layout, model = SentenceLayout.from_owner(inputs.owner), make_model(family)
    expected = generated(model, inputs, num_beams=2)
    sparsify(model, selector="mean_key", r=5)
    assert generated(model, inputs, num_beams=2, layout=layout) == expected


@pytest.mark.parametrize("layout", [True, False])
def test_attention_weights(family, inputs, layout):
    model = make_model(family)
    model.set_attn_implementation("eager")
    expected = model(**inputs.forward, output_attentions=True).cross_attentions
    if not expected:
        pytest.skip("the stock model of this version of transformers returns no attention weights")
    sparsify(model)
    given = {"layout": inputs.layout} if layout else {}
    found = model(**inputs.forward, output_attentions=True, **given).cross_attentions
    assert len(found) == len(expected) == 2
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


@pytest.mark.filterwarnings("ignore:.*all sentences are read")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision(family, dtype, inputs):
    # A single document, because stock LongT5 makes NaN of padding in float16.
    inputs = alone(inputs)
    # T5 with a larger initializer factor overflows float16.
    model = make_model(family, **({"initializer_factor": 1.0} if "t5" in family else {})).to(dtype)
    expected = model(**inputs.forward).logits
    sparsify(model, selector="mean_key", r=5)
    found = model(**inputs.forward, layout=inputs.layout).logits
    assert found.dtype == dtype
    torch.testing.assert_close(found, expected, atol=0.06 * expected.abs().max().item(), rtol=0)


def test_copies_and_pickles(family, inputs):
    check_copies(family, "gru", inputs)


@pytest.mark.parametrize("selector", ["mean_key", "model_free", "random"])
def test_copies_and_pickles_of_other_selectors(selector, inputs):
    check_copies("bart", selector, inputs)


def check_copies(family, selector, inputs):
    model = sparsify(make_model(family), selector=selector, r=2, dense_where_faster=False)
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    expected = generated(model, inputs, layout=inputs.layout)
    for one in copies:
        assert one.sparse is not model.sparse
        assert generated(one, inputs, layout=inputs.layout) == expected
        densify(one)
    assert hasattr(model, "sparse")


@pytest.mark.parametrize("selector", ["mean_key", "gru"])
def test_saved_and_loaded(family, selector, inputs, tmp_path):
    model = sparsify(make_model(family), selector=selector, r=2, beta=0.5, dense_where_faster=False)
    layout = replace(inputs.layout, prior=torch.softmax(torch.randn(2, 5), -1))
    expected = generated(model, inputs, layout=layout)
    model.sparse.share_beams = False
    model.save_pretrained(tmp_path / "model")
    loaded = from_pretrained(tmp_path / "model")
    assert loaded.sparse.current == model.sparse.current
    assert generated(loaded, inputs, layout=layout) == expected
    # Loaded with transformers alone, it is the stock model, which reads all sentences.
    stock = type(model).from_pretrained(tmp_path / "model")
    assert generated(stock, inputs) == generated(densify(model), inputs)


@pytest.mark.filterwarnings("ignore:.*all sentences are read")
def test_others_read_the_keys_of_the_cache(family, inputs):
    model = make_model(family)
    options = {"num_beams": 3, "max_new_tokens": 4, "return_dict_in_generate": True}
    expected = model.generate(**inputs.generate, **options)[CACHE].cross_attention_cache
    sparsify(model, selector="mean_key", r=5)
    found = model.generate(**inputs.generate, **options, layout=inputs.layout)[CACHE].cross_attention_cache
    assert len(found.layers) == len(expected.layers) == 2
    assert found.get_seq_length() == expected.get_seq_length() == 22
    for one, other in zip(found.layers, expected.layers, strict=True):
        torch.testing.assert_close(one.keys, other.keys, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(one.values, other.values, atol=1e-5, rtol=1e-4)


@pytest.mark.filterwarnings("ignore:.*all sentences are read")
def test_going_on_from_a_cache(family, inputs):
    model = make_model(family)

    def last_logits(**given):
        first = model(**inputs.forward, use_cache=True, **given)
        return model(
            encoder_outputs=(first.encoder_last_hidden_state,),
            attention_mask=inputs.mask,
            decoder_input_ids=inputs.decoder[:, :2],
            **{CACHE: first[CACHE]},
            **given,
        ).logits

    expected = last_logits()
    sparsify(model, selector="mean_key", r=5)
    torch.testing.assert_close(last_logits(layout=inputs.layout), expected, atol=1e-4, rtol=1e-4)


def test_the_decoders_input_is_that_of_the_labels(family, inputs):
    model = make_model(family)
    labels = inputs.decoder.clone()
    labels[1, 4:] = IGNORED
    encoded = {"input_ids": inputs.ids, "attention_mask": inputs.mask}
    with torch.no_grad():
        expected = model(**encoded, labels=labels).logits
        found = model(**encoded, decoder_input_ids=decoder_input(model, labels)).logits
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("reentrant", [True, False])
def test_gradient_checkpointing(family, reentrant, inputs):
    """The backward pass recomputes layers after the call has ended."""
    model = sparsify(make_model(family).double(), selector="mean_key", r=2).train()
    batch = {**inputs.generate, "labels": inputs.decoder, "layout": inputs.layout}

    def gradients():
        model.zero_grad()
        model(**batch).loss.backward()
        return {name: one.grad.clone() for name, one in model.named_parameters() if one.grad is not None}

    expected = gradients()
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": reentrant})
    found = gradients()
    assert set(found) == set(expected)
    for name, one in found.items():
        # Stock LED has NaN gradients where there is padding.
        torch.testing.assert_close(one, expected[name], equal_nan=True)


def test_threads_on_one_model(family, inputs):
    model = sparsify(make_model(family), selector="ideal", r=1, dense_where_faster=False)
    torch.manual_seed(1)
    owners = [torch.arange(22)[None].div(size, rounding_mode="floor") for size in (1, 2, 4, 7)]
    layouts = [SentenceLayout.from_owner(owner) for owner in owners]

    def write(layout):
        options = {"max_new_tokens": 8, "min_new_tokens": 8, "output_logits": True, "return_dict_in_generate": True}
        found = model.generate(input_ids=inputs.ids[:1], layout=layout, **options)
        return torch.stack(found.logits).tolist(), model.sparse.last

    expected = [write(layout) for layout in layouts]
    assert len({str(one) for one, _ in expected}) > 1
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(write, layouts * 4)) == expected * 4
