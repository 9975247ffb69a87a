"""The loss of coarse-to-fine training, and the learning rates of its parameters."""

import pytest
import torch
from small_coarse_to_fine import Texts, make_model

from discsum.abstractive.coarse_to_fine.family import CoarseToFineFamily
from discsum.abstractive.coarse_to_fine.memory import Record
from discsum.abstractive.coarse_to_fine.objective import Reinforce, policy_loss, returns_of
from discsum.abstractive.family import IGNORED
from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.training.task import Step

# Far from the rewards, and different at each step.
BASELINE = torch.tensor([-9.0, 2.0, -0.5, 4.0, 0.0, 0.0, 0.0, 0.0])
REINFORCE = {"discount": 0.9, "scale": 1.7, "baseline_rate": 0.25}
STEP = Step(0, 0.0, 0.0)


def recipe_of(**fields):
    places = {"train": [{"path": "train.jsonl"}], "validation": [{"path": "validation.jsonl"}]}
    return AbstractiveRecipe.from_dict(
        {"family": "coarse_to_fine", "target_tokens": 8, "reinforce": REINFORCE, **places, **fields}
    )


class Run:
    """A training step of a model with random weights, on documents whose summaries differ in length."""

    def __init__(self, **changes):
        self.model, texts = make_model("c2f", **changes).train(), Texts()
        self.family = CoarseToFineFamily(self.model, None, "tiny")
        self.model.train()
        self.family.load_state({"baseline": BASELINE, "baseline_new": torch.zeros(2, len(BASELINE))})
        labels = texts.labels.clone()
        labels[1, 2:] = IGNORED
        self.batch = {"input_ids": texts.ids, "attention_mask": texts.mask, "labels": labels}

    def loss(self, recipe):
        """Return the training loss, with a fixed seed."""
        torch.manual_seed(11)
        return self.family.loss(recipe, self.batch, {"record": Record()}, 0.0, torch.zeros(3))["loss"]

    def cross_entropy(self, *, soft):
        """Return the mean over words, the output, and log probabilities of the labels, with the same seed."""
        torch.manual_seed(11)
        labels = self.batch["labels"]
        given = {name: self.batch[name] for name in ("input_ids", "attention_mask")}
        output = self.model(
            **given, decoder_input_ids=self.model.prepare_decoder_input_ids_from_labels(labels), soft=soft
        )
        logs = output.logits.log_softmax(2).gather(2, labels.clamp(min=0)[..., None])[..., 0] * (labels != IGNORED)
        return -logs.sum() / (labels != IGNORED).sum(), output, logs.detach()

    def gradients(self, loss):
        self.model.zero_grad()
        loss.backward()
        return {name: None if one.grad is None else one.grad.clone() for name, one in self.model.named_parameters()}


def check_equal(found, expected):
    for name, value in expected.items():
        assert (found[name] is None) == (value is None), name
        if value is not None:
            torch.testing.assert_close(found[name], value, msg=name)


@pytest.mark.parametrize("samples", [1, 2])
def test_the_loss_is_cross_entropy_with_the_gradient_of_the_policy(samples):
    run = Run(samples=samples)
    loss = run.loss(recipe_of())
    found = run.gradients(loss)
    entropy, output, rewards = run.cross_entropy(soft=False)
    steps = run.batch["labels"] != IGNORED
    returns = returns_of(rewards, BASELINE, steps, Reinforce(**REINFORCE))
    assert loss.item() == pytest.approx(entropy.item(), rel=1e-6)
    check_equal(found, run.gradients(entropy + policy_loss(output.log_choices, returns, steps)))
    coarse = found["decoder.attention.coarse.weight"]
    assert coarse.abs().max() > 1e-3
    # The baseline is updated with these rewards when the next step begins.
    run.family.begin_step(recipe_of(), STEP)
    means = rewards.sum(0) / steps.sum(0)
    torch.testing.assert_close(run.family.state()["baseline"][:4], BASELINE[:4] + 0.25 * (means - BASELINE[:4]))
    assert torch.equal(run.family.state()["baseline"][4:], BASELINE[4:])


@pytest.mark.parametrize("alternate", [0.0, 1.0])
def test_a_step_of_alternation_is_soft_or_chooses(alternate):
    run, recipe = Run(), recipe_of(alternate=alternate)
    run.family.begin_step(recipe, STEP)
    found = run.gradients(run.loss(recipe))
    entropy, output, rewards = run.cross_entropy(soft=alternate == 1.0)
    if alternate:
        expected = entropy
    else:
        steps = run.batch["labels"] != IGNORED
        returns = returns_of(rewards, BASELINE, steps, Reinforce(**REINFORCE))
        expected = entropy + policy_loss(output.log_choices, returns, steps)
    check_equal(found, run.gradients(expected))
    # A soft step records no rewards for the baseline.
    assert bool(run.family.state()["baseline_new"].any()) == (alternate == 0.0)


def test_validation_has_no_policy():
    run = Run()
    run.model.eval()
    torch.testing.assert_close(run.loss(recipe_of(alternate=1.0)), run.cross_entropy(soft=False)[0])
    assert not run.family.state()["baseline_new"].any()


def test_training_keeps_no_states_of_a_batch():
    run, record = Run(), Record()
    run.family.loss(recipe_of(), run.batch, {"record": record}, 0.0, torch.zeros(3))
    assert record.memory is None


@pytest.mark.parametrize(("rate", "expected"), [(0.1, 0.1), (None, 0.7)])
def test_the_coarse_encoder_has_a_learning_rate_of_its_own(rate, expected):
    model = make_model("c2f", coarse="bow", positions=True)
    recipe = recipe_of(learning_rate=0.7, coarse_learning_rate=rate, frozen_embeddings=False)
    names = {id(one): name for name, one in model.named_parameters()}
    rest, coarse = CoarseToFineFamily(model, None, "tiny").parameter_groups(recipe)
    assert (rest["lr"], coarse["lr"]) == (0.7, expected)
    assert {names[id(one)] for one in coarse["params"]} == {
        "encoder.coarse.words.weight",
        "encoder.coarse.places.weight",
    }
    both = [names[id(one)] for group in (rest, coarse) for one in group["params"]]
    assert sorted(both) == sorted(names.values())
    # Frozen embeddings are in no group.
    (rest, coarse) = CoarseToFineFamily(model, None, "tiny").parameter_groups(recipe_of())
    assert [names[id(one)] for one in coarse["params"]] == ["encoder.coarse.places.weight"]
    assert "encoder.embeddings.weight" not in {names[id(one)] for one in rest["params"]}
