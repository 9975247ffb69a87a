"""The mixture of copied words and the vocabulary, and its loss without tensors over the extended vocabulary."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from discsum.abstractive.compressed.mixture import Mixture, smoothed_loss

SIZE = 7


def make_mixture(seed=0, gate=None):
    """Return a mixture of 4 steps for two texts of 5 words, with repeated words and words beyond the vocabulary."""
    generator = torch.Generator().manual_seed(seed)
    logits, attention = (torch.randn(2, 4, size, generator=generator) for size in (SIZE, 5))
    source = torch.tensor([[1, SIZE, 1, 3, SIZE], [0, 2, 5, SIZE + 1, 6]])
    gates = torch.rand(2, 4, 1, generator=generator) if gate is None else torch.full((2, 4, 1), gate)
    return Mixture(logits.requires_grad_(), attention.softmax(-1).requires_grad_(), gates.requires_grad_(), source)


LABELS = torch.tensor([[1, SIZE, -100, 4], [SIZE + 1, -100, 5, 0]])


def dense(mixture, share):
    """Compute the loss from log probabilities over the extended vocabulary."""
    counted = LABELS != -100
    found, labels = mixture.log_probabilities()[counted], LABELS[counted]
    entropy = -found.gather(1, labels[:, None]).squeeze(1)
    return {
        "loss": ((1 - share) * entropy - share * found[:, :SIZE].mean(1)).mean(),
        "cross_entropy": entropy.mean().detach(),
        "accuracy": (found.argmax(1) == labels).float().mean(),
    }


def gradients(mixture, loss):
    return torch.autograd.grad(loss, [mixture.logits, mixture.attention, mixture.gate])


@pytest.mark.parametrize("share", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(5))
def test_the_loss_and_its_gradients_are_those_of_the_extended_vocabulary(seed, share):
    mixture = make_mixture(seed)
    found, expected = smoothed_loss(mixture.scores_of(LABELS), share), dense(mixture, share)
    torch.testing.assert_close(found, expected)
    pairs = zip(gradients(mixture, found["loss"]), gradients(mixture, expected["loss"]), strict=True)
    for one, other in pairs:
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-4)


def test_without_copies_label_smoothing_is_that_of_torch():
    mixture, labels = make_mixture(gate=0.0), torch.tensor([[1, 6, -100, 4], [2, -100, 5, 0]])
    found = smoothed_loss(mixture.scores_of(labels), 0.1)
    flat = mixture.logits.flatten(0, 1), labels.flatten()
    torch.testing.assert_close(found["loss"], cross_entropy(*flat, label_smoothing=0.1))
    torch.testing.assert_close(found["cross_entropy"], cross_entropy(*flat).detach())
    right = (flat[0].argmax(1) == flat[1])[flat[1] >= 0]
    assert found["accuracy"] == right.float().mean()


@pytest.mark.parametrize("gate", [0.0, 0.999, 1.0])
def test_gates_that_are_shut_or_open(gate):
    mixture = make_mixture(gate=gate)
    found = smoothed_loss(mixture.scores_of(LABELS), 0.1)
    # With gate 1, words that are not copied have probability 0; both ways clamp its logarithm, but differently.
    if gate < 1:
        torch.testing.assert_close(found, dense(mixture, 0.1))
    assert all(one.isfinite().all() for one in gradients(mixture, found["loss"]))


@pytest.mark.parametrize("precision", [torch.bfloat16, torch.float16])
def test_autocast_changes_nothing(precision):
    mixture = make_mixture()
    expected = smoothed_loss(mixture.scores_of(LABELS), 0.1)
    with torch.autocast("cpu", dtype=precision):
        found = smoothed_loss(mixture.scores_of(LABELS), 0.1)
    assert all(found[name].equal(expected[name]) for name in expected)
    pairs = zip(gradients(mixture, found["loss"]), gradients(mixture, expected["loss"]), strict=True)
    assert all(one.equal(other) for one, other in pairs)


def test_accuracy_counts_the_highest_of_words_with_and_without_copies():
    logits = torch.tensor([[[0.0, 1.0, 0.0]] * 4])
    attention, gate = torch.tensor([[[1.0, 0.0]] * 4]), torch.tensor([[[0.0], [0.9], [0.9], [0.0]]])
    mixture = Mixture(logits, attention, gate, torch.tensor([[2, 3]]))
    scores = mixture.scores_of(torch.tensor([[1, 2, 1, 2]]))
    assert scores.highest.tolist() == [True, True, False, False]


def test_a_word_twice_in_the_text_is_copied_with_both_weights():
    attention, gate = torch.tensor([[[0.25, 0.5, 0.25]]]), torch.tensor([[[0.5]]])
    mixture = Mixture(torch.zeros(1, 1, 2), attention, gate, torch.tensor([[1, 2, 1]]))
    expected = torch.tensor([0.25, 0.25 + 0.25, 0.25])
    torch.testing.assert_close(mixture.log_probabilities().exp()[0, 0], expected)
    found = [mixture.scores_of(torch.tensor([[label]])).label.exp().item() for label in range(3)]
    torch.testing.assert_close(torch.tensor(found), expected)
