"""The losses of a batch are those of its documents."""

from dataclasses import replace

import numpy as np
import pytest
import tiny
import torch
from pretend_device import pretending

from discsum.parsers.structure import DESIGNS, chart
from discsum.parsers.training.examples import make_example
from discsum.parsers.training.losses import ParserBatch, ParserObjective
from discsum.parsers.training.recipe import ParserRecipe

PARTS = {"cohesion": 4, "label_edges": 4, "label_heads": True, "label_rank": 4, "hidden": 12, "transformer": 1}
SENTENCES = tiny.ARTICLE.strip().replace("\n\n", "\n").splitlines()
TEXTS = [tiny.ARTICLE, "Rain.", "\n".join(SENTENCES[:3]), "\n".join(SENTENCES[1:])]


def batch_of(parser, soft):
    """Return gold documents, of which one is learned over predicted EDUs, and pseudo-labelled ones."""
    documents = [*parser.parse_many(TEXTS)]
    examples = [make_example(document, parser.tokenizer, parser.network.labels.labels) for document in documents]
    for index in soft:
        targets, edus = examples[index].targets, len(documents[index].edus)
        generator = np.random.default_rng(index)
        chances = generator.dirichlet(np.ones(len(parser.network.labels.labels)), len(targets.nodes))
        scores = parser.network.splits(
            torch.randn(edus, parser.network.config.hidden), layout_of(parser, examples[index])
        )
        (expected,) = chart.span_posteriors(scores)
        own = replace(targets, labels=chances.astype(np.float32), expected=expected)
        examples[index] = replace(examples[index], targets=own)
    return ParserBatch(tuple(examples), (0, 0, 3, 0), (False, False, True, False))


def layout_of(parser, example):
    return parser.network.layout(example.subwords, example.targets.edu_starts, example.targets.sentence_starts)


def sums(losses):
    return [getattr(losses, name) for name in ("tags", "splits", "labels", "nodes")]


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("parts", [{}, PARTS])
def test_a_batch_has_the_losses_of_its_documents(name, parts):
    torch.manual_seed(0)
    parser = tiny.make_parser(name, **parts)
    recipe = ParserRecipe.from_dict({"network": {"design": name}, "smoothing": 0.1})
    objective = ParserObjective(parser.network.eval(), recipe)
    batch = batch_of(parser, soft=[0, 3] if DESIGNS[name].learns_distributions else [])
    together = sums(objective(batch))
    alone = [
        sums(objective(ParserBatch(*((part,) for part in one))))
        for one in zip(batch.examples, batch.shifts, batch.predicted, strict=True)
    ]
    for found, expected in zip(together, map(sum, zip(*alone, strict=True)), strict=True):
        assert found.item() == pytest.approx(expected.item(), rel=1e-3)
    ours, theirs = (
        torch.autograd.grad(sum(losses[1:3]), list(objective.parameters()), allow_unused=True, materialize_grads=True)
        for losses in (together, [*map(sum, zip(*alone, strict=True))])
    )
    found, expected = (torch.cat([part.flatten() for part in gradients]) for gradients in (ours, theirs))
    assert (found - expected).norm() <= 0.01 * expected.norm()


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("parts", [{}, PARTS])
def test_losses_on_another_device(name, parts):
    parser = tiny.make_parser(name, **parts)
    recipe = ParserRecipe.from_dict({"network": {"design": name}, "bf16": False})
    objective = ParserObjective(parser.network.eval(), recipe)
    batch = batch_of(parser, soft=[0] if DESIGNS[name].learns_distributions else [])

    def learned():
        """Return the losses and the gradients of their sum."""
        losses = sums(objective(batch))
        sum(losses[:3]).backward()
        gradients = {key: own.grad for key, own in objective.named_parameters() if own.grad is not None}
        return [one.detach().cpu() for one in losses], {key: grad.cpu() for key, grad in gradients.items()}

    expected, expected_gradients = learned()
    objective.zero_grad()
    with pretending(objective, gradients=True) as waited:
        found, gradients = learned()
    torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(gradients, expected_gradients, atol=1e-3, rtol=1e-3)
    # The CPU lays out EDUs while the device encodes the batch.
    assert not waited["to the device"]
