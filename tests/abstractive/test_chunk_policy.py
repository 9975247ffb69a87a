"""REINFORCE for the choice of chunks: gradients against enumeration, and which parameters get them."""

import itertools

import pytest
import torch
from small_coarse_to_fine import Texts, make_model

from discsum.abstractive.coarse_to_fine.objective import (
    MovingBaseline,
    Reinforce,
    policy_loss,
    returns_of,
    rewards_of,
)
from discsum.abstractive.family import IGNORED

COARSE = ("encoder.coarse.", "decoder.attention.coarse.")


def is_coarse(name):
    return name.startswith(COARSE)


class Toy:
    """One text of two chunks, and a summary of two words."""

    def __init__(self, coarse, **changes):
        self.model = make_model("c2f", "2x4", coarse=coarse, positions=True, init_range=2.0, **changes).train()
        with torch.no_grad():
            # Smaller weights, so that no choice is improbable.
            self.model.decoder.attention.coarse.weight.mul_(0.1)
        self.ids = torch.randint(3, 20, (1, 8), generator=torch.Generator().manual_seed(2))
        self.labels = torch.tensor([[7, 11]])
        self.settings = Reinforce(discount=0.5, scale=0.3)
        self.baseline = torch.tensor({"conv": [-6.0, -1.5], "bow": [-4.0, -4.5]}[coarse])

    @property
    def parameters(self):
        return [(name, one) for name, one in self.model.named_parameters() if is_coarse(name)]

    def policy(self, copies, choices=None):
        """Return the policy loss over copies of the text, and the output."""
        labels = self.labels.expand(copies, -1)
        output = self.model(self.ids.expand(copies, -1), labels=labels, choices=choices)
        steps = torch.ones_like(labels, dtype=torch.bool)
        returns = returns_of(rewards_of(output.logits, labels), self.baseline, steps, self.settings)
        return policy_loss(output.log_choices, returns, steps), output

    def gradient(self, loss):
        found = torch.autograd.grad(loss, [one for _, one in self.parameters])
        return torch.cat([one.flatten() for one in found])


@pytest.fixture(params=["conv", "bow"])
def toy(request):
    return Toy(request.param)


def enumerated(toy):
    """Return the mean gradient over all four pairs of choices, weighted by their probabilities."""
    total = 0
    for pair in itertools.product(range(2), repeat=2):
        loss, output = toy.policy(1, torch.tensor(pair).view(1, 2, 1))
        total = total + output.log_choices.sum().exp().detach() * toy.gradient(loss)
    return total


def test_the_gradient_is_that_of_the_mean_reward(toy):
    """Without discount, it is the gradient of the sum over choices of probability times reward."""
    toy.settings = Reinforce(discount=1.0, scale=1.0)
    mean = 0
    for pair in itertools.product(range(2), repeat=2):
        _, output = toy.policy(1, torch.tensor(pair).view(1, 2, 1))
        mean = mean + output.log_choices.sum().exp() * rewards_of(output.logits, toy.labels).sum()
    # The loss is a mean over two steps, and is minimised. A baseline does not change the mean gradient.
    expected = toy.gradient(-mean / 2)
    for baseline in ([0.0, 0.0], [-2.0, -3.5]):
        toy.baseline = torch.tensor(baseline)
        torch.testing.assert_close(enumerated(toy), expected, atol=1e-5, rtol=1e-4)


def test_sampled_gradients_have_the_enumerated_mean(toy):
    expected = enumerated(toy)
    torch.manual_seed(4)
    sampled = torch.stack([toy.gradient(toy.policy(2_000)[0]) for _ in range(20)])
    error = sampled.std(0) / len(sampled) ** 0.5
    assert expected.abs().max() > 20 * error.max()
    # Five standard errors, because some hundred numbers must all be within them.
    assert ((sampled.mean(0) - expected).abs() <= 5 * error + 1e-7).all()


def test_several_samples_have_the_enumerated_mean_too():
    toy = Toy("bow", samples=2)
    expected = 0
    for choice in itertools.product(range(2), repeat=4):
        loss, output = toy.policy(1, torch.tensor(choice).view(1, 2, 2))
        expected = expected + output.log_choices.sum().exp().detach() * toy.gradient(loss)
    torch.manual_seed(4)
    sampled = torch.stack([toy.gradient(toy.policy(2_000)[0]) for _ in range(20)])
    assert ((sampled.mean(0) - expected).abs() <= 5 * sampled.std(0) / len(sampled) ** 0.5 + 1e-7).all()


def gradients(model, loss):
    model.zero_grad()
    loss.backward()
    return {name: None if one.grad is None else one.grad.clone() for name, one in model.named_parameters()}


