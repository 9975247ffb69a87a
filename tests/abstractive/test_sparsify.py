"""Sparse cross-attention against stock models and against definitions written independently."""

import pytest
import torch
from tiny_bart import SIZES, generated, make_bart
from transformers import (
    LEDConfig,
    LEDForConditionalGeneration,
    MBartConfig,
    MBartForConditionalGeneration,
    PegasusConfig,
    PegasusForConditionalGeneration,
)

from discsum.abstractive.sparse import SentenceLayout, densify, sparsify
from discsum.abstractive.sparse.attention import SparseCrossAttention
from discsum.abstractive.sparse.selectors import SELECTORS, learned_selectors
from discsum.errors import InputError, InputWarning

ALL_SELECTORS = list(SELECTORS)
WAYS = [
    {"num_beams": 1},
    {"num_beams": 4},
    {"num_beams": 4, "num_return_sequences": 2, "length_penalty": 2.0},
    {"num_beams": 3, "no_repeat_ngram_size": 2},
    {"num_beams": 1, "do_sample": True},
    {"num_beams": 2, "do_sample": True},
]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("settings", [{"selector": "all"}, {"selector": "mean_key"}, {"selector": "ideal", "r": 5}])
def test_all_sentences_are_the_stock_model(bart, inputs, way, settings):
    expected = generated(bart, inputs, **way)
    sparsify(bart, **settings)
    assert generated(bart, inputs, layout=inputs.layout, **way) == expected
    # Without a layout there is nothing to share or to select.
    assert generated(bart, inputs, **way) == expected


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_logits_are_the_stock_models(bart, inputs, implementation, dtype):
    bart.set_attn_implementation(implementation)
    bart.to(dtype)
    expected = bart(**inputs.forward).logits
    sparsify(bart, selector="mean_key")
    found = bart(**inputs.forward, layout=inputs.layout).logits
    torch.testing.assert_close(found, expected, atol=1e-5 if dtype == torch.float32 else 0.2, rtol=0)


@pytest.mark.parametrize("size", [8, 16])
@pytest.mark.parametrize("beams", [1, 4])
def test_halves_are_the_stock_models(inputs, size, beams):
    """Also where a head's size is not a power of four, so that half precision cannot represent its square root."""
    for seed in range(5):
        model = make_bart(d_model=4 * size).bfloat16()
        inputs.ids[0, 5] = 3 + seed
        expected = generated(model, inputs, num_beams=beams)
        assert generated(sparsify(model), inputs, num_beams=beams, layout=inputs.layout) == expected


MODELS = {
    "mbart": (MBartConfig, MBartForConditionalGeneration, {"decoder_start_token_id": 2}),
    "pegasus": (PegasusConfig, PegasusForConditionalGeneration, {"decoder_start_token_id": 0}),
    "led": (LEDConfig, LEDForConditionalGeneration, {"attention_window": 8, "decoder_start_token_id": 2}),
}


