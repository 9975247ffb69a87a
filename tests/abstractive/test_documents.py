"""A decoder's documents: attention over encoder states equals attention over keys and values."""

import pytest
import torch
from tiny_bart import Inputs, make_bart

from discsum.abstractive.coarse_to_fine.model import CACHE
from discsum.abstractive.sparse import SentenceLayout, costs, sparsify
from discsum.abstractive.sparse.cache import LayerDocuments, StateDocuments

KEYLESS = ["random", "mean_key", "gru", "attention_pooling"]


def generated(model, inputs, **options):
    return model.generate(
        **inputs.generate,
        layout=inputs.layout,
        max_new_tokens=6,
        min_new_tokens=6,
        output_logits=True,
        output_scores=True,
        return_dict_in_generate=True,
        **options,
    )


def both(monkeypatch, make, inputs, **options):
    """Return what a model generates with keys and values, and from encoder states."""
    found = []
    for steps in (10**6, 0):
        monkeypatch.setattr(costs, "STEPS", steps)
        found.append(generated(make(), inputs, **options))
    return found


def kinds(found):
    return {type(kept.documents) for kept in found[CACHE].cross_attention_cache.layers}


@pytest.mark.parametrize("selector", KEYLESS)
@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("beams", [1, 3])
def test_states_do_for_keys_and_values(monkeypatch, inputs, selector, share, beams):
    def make():
        return sparsify(make_bart(), selector=selector, r=2, share_beams=share, dense_where_faster=False)

    kept, states = both(monkeypatch, make, inputs, num_beams=beams)
    assert (kinds(kept), kinds(states)) == ({LayerDocuments}, {StateDocuments})
    torch.testing.assert_close(of_beams(states, beams), of_beams(kept, beams), atol=5e-5, rtol=0)
    if beams == 1:
        assert kept.sequences.tolist() == states.sequences.tolist()
    else:
        torch.testing.assert_close(states.sequences_scores, kept.sequences_scores, atol=5e-5, rtol=0)


def of_beams(found, beams):
    """Return logits sorted over each document's beams, because equally good beams come in any order."""
    logits = torch.stack(found.logits)
    return logits.unflatten(1, (-1, beams)).sort(dim=2).values


def test_in_halves_too(monkeypatch, inputs):
    def make():
        return sparsify(make_bart().bfloat16(), selector="random", r=2, dense_where_faster=False)

    kept, states = both(monkeypatch, make, inputs, num_beams=1)
    torch.testing.assert_close(states.logits[0], kept.logits[0], atol=0.3, rtol=0.05)


def test_a_document_that_is_read_whole_beside_one_that_is_not(monkeypatch):
    inputs = Inputs()
    owner = torch.stack([torch.arange(22), inputs.owner[1]])
    inputs.layout = SentenceLayout.from_owner(owner)

    def make():
        return sparsify(make_bart(), selector="mean_key", r=2)

    kept, states = both(monkeypatch, make, inputs, num_beams=2)
    assert kinds(states) == {StateDocuments}
    torch.testing.assert_close(torch.stack(states.logits), torch.stack(kept.logits), atol=5e-5, rtol=0)


@pytest.mark.parametrize("selector", ["ideal", "min_max", "model_free", "mean_variance"])
def test_what_rates_keys_has_them(monkeypatch, inputs, selector):
    monkeypatch.setattr(costs, "STEPS", 0)
    model = sparsify(make_bart(), selector=selector, r=2, dense_where_faster=False)
    assert kinds(generated(model, inputs)) == {LayerDocuments}


@pytest.mark.parametrize("way", ["class", "hook", "forward"])
def test_other_maps_than_linear_ones_are_called(monkeypatch, inputs, way):
    """A wrapped projection, such as an adapter, computes more than its weights show."""

    class Doubled(torch.nn.Linear):
        def forward(self, states):
            return 2 * super().forward(states)

    model = make_bart()
    for layer in model.get_decoder().layers:
        projection = layer.encoder_attn.v_proj
        if way == "class":
            projection.__class__ = Doubled
        elif way == "hook":
            projection.register_forward_hook(lambda module, states, made: 2 * made)
        else:
            projection.forward = lambda states, forward=projection.forward: 2 * forward(states)
    monkeypatch.setattr(costs, "STEPS", 0)
    assert kinds(generated(sparsify(model, r=2, dense_where_faster=False), inputs)) == {LayerDocuments}


def test_a_cache_of_states_goes_on_with_several_steps(monkeypatch, inputs):
    monkeypatch.setattr(costs, "STEPS", 0)
    model = sparsify(make_bart(), selector="mean_key", r=2, share_beams=False, dense_where_faster=False)
    found = generated(model, inputs, num_beams=1)
    more = torch.cat([found.sequences[:, -1:], inputs.decoder[:, 1:3]], dim=1)
    with torch.no_grad(), model.sparse.using(layout=inputs.layout):
        whole = model(**inputs.generate, decoder_input_ids=torch.cat([found.sequences[:, :-1], more], dim=1))
        rest = model(**inputs.generate, decoder_input_ids=more, **{CACHE: found[CACHE]})
    assert kinds(rest) == {LayerDocuments}
    torch.testing.assert_close(rest.logits, whole.logits[:, -3:], atol=5e-5, rtol=0)


def test_layers_share_the_states(monkeypatch, inputs):
    monkeypatch.setattr(costs, "STEPS", 0)
    found = generated(sparsify(make_bart(), selector="mean_key", r=2, dense_where_faster=False), inputs, num_beams=4)
    # States of 2 documents of 22 tokens and width 32, and in each of 2 layers mean keys of 5 sentences.
    cache = found[CACHE].cross_attention_cache
    assert cache.bytes == 4 * (2 * 22 * 32 + 2 * 2 * 5 * 32)
    # The states are not the encoder's own tensor, which repeats them for each beam.
    assert {kept.documents.states.untyped_storage().nbytes() for kept in cache.layers} == {4 * 2 * 22 * 32}


def test_the_states_of_one_document_are_not_those_of_its_beams(monkeypatch, inputs):
    monkeypatch.setattr(costs, "STEPS", 0)
    model = sparsify(make_bart(), selector="mean_key", r=2, dense_where_faster=False)
    layout = SentenceLayout.from_owner(inputs.owner[:1])
    options = {"num_beams": 4, "max_new_tokens": 3, "return_dict_in_generate": True}
    found = model.generate(input_ids=inputs.ids[:1], layout=layout, **options)
    assert found[CACHE].cross_attention_cache.bytes == 4 * (22 * 32 + 2 * 5 * 32)


@pytest.mark.parametrize(
    ("tokens", "r", "states"),
    [(1024, 5, False), (4096, 5, True), (4096, 30, False), (16384, 10, True), (16384, 30, True)],
)
def test_what_is_cheaper_at_the_shape_of_bart_large(tokens, r, states):
    assert costs.states_are_cheaper([tokens // 25], [r], 64, 4) == states


def test_places_of_tokens():
    layout = SentenceLayout.from_owner(torch.tensor([[-1, 0, 0, 1, 2, 2], [0, 0, 0, 0, 0, -1]]))
    assert layout.spans == [[(1, 3), (3, 4), (4, 6)], [(0, 5)]]
    assert layout.tokens(0, [2, 0]).tolist() == [4, 5, 1, 2]
