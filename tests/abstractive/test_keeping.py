"""What a sparse decoder caches between steps and layers, and what it discards."""

import copy

import pytest
import torch
from tiny_bart import generated, make_bart
from transformers import GenerationConfig

from discsum.abstractive.coarse_to_fine.model import CACHE
from discsum.abstractive.sparse import sparsify
from discsum.errors import InputWarning


@pytest.mark.parametrize("layout", [True, False])
@pytest.mark.parametrize("way", ["option", "own", "given"])
def test_without_a_cache(bart, inputs, way, layout):
    bart.generation_config.use_cache = way != "own"
    options = {"num_beams": 3}
    if way == "option":
        options["use_cache"] = False
    if way == "given":
        options["generation_config"] = GenerationConfig(**bart.generation_config.to_diff_dict() | {"use_cache": False})
    expected = generated(bart, inputs, **options)
    sparsify(bart)
    options |= {"layout": inputs.layout} if layout else {}
    assert generated(bart, inputs, **options) == expected


def test_a_prompt_is_read_as_what_follows_it(inputs):
    """Whether a document of few sentences is read whole is the same for a prompt and for the steps after it."""
    model = sparsify(make_bart(), selector="mean_key", r=2)
    expected = generated(model, inputs, num_beams=1, layout=inputs.layout)
    prompt = torch.tensor(expected)[:, :4]
    found = model.generate(**inputs.generate, decoder_input_ids=prompt, max_length=10, layout=inputs.layout)
    assert found[:, :10].tolist() == [row[:10] for row in expected]
    model.set_attn_implementation("eager")
    assert generated(model, inputs, num_beams=1, layout=inputs.layout) == expected


def test_nothing_is_left_behind(bart, inputs):
    sparsify(bart, selector="mean_key", r=2)
    bart(**inputs.forward)
    copy.deepcopy(bart)
    # A cache that was made without a layout is rebuilt when there is one.
    options = {"num_beams": 1, "max_new_tokens": 3, "min_new_tokens": 3, "return_dict_in_generate": True}
    found = bart.generate(**inputs.generate, **options)
    with torch.no_grad():
        more = bart(
            **inputs.generate,
            layout=inputs.layout,
            decoder_input_ids=found.sequences[:, -1:],
            **{CACHE: found[CACHE]},
        )
    assert torch.isfinite(more.logits).all()


def test_what_layers_share_is_made_anew_in_each_pass(bart, inputs):
    sparsify(bart, selector="gru", r=2, share_beams=False)
    states = bart.get_encoder()(inputs.ids, attention_mask=inputs.mask)
    given = {"encoder_outputs": states, "attention_mask": inputs.mask, "decoder_input_ids": inputs.decoder}
    seen = []
    with torch.no_grad(), bart.sparse.using(layout=inputs.layout, observer=lambda one: seen.append(one.predicted)):
        bart(**given)
        torch.nn.init.normal_(bart.sentence_encoder.output.weight)
        bart(**given)
    assert not torch.allclose(seen[0], seen[2], atol=1e-3)


def test_documents_are_kept_once(inputs):
    model = sparsify(make_bart(), selector="mean_key", r=2)
    options = {"num_beams": 4, "max_new_tokens": 3, "return_dict_in_generate": True}
    found = model.generate(**inputs.generate, layout=inputs.layout, **options)
    cache = found[CACHE].cross_attention_cache
    assert {layer: tuple(kept.documents.keys.shape) for layer, kept in enumerate(cache.layers)} == {
        layer: (2, 4, 22, 8) for layer in range(2)
    }
    # These documents are so short that they are read whole; only a selector needs a summary.
    assert cache.bytes == 2 * 4 * 2 * 2 * 22 * 32
    model = sparsify(make_bart(), selector="mean_key", r=2, dense_where_faster=False)
    with pytest.warns(InputWarning):
        found = model.generate(**inputs.generate, layout=inputs.layout, **options, output_attentions=True)
    summary = 2 * 4 * 5 * 8
    assert found[CACHE].cross_attention_cache.bytes == 2 * 4 * (2 * 2 * 22 * 32 + summary)


def test_sentence_vectors_are_made_once_for_all_layers(bart, inputs):
    sparsify(bart, selector="gru", r=2, dense_where_faster=False)
    calls = []
    bart.sentence_encoder.register_forward_hook(lambda *_: calls.append(1))
    bart(**inputs.forward, layout=inputs.layout).logits.sum().backward()
    assert len(calls) == 1
    # Values that layers share are discarded: weights may change before the next pass, and the model can be copied.
    copy.deepcopy(bart)
    generated(bart, inputs, layout=inputs.layout, num_beams=2)
    assert len(calls) == 2


def test_documents_are_projected_once_without_a_layout_too(bart, inputs):
    sparsify(bart, selector="mean_key", r=2)
    calls = []
    bart.get_decoder().layers[0].encoder_attn.k_proj.register_forward_hook(lambda *_: calls.append(1))
    generated(bart, inputs)
    assert len(calls) == 1
