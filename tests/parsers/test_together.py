"""Documents computed in batches, as on a GPU, give the same results as each alone."""

from dataclasses import replace

import numpy as np
import pytest
import tiny
import torch
from hypothesis import given
from hypothesis import strategies as st
from pretend_device import pretending

from discsum.constants import UNITS
from discsum.parsers import budgets, encoder
from discsum.parsers import parser as module
from discsum.parsers.budgets import ELSEWHERE, Budget, padded_groups
from discsum.parsers.edu_vectors import EDULayout
from discsum.parsers.parser import Parser
from discsum.parsers.reading import STATES, SUBWORDS
from discsum.parsers.structure import DESIGNS, SplitScorer, chart
from discsum.parsers.structure.scores import split_spans

PARTS = {"cohesion": 4, "label_edges": 4, "label_heads": True, "label_rank": 4, "hidden": 12, "transformer": 1}
SENTENCES = tiny.ARTICLE.strip().replace("\n\n", "\n").splitlines()
TEXTS = [tiny.ARTICLE, "", "Rain.", SENTENCES[1], "The mill broke, because it was old.", "\n\n".join(SENTENCES * 3)]


@given(st.lists(st.integers(0, 30), max_size=30), st.integers(1, 300), st.integers(1, 2))
def test_groups_hold_every_item_once_within_the_budget(sizes, budget, power):
    groups = list(padded_groups(sizes, budget, lambda size: size**power))
    assert sorted(index for group in groups for index in group) == list(range(len(sizes)))
    for group in groups:
        longest = max(sizes[index] for index in group)
        assert len(group) == 1 or len(group) * longest**power <= budget
    longest = [max(sizes[index] for index in group) for group in groups]
    assert longest == sorted(longest)


@pytest.mark.parametrize(
    "budget", [ELSEWHERE, Budget(documents=400, tokens=70, edus=40, cells=300, overlap=True, texts=2)]
)
@pytest.mark.parametrize("name", DESIGNS)
def test_texts_together(monkeypatch, name, budget):
    parser, keep = tiny.make_parser(name, **PARTS), [*UNITS, STATES, SUBWORDS]
    alone = [parser.encode([text], keep=keep)[0] for text in TEXTS]
    monkeypatch.setattr(budgets, "ON_CPU", budget)
    monkeypatch.setattr(encoder, "WINDOWS", 3)
    together = parser.encode(TEXTS, keep=keep)
    for one, other in zip(alone, together, strict=True):
        assert other.document.edus == one.document.edus
        assert other.document.sentences == one.document.sentences
        for name in keep:
            torch.testing.assert_close(other.vectors[name], one.vectors[name], atol=1e-4, rtol=1e-4)
        if one.document.tree is None:
            assert other.document.tree is None
            continue
        for ours, theirs in zip(other.document.tree.nodes, one.document.tree.nodes, strict=True):
            assert replace(ours, probability=0) == replace(theirs, probability=0)
            assert ours.probability == pytest.approx(theirs.probability, abs=1e-3)


def a_layout(edus):
    index = torch.arange(edus)
    bags = torch.nn.functional.normalize(torch.randn(edus, 5), dim=1)
    return EDULayout(index, index + 1, torch.randint(0, 4, (edus,)), torch.randint(0, 4, (edus,)), bags)


@torch.inference_mode()
@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("limit", [256, 7])
def test_trees_together(monkeypatch, name, limit):
    monkeypatch.setattr(chart, "LIMIT", limit)
    torch.manual_seed(limit)
    scorer, counts = SplitScorer(8, rank=4, cohesion=3).eval(), [5, 1, 2, 40, 17, 3, 29]
    for parameter in scorer.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    states, layouts = [torch.randn(edus, 8) for edus in counts], [a_layout(edus) for edus in counts]
    alone = [DESIGNS[name].decode(scorer(*document))[0] for document in zip(states, layouts, strict=True)]
    for cells in (1, 200, 2**20):
        monkeypatch.setattr(budgets, "ON_CPU", replace(budgets.ON_CPU, cells=cells))
        together = DESIGNS[name].decode(scorer(torch.cat(states), EDULayout.concatenate(layouts, counts), counts))
        for found, expected in zip(together, alone, strict=True):
            order, wanted = (np.lexsort(one.nodes.T[:2]) for one in (found, expected))
            assert found.nodes[order].tolist() == expected.nodes[wanted].tolist()
            np.testing.assert_allclose(found.probabilities[order], expected.probabilities[wanted], atol=1e-4)


def a_tree(edus, generator):
    return split_spans(edus, lambda first, last: int(generator.integers(first, last)))


@pytest.mark.parametrize("name", DESIGNS)
def test_losses_together(monkeypatch, name):
    torch.manual_seed(0)
    generator, counts = np.random.default_rng(0), [5, 1, 2, 40, 17, 3, 29, 9]
    scorer = SplitScorer(8, rank=4, cohesion=3).eval()
    for parameter in scorer.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    states, layouts = [torch.randn(edus, 8) for edus in counts], [a_layout(edus) for edus in counts]
    targets = [a_tree(edus, generator) for edus in counts]
    # Some nodes of a tree, and none.
    targets[3], targets[4], targets[5] = targets[3][::3], targets[4][5:], targets[5][:0]
    if DESIGNS[name].learns_distributions:
        for index in (0, 6):
            targets[index] = chart.span_posteriors(scorer(torch.randn(counts[index], 8), layouts[index]))[0]

    def gradients(loss):
        return torch.autograd.grad(loss, list(scorer.parameters()), allow_unused=True)

    learn = DESIGNS[name].loss
    alone = sum(
        learn(scorer(own, layout), [target]) for own, layout, target in zip(states, layouts, targets, strict=True)
    )
    expected = gradients(alone)
    for cells in (1, 200, 2**20):
        monkeypatch.setattr(budgets, "ON_CPU", replace(budgets.ON_CPU, cells=cells))
        together = learn(scorer(torch.cat(states), EDULayout.concatenate(layouts, counts), counts), targets)
        assert together.item() == pytest.approx(alone.item(), rel=1e-5)
        for found, wanted in zip(gradients(together), expected, strict=True):
            torch.testing.assert_close(found, wanted, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("parts", [{}, PARTS])
def test_a_device_is_waited_for_by_the_batch(parts, monkeypatch):
    """Every tensor is on the right device, and a larger batch makes no more copies to the CPU."""
    parser, counts = tiny.make_parser(**parts), []
    expected = [*parser.parse_many(TEXTS)]
    # The pretended device does not work in inference mode, nor in other threads, where its mode is not active.
    monkeypatch.setattr(Parser, "_decoded", Parser._decoded.__wrapped__)
    monkeypatch.setattr(module, "ahead", iter)
    with pretending(parser.network) as waited:
        for texts in (TEXTS[:1] * 2, TEXTS[:1] * 9):
            waited.clear()
            parser.encode(texts)
            counts.append(dict(waited))
        found = [encoded.document for encoded in parser.encode(TEXTS)]
    assert counts[0] == counts[1]
    # Tags; splits and spans of charts; nuclearities, which determine heads; labels and their probabilities.
    assert sum(counts[0].values()) <= 8, counts[0]
    for one, other in zip(found, expected, strict=True):
        assert one.edus == other.edus
        assert (one.tree and one.tree.spans.tolist()) == (other.tree and other.tree.spans.tolist())