@pytest.mark.parametrize("name", MODELS)
def test_other_models_with_the_same_hook(inputs, name):
    kind, model_class, own = MODELS[name]
    torch.manual_seed(1)
    sizes = {key: value for key, value in SIZES.items() if name != "led" or key != "max_position_embeddings"}
    sizes |= {"max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64} if name == "led" else {}
    model = model_class(kind(**sizes, pad_token_id=1, bos_token_id=0, eos_token_id=2, init_std=0.4, **own)).eval()
    expected = generated(model, inputs, num_beams=3)
    sparsify(model, selector="ideal", r=5)
    assert generated(model, inputs, num_beams=3, layout=inputs.layout) == expected
    # Selecting fewer sentences step by step gives what masking the others in a whole pass gives.
    model.sparse.r, model.sparse.dense_where_faster = 2, False
    options = {"max_new_tokens": 5, "min_new_tokens": 5, "output_logits": True, "return_dict_in_generate": True}
    found = model.generate(**inputs.generate, layout=inputs.layout, **options)
    whole = model(**inputs.generate, decoder_input_ids=found.sequences[:, :-1], layout=inputs.layout).logits
    torch.testing.assert_close(torch.stack(found.logits, dim=1), whole, atol=1e-4, rtol=1e-4)
    densify(model)
    assert generated(model, inputs, num_beams=3) == expected


def oracle(model, inputs, r):
    """Return logits of a model whose cross-attention reads the r best sentences, written out, and these sentences."""
    owner, chosen = inputs.owner, []

    def attention(module, hidden, states):
        rows, steps, width = hidden.shape
        heads, size = module.num_heads, module.head_dim

        def part(values):
            return values.view(rows, -1, heads, size).transpose(1, 2)

        queries, keys, values = part(module.q_proj(hidden)), part(module.k_proj(states)), part(module.v_proj(states))
        products = queries @ keys.transpose(2, 3) / size**0.5
        full = torch.softmax(products.masked_fill(owner[:, None, None] < 0, -torch.inf), -1)
        mixed = torch.zeros_like(queries)
        for row in range(rows):
            there = int(owner[row].max()) + 1
            for step in range(steps):
                mass = [full[row, :, step, owner[row] == one].sum(-1).mean() for one in range(there)]
                best = sorted(range(there), key=lambda one: -mass[one])[:r]
                chosen.append(sorted(best))
                keep = torch.isin(owner[row], torch.tensor(best))
                weights = torch.softmax(products[row, :, step, keep], -1)
                mixed[row, :, step] = torch.einsum("hn,hnd->hd", weights, values[row][:, keep])
        return module.out_proj(mixed.transpose(1, 2).reshape(rows, steps, width))

    for layer in model.get_decoder().layers:
        module = layer.encoder_attn
        module.forward = lambda hidden, key_value_states, module=module, **_: (
            attention(module, hidden, key_value_states),
            None,
        )
    return model(**inputs.forward).logits, chosen


@pytest.mark.parametrize("r", [1, 2, 3])
def test_ideal_sentences_are_an_independent_masked_softmax(inputs, r):
    expected, _ = oracle(make_bart(), inputs, r)
    model = sparsify(make_bart(), selector="ideal", r=r, share_beams=False)
    found = model(**inputs.forward, layout=inputs.layout).logits
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
    assert (found - make_bart()(**inputs.forward).logits).abs().max() > 1e-3


@pytest.mark.parametrize("selector", [name for name in ALL_SELECTORS if name != "random"])
@pytest.mark.parametrize("r", [1, 2, 4])
def test_step_by_step_is_teacher_forcing(inputs, selector, r):
    """Reading only the selected tokens gives what masking the others gives."""
    model = sparsify(make_bart(), selector=selector, r=r, share_beams=False, dense_where_faster=False)
    expected = model(**inputs.forward, layout=inputs.layout).logits
    torch.manual_seed(0)
    with torch.no_grad():
        found = model.generate(
            **inputs.generate,
            layout=inputs.layout,
            max_new_tokens=5,
            min_new_tokens=5,
            output_logits=True,
            return_dict_in_generate=True,
            logits_processor=[lambda ids, scores: forced(scores, inputs.decoder[:, ids.shape[1]])],
        )
    torch.testing.assert_close(torch.stack(found.logits, 1), expected[:, :5], atol=2e-5, rtol=0)


def forced(scores, tokens):
    return torch.full_like(scores, -torch.inf).scatter(1, tokens[:, None], 0.0)


@pytest.mark.parametrize("selector", ["ideal", "mean_key", "min_max", "gru"])
@pytest.mark.parametrize("share", [True, False])
def test_a_document_alone_and_in_a_padded_batch(inputs, selector, share):
    torch.manual_seed(2)
    model = sparsify(make_bart(), selector=selector, r=2, share_beams=share, dense_where_faster=False)
    together = generated(model, inputs, num_beams=3, layout=inputs.layout)
    tokens = int(inputs.mask[1].sum())
    for row, length in ((0, 22), (1, tokens)):
        layout = SentenceLayout.from_owner(inputs.owner[row : row + 1, :length])
        alone = model.generate(
            input_ids=inputs.ids[row : row + 1, :length], layout=layout, num_beams=3, max_new_tokens=9, min_new_tokens=6
        )
        assert alone[0].tolist() == together[row]


def test_beams_share_their_sentences_or_not(inputs):
    outputs = []
    for share in (True, False):
        model = sparsify(make_bart(), selector="ideal", r=1, share_beams=share, dense_where_faster=False)
        outputs.append(generated(model, inputs, num_beams=4, layout=inputs.layout))
    assert outputs[0] != outputs[1]
    greedy = [
        generated(
            sparsify(make_bart(), selector="ideal", r=1, share_beams=share, dense_where_faster=False),
            inputs,
            num_beams=1,
            layout=inputs.layout,
        )
        for share in (True, False)
    ]
    assert greedy[0] == greedy[1]


def test_reading_all_sentences_selects_none():
    with pytest.raises(InputError, match="r: expected a selector that selects sentences, such as mean_key, got 'all'"):
        sparsify(make_bart(), r=3, selector="all")


@pytest.mark.parametrize("selector", ["all", *ALL_SELECTORS])
def test_the_bases_parameters_keep_their_names(selector):
    model = make_bart()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    sparsify(model, selector=selector, r=None if selector == "all" else 2, beta=0.5 if selector == "mean_key" else None)
    after = model.state_dict()
    assert all(after[name].equal(value) for name, value in before.items())
    new = set(after) - set(before)
    if selector in learned_selectors():
        assert all("encoder_attn.selector." in name or name.startswith("sentence_encoder.") for name in new)
        layer = model.get_decoder().layers[1].encoder_attn
        assert layer.selector.query.weight.equal(layer.q_proj.weight)
        assert layer.selector.key.bias.equal(layer.k_proj.bias)
    assert bool(new) == (selector in learned_selectors() or selector == "mean_key")
    densify(model)
    assert list(model.state_dict()) == list(before)
    assert type(model.get_decoder().layers[0].encoder_attn).__name__ == "BartAttention"


def test_what_cannot_be_made_sparse(inputs):
    with pytest.raises(InputError, match="r: expected at least 1 sentence, got 0"):
        sparsify(make_bart(), r=0)
    with pytest.raises(InputError, match=r"selector: expected one of all, attention_pooling, .*got 'best'"):
        sparsify(make_bart(), selector="best")
    with pytest.raises(InputError, match="expected a sequence-to-sequence model"):
        sparsify(torch.nn.Linear(1, 1))
    model = sparsify(make_bart(), r=2)
    with pytest.raises(InputError, match="got a sparse one; densify it first"):
        sparsify(model)
    with pytest.raises(InputError, match="expected a sparse model"):
        densify(make_bart())
    short = SentenceLayout.from_owner(inputs.owner[:, :10].clone())
    with pytest.raises(InputError, match=r"expected a layout of \(2, 22\) tokens, got one of \(2, 10\)"):
        model.generate(**inputs.generate, layout=short, max_new_tokens=2)
    three = SentenceLayout.from_owner(inputs.owner[[0, 1, 1]])
    with pytest.raises(InputError, match=r"expected a layout of \(2, 22\) tokens, got one of \(3, 22\)"):
        model.generate(**inputs.generate, layout=three, max_new_tokens=2)
    plain = sparsify(make_bart(), r=2, beta=1.0, dense_where_faster=False)
    with pytest.raises(InputError, match="expected a layout with a prior"):
        plain.generate(**inputs.generate, layout=inputs.layout, max_new_tokens=2)


def test_attention_weights_are_shown_where_they_are_asked_for(bart, inputs):
    bart.set_attn_implementation("eager")
    expected = bart(**inputs.forward, output_attentions=True).cross_attentions
    sparsify(bart, selector="ideal")
    found = bart(**inputs.forward, output_attentions=True, layout=inputs.layout).cross_attentions
    for one, other in zip(expected, found, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-4)
    bart.sparse.r = 2
    with torch.no_grad():
        sparse = bart(**inputs.forward, output_attentions=True, layout=inputs.layout).cross_attentions[0]
    assert sparse.shape == expected[0].shape
    torch.testing.assert_close(sparse.sum(-1), torch.ones(2, 4, 6))
    read = inputs.layout.sums(sparse) > 0
    assert (read.any(dim=1).sum(-1) == 2).all()


@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("pad", [0, 4])
@pytest.mark.parametrize("beams", [1, 3])
def test_what_stands_beside_a_document_does_not_matter(bart, inputs, beams, pad, share, monkeypatch):
    # With default settings, the second document has so few sentences that all are read, but not the first.
    many = list(range(22))
    owner = torch.tensor([many, [-1] * pad + [0] * (17 - pad) + [1] * 2 + [2] * 3])
    layout = SentenceLayout.from_owner(owner)
    mask = (owner >= 0).long()
    sparsify(bart, selector="mean_key", r=2, share_beams=share)
    selected = []
    own = SparseCrossAttention._selected
    monkeypatch.setattr(
        SparseCrossAttention, "_selected", lambda *arguments: selected.append(own(*arguments)) or selected[-1]
    )
    options = {"num_beams": beams, "max_new_tokens": 8, "min_new_tokens": 8}
    both = bart.generate(input_ids=inputs.ids, attention_mask=mask, layout=layout, **options)
    assert selected
    for row in range(2):
        alone = SentenceLayout.from_owner(owner[row : row + 1])
        ids, own_mask = inputs.ids[row : row + 1], mask[row : row + 1]
        one = bart.generate(input_ids=ids, attention_mask=own_mask, layout=alone, **options)
        assert one[0].tolist() == both[row].tolist()


def test_options_that_a_selector_does_not_have(bart):
    with pytest.raises(InputError, match=r"selector mean_key: expected one of its options \(it has none\), got seed"):
        sparsify(bart, selector="mean_key", seed=1)
    with pytest.raises(InputError, match=r"feature_map: expected one of elu\+1, exp, relu, got 'gelu'"):
        sparsify(bart, selector="model_free", feature_map="gelu")
    with pytest.raises(
        InputError, match="beta: expected a selector that selects sentences, such as mean_key, got 'all'"
    ):
        sparsify(bart, selector="all", beta=1.0)


def test_sentences_are_scored_only_if_some_are_selected(inputs, monkeypatch):
    model = sparsify(make_bart(), selector="mean_key", r=2, dense_where_faster=False)
    selector, counted = model.get_decoder().layers[0].encoder_attn.selector, []
    summarise = selector.summarise
    monkeypatch.setattr(selector, "summarise", lambda source: counted.append(source) or summarise(source))
    model.generate(**inputs.generate, layout=inputs.layout, max_new_tokens=3)
    assert model.sparse.last.path == "selected" and len(counted) == 1
    model.sparse.r = 99
    with pytest.warns(InputWarning):
        model.generate(**inputs.generate, layout=inputs.layout, max_new_tokens=3)
    assert model.sparse.last.path == "full" and len(counted) == 1