@pytest.mark.parametrize("coarse", ["conv", "bow"])
def test_coarse_parameters_have_the_policys_gradient_alone_and_others_none_of_it(coarse):
    toy = Toy(coarse)
    loss, output = toy.policy(1, torch.tensor([[[0], [1]]]))
    of_policy = gradients(toy.model, loss)
    _, output = toy.policy(1, torch.tensor([[[0], [1]]]))
    of_words = gradients(toy.model, output.loss)
    for name in of_policy:
        policy, words = of_policy[name], of_words[name]
        if is_coarse(name):
            assert policy is not None and policy.abs().max() > 0, name
            assert words is None or not words.any(), name
        else:
            assert policy is None or not policy.any(), name
            assert words is not None and words.abs().max() > 0, name


@pytest.mark.parametrize("coarse", ["conv", "bow"])
def test_soft_attention_trains_everything_by_the_words(coarse):
    toy = Toy(coarse)
    output = toy.model(toy.ids, labels=toy.labels, soft=True)
    assert all(one is not None and one.any() for one in gradients(toy.model, output.loss).values())
    assert not output.log_choices.any()


def test_returns_by_the_formula():
    rewards = torch.tensor([[-1.0, -2.0, -4.0], [-3.0, -5.0, 0.0]])
    steps = torch.tensor([[1, 1, 1], [1, 1, 0]], dtype=torch.bool)
    baseline, settings = torch.tensor([-2.0, -3.0, -1.0, 9.0]), Reinforce(discount=0.5, scale=0.3)
    expected = [
        [0.3 * (1 + 0.5 * 1 + 0.25 * -3), 0.3 * (1 + 0.5 * -3), 0.3 * -3],
        # The last step is padding, whose baseline must not count either.
        [0.3 * (-1 + 0.5 * -2), 0.3 * -2, 0.0],
    ]
    torch.testing.assert_close(returns_of(rewards, baseline, steps, settings), torch.tensor(expected))


def test_rewards_are_log_probabilities_and_none_where_nothing_is_learned():
    logits, labels = torch.randn(2, 3, 5), torch.tensor([[1, 4, 2], [0, IGNORED, IGNORED]])
    found = rewards_of(logits, labels)
    logs = logits.log_softmax(2)
    assert found[0].tolist() == pytest.approx([logs[0, step, label].item() for step, label in enumerate((1, 4, 2))])
    assert found[1].tolist() == pytest.approx([logs[1, 0, 0].item(), 0.0, 0.0])


def test_the_baseline_moves_once_a_step_towards_the_mean_of_all_its_parts():
    steps = torch.tensor([[1, 1], [1, 0]], dtype=torch.bool)
    whole, parts = MovingBaseline(3), MovingBaseline(3)
    rewards = torch.tensor([[-1.0, -4.0], [-3.0, 0.0]])
    for _ in range(2):
        whole.record(rewards, steps)
        for row in range(2):
            parts.record(rewards[row : row + 1], steps[row : row + 1])
        assert torch.equal(whole.state()["baseline_new"], parts.state()["baseline_new"])
        whole.advance(0.1)
        parts.advance(0.1)
    assert torch.equal(whole.values, parts.values)
    # The mean rewards are -2 and -4; the last step had none.
    assert whole.values.tolist() == pytest.approx([-2 * 0.19, -4 * 0.19, 0.0])
    other = MovingBaseline(3)
    parts.record(rewards, steps)
    other.load_state(parts.state())
    parts.advance(0.1)
    other.advance(0.1)
    assert torch.equal(other.values, parts.values)


def test_labels_that_are_ignored_change_no_gradient():
    texts = Texts(2)
    model = make_model("c2f").train()
    choices = torch.randint(3, (2, 6, 1), generator=torch.Generator().manual_seed(1))
    baseline = torch.full((6,), -1.0)
    found = []
    for more in (0, 2):
        labels = torch.nn.functional.pad(texts.labels, (0, more), value=IGNORED)
        output = model(texts.ids, attention_mask=texts.mask, labels=labels, choices=choices[:, : 4 + more])
        steps = labels != IGNORED
        returns = returns_of(rewards_of(output.logits, labels), baseline, steps, Reinforce())
        found.append(gradients(model, output.loss + policy_loss(output.log_choices, returns, steps)))
    for name in found[0]:
        torch.testing.assert_close(found[0][name], found[1][name], msg=name)


def test_a_step_without_rewards_keeps_its_mean():
    baseline = MovingBaseline(2)
    baseline.values = torch.tensor([-2.0, -3.0])
    baseline.record(torch.tensor([[-4.0, 0.0]]), torch.tensor([[True, False]]))
    baseline.advance(0.5)
    assert baseline.values.tolist() == [-3.0, -3.0]
