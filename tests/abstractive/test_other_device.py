"""Models compute on another device what they compute on the CPU: losses, gradients and summaries."""

from dataclasses import replace

import pytest
import small_coarse_to_fine
import torch
from pretend_device import ELSEWHERE, check_same, pretending
from tiny_bart import make_bart

from discsum.abstractive.coarse_to_fine.family import CoarseToFineFamily
from discsum.abstractive.family import IGNORED
from discsum.abstractive.penalties import HypothesisScore, TrigramBlocker
from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.abstractive.sparse import sparsify
from discsum.abstractive.sparse.objective import MODES, Objective, step_loss
from discsum.abstractive.sparse.selectors import ALL, SELECTORS
from discsum.training.task import Step

# A prior cannot change what is selected by chance.
SELECTING = [(name, beta) for name in SELECTORS for beta in ((None,) if name == "random" else (None, 0.5))]


def check_sparse(inputs, mode, selector, beta):
    prior = inputs.layout.mask / inputs.layout.mask.sum(1, keepdim=True)
    layout, labels = replace(inputs.layout, prior=prior), inputs.decoder.clone()
    labels[1, -2:] = IGNORED
    options = {} if selector == ALL else {"r": 2, "dense_where_faster": False}
    model = sparsify(make_bart(), selector=selector, beta=beta, **options)
    ideal = torch.tensor([mode == "int-mix", False])

    def loss(to):
        given = {name: to(value) for name, value in {**inputs.forward, "labels": labels}.items()}
        return step_loss(model, given, to(layout), Objective(mode), 2, ideal)["loss"]

    def generate(to):
        given = {name: to(value) for name, value in inputs.generate.items()}
        penalties = [TrigramBlocker(), HypothesisScore(0.9, 0.0, 2)]
        options = {"num_beams": 2, "max_new_tokens": 5, "length_penalty": 0.0, "logits_processor": penalties}
        return model.generate(**given, layout=to(layout), **options)

    check_same(model, loss, generate)


@pytest.mark.parametrize(("selector", "beta"), SELECTING)
def test_selectors(inputs, selector, beta):
    check_sparse(inputs, "int-mix", selector, beta)


@pytest.mark.parametrize("mode", MODES)
def test_training_modes(inputs, mode):
    check_sparse(inputs, mode, "mean_key" if Objective(mode).integrated else "gru" if mode == "kl" else ALL, None)


@pytest.mark.parametrize("chunks", ["3x4", "sentences"])
@pytest.mark.parametrize(
    ("variant", "coarse"), [("standard", "conv"), ("hier", "bow"), ("c2f", "bow"), ("c2f", "conv")]
)
def test_coarse_to_fine(variant, coarse, chunks):
    model, texts = small_coarse_to_fine.make_model(variant, chunks, coarse=coarse), small_coarse_to_fine.Texts()
    places = {"train": [{"path": "train.jsonl"}], "validation": [{"path": "validation.jsonl"}]}
    recipe = AbstractiveRecipe.from_dict({"family": "coarse_to_fine", "target_tokens": 8, **places})

    def loss(to):
        batch = {name: to(value) for name, value in {**texts.of(model), "labels": texts.labels}.items()}
        # A new one, because a run makes its baseline on the model's device.
        family = CoarseToFineFamily(model, None, "tiny")
        found = family.loss(recipe, batch, {}, 0.0, torch.zeros(3))["loss"]
        # Updates the baseline.
        family.begin_step(recipe, Step(1, 1.0, 0.5))
        return found

    def generate(to):
        given = {name: to(value) for name, value in texts.of(model).items()}
        return model.generate(**given, num_beams=2, max_new_tokens=4, min_new_tokens=4)

    check_same(model, loss, generate)


def test_no_layer_of_full_attention_waits(inputs):
    """A GPU computes all layers while the CPU queues them."""
    counts = []
    for layers in (1, 3):
        model = sparsify(make_bart(decoder_layers=layers), selector=ALL)
        with pretending(model) as waited:
            given = {name: value.to(ELSEWHERE) for name, value in inputs.forward.items()}
            model(**given, layout=inputs.layout.to(ELSEWHERE))
            # Values that the CPU reads.
            counts.append(waited["_local_scalar_dense"])
    assert counts[0] == counts[1]
