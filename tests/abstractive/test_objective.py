"""Training objectives."""

import pytest
import torch
from seq2seq_families import FAMILIES, make_model
from tiny_bart import Inputs, make_bart

from discsum.abstractive.family import IGNORED
from discsum.abstractive.sparse import sparsify
from discsum.abstractive.sparse.objective import (
    MODES,
    Objective,
    reads_ideal,
    sparsity_loss,
    step_loss,
    trained_parameters,
)


@pytest.fixture
def batch():
    inputs = Inputs()
    labels = inputs.decoder.clone()
    labels[1, 4:] = IGNORED
    return {"input_ids": inputs.ids, "attention_mask": inputs.mask, "labels": labels}, inputs.layout


def sparse(selector="gru", r=None):
    torch.manual_seed(4)
    return sparsify(make_bart(), selector=selector, r=r)


def loss(model, batch, mode, ideal=False, r=2, **settings):
    return step_loss(model, *batch, Objective(mode, **settings), r, torch.full((2,), ideal))


def test_full_attention_is_the_stock_loss(batch):
    expected = make_bart()(**batch[0]).loss
    found = loss(sparse(), batch, "full")
    torch.testing.assert_close(found["loss"], expected)
    assert set(found) == {"loss"}


def test_parts_add_up(batch):
    words = loss(sparse(), batch, "full")["loss"]
    found = loss(sparse(), batch, "sparsity", gamma=0.7)
    torch.testing.assert_close(found["words"], words)
    torch.testing.assert_close(found["loss"], found["words"] + 0.7 * found["entropy"])
    found = loss(sparse(), batch, "kl")
    torch.testing.assert_close(found["words"], words)
    assert found["loss"] is found["divergence"]
    found = loss(sparse(), batch, "int-apx", weight=0.3)
    torch.testing.assert_close(found["loss"], found["words"] + 0.3 * found["divergence"])
    assert (found["words"] - words).abs() > 1e-3


def test_integrated_training_reads_ideal_sentences_or_the_selectors(batch):
    model = sparse()
    ideal, approximated = (loss(model, batch, "int-mix", ideal=choice)["words"] for choice in (True, False))
    # A model whose own selector is `ideal` reads the same sentences.
    own = loss(sparse("ideal"), batch, "int-apx")["words"]
    torch.testing.assert_close(ideal, own)
    assert (ideal - approximated).abs() > 1e-4
    assert (model.sparse.call.r, model.sparse.call.by_attention, model.sparse.call.observer) == (None, None, None)


def test_steps_whose_label_is_padding_do_not_count(batch):
    inputs, layout = batch
    found = []
    model = sparse()
    with model.sparse.using(observer=found.append):
        model(**inputs, layout=layout)
    steps = torch.ones(2, 6, dtype=torch.bool)
    steps[1, 4:] = False
    expected = sparsity_loss(found, steps)
    torch.testing.assert_close(loss(sparse(), batch, "sparsity")["entropy"], expected)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_trained(batch, mode):
    model = sparse()
    trained = {id(parameter) for parameter in trained_parameters(model, Objective(mode))}
    loss(model, batch, mode, ideal=True)["loss"].backward()
    moved = {
        name for name, parameter in model.named_parameters() if parameter.grad is not None and parameter.grad.any()
    }
    assert moved
    for name, parameter in model.named_parameters():
        selector = "selector" in name or "sentence_encoder" in name
        expected = {
            "kl": selector,
            **dict.fromkeys(("full", "sparsity"), not selector),
        }.get(mode, selector or ".decoder.layers." in name)
        assert (id(parameter) in trained) == expected, name
        assert name not in moved or id(parameter) in trained


@pytest.mark.filterwarnings("ignore:.*all sentences are read")
@pytest.mark.parametrize("mode", ["full", "int-idl"])
@pytest.mark.parametrize("family", FAMILIES)
def test_everything_that_is_trained_gets_a_gradient(batch, family, mode):
    """Several processes would wait forever for gradients that are missing."""
    model = sparsify(make_model(family), selector="gru", r=2).train()
    fixed = [
        module.weight
        for module in model.modules()
        if "Sinusoidal" in type(module).__name__ and hasattr(module, "weight")
    ]
    trained = trained_parameters(model, Objective(mode))
    loss(model, batch, mode, ideal=True)["loss"].backward()
    assert trained and all(parameter.grad is not None for parameter in trained)
    assert not {id(parameter) for parameter in fixed} & {id(parameter) for parameter in trained}


@pytest.mark.parametrize("family", ["longt5", "mt5", "t5", "umt5"])
def test_integrated_training_trains_the_decoders_of_t5(family):
    model = sparsify(make_model(family), selector="gru", r=2)
    trained = {id(parameter) for parameter in trained_parameters(model, Objective("int-idl"))}
    for name, parameter in model.named_parameters():
        expected = "selector" in name or "sentence_encoder" in name or name.startswith("decoder.block.")
        assert (id(parameter) in trained) == expected, name


def test_documents_may_differ_in_what_they_read(batch):
    model = sparse()
    both = step_loss(model, *batch, Objective("int-mix"), 2, torch.tensor([True, False]))["words"]
    same = [loss(model, batch, "int-mix", ideal=choice)["words"] for choice in (True, False)]
    assert all((both - one).abs() > 1e-5 for one in same)


def test_mixing_follows_the_schedule():
    chances = torch.rand(2000, generator=torch.Generator().manual_seed(1))
    mixed = Objective("int-mix")
    assert reads_ideal(mixed, 0.25, chances).float().mean() == pytest.approx(0.75, abs=0.03)
    assert reads_ideal(mixed, 0.0, chances).all()
    assert not reads_ideal(mixed, 1.0, chances).any()
    assert reads_ideal(Objective("int-idl"), 0.9, chances).all()
    assert not reads_ideal(Objective("int-apx"), 0.1, chances).any()
