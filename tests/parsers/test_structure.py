"""Charts against enumeration of all trees."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from random_scores import layout_of, random_scores, to_tree, tree_score, trees

from discsum.parsers.structure import DESIGNS, SplitScorer, chart, inside_outside
from discsum.parsers.structure import scores as module
from discsum.parsers.structure.cohesion import CohesionScorer


def spans_of(nodes):
    """Return the spans of the nodes and of their children."""
    return {pair for first, last, split in nodes for pair in ((first, last), (first, split), (split + 1, last))}


def matrices(scores):
    """Return left and right scores by width, as tensors of one chart."""
    index = torch.arange(len(scores))
    left, right = scores.left(index, index[:-1]), scores.right(index[:-1], index)
    return inside_outside.by_width(left.detach()[None], right.detach()[None])


@pytest.mark.parametrize("edus", range(2, 7))
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_chart_sums_over_every_tree(edus, seed, library):
    scores = random_scores(edus, seed)
    every = trees(0, edus - 1)
    values = torch.stack([tree_score(scores, nodes) for nodes in every]).detach()
    lefts, rights = matrices(scores)
    found = inside_outside.posterior(*((lefts.numpy(), rights.numpy()) if library == "numpy" else (lefts, rights)))
    assert found.log_normaliser.item() == pytest.approx(torch.logsumexp(values, 0).item())
    chances = torch.softmax(values, 0).tolist()
    left, right, spans = np.zeros((edus, edus)), np.zeros((edus, edus)), np.zeros((edus, edus))
    for nodes, chance in zip(every, chances, strict=True):
        for first, last, split in nodes:
            left[first, split - first] += chance
            right[last, last - split - 1] += chance
        for first, last in spans_of(nodes):
            spans[first, last - first] += chance
    np.testing.assert_allclose(found.left[0], left, atol=1e-12)
    np.testing.assert_allclose(found.right[0], right, atol=1e-12)
    np.testing.assert_allclose(found.spans[0], spans, atol=1e-12)


def assert_same_gradients(found, expected, scores, **tolerance):
    factors = {name: value for name, value in vars(scores).items() if torch.is_tensor(value)}
    ours, theirs = (torch.autograd.grad(loss, list(factors.values()), allow_unused=True) for loss in (found, expected))
    for name, one, other in zip(factors, ours, theirs, strict=True):
        torch.testing.assert_close(one, other, msg=name, **tolerance)


@pytest.mark.parametrize("edus", range(2, 7))
def test_chart_loss_and_gradients(edus):
    every = trees(0, edus - 1)
    for seed, gold in enumerate(every[:: max(1, len(every) // 6)]):
        scores = random_scores(edus, seed)
        values = torch.stack([tree_score(scores, nodes) for nodes in every])
        expected = (torch.logsumexp(values, 0) - tree_score(scores, gold)) / len(gold)
        found = chart.loss(scores, [np.array(gold)]) / len(gold)
        assert found.item() == pytest.approx(expected.item())
        assert_same_gradients(found, expected, scores)


def cohesion_of(edus, seed):
    """Return a cohesion whose scores are not close to 0, and its scorer."""
    torch.manual_seed(seed)
    scorer = CohesionScorer(4)
    for parameter in scorer.parameters():
        torch.nn.init.normal_(parameter)
    layout = layout_of(edus)
    return scorer(layout.bags, layout.openings, layout.closings, [edus]), scorer


@pytest.mark.parametrize("edus", range(2, 7))
@pytest.mark.parametrize("seed", range(3))
def test_cohesion_counts_in_every_tree(edus, seed):
    cohesion, scorer = cohesion_of(edus, seed)
    scores = replace(random_scores(edus, seed), cohesion=cohesion)

    def with_cohesion(nodes):
        spans = [(cohesion.left, first, split) for first, _, split in nodes]
        spans += [(cohesion.right, split + 1, last) for _, last, split in nodes]
        return tree_score(scores, nodes) + sum(
            rated(torch.tensor([a]), torch.tensor([b])).squeeze() for rated, a, b in spans
        )

    every = trees(0, edus - 1)
    values = torch.stack([with_cohesion(nodes) for nodes in every])
    gold = every[seed % len(every)]
    expected = (torch.logsumexp(values, 0) - with_cohesion(gold)) / len(gold)
    found = chart.loss(scores, [np.array(gold)]) / len(gold)
    assert found.item() == pytest.approx(expected.item(), rel=1e-4, abs=1e-4)
    parameters = list(scorer.parameters())
    for ours, theirs in zip(
        torch.autograd.grad(found, parameters), torch.autograd.grad(expected, parameters), strict=True
    ):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("edus", range(2, 7))
def test_chart_learns_a_distribution_over_trees(edus):
    every = trees(0, edus - 1)
    for seed in range(4):
        scores, teacher = random_scores(edus, seed), random_scores(edus, seed + 100)
        values = torch.stack([tree_score(scores, nodes) for nodes in every])
        chances = torch.softmax(torch.stack([tree_score(teacher, nodes) for nodes in every]), 0).detach()
        expected = -(chances * torch.log_softmax(values, 0)).sum() / (edus - 1)
        found = chart.loss(scores, [*chart.span_posteriors(teacher)]) / (edus - 1)
        assert found.item() == pytest.approx(expected.item())
        assert_same_gradients(found, expected, scores)


@pytest.mark.parametrize("edus", range(3, 7))
def test_chart_loss_of_some_nodes_sums_over_the_trees_that_hold_them(edus):
    every = trees(0, edus - 1)
    generator = np.random.default_rng(edus)
    for seed in range(8):
        scores = random_scores(edus, seed)
        gold = every[generator.integers(len(every))]
        kept = [node for node in gold if generator.random() < 0.5][: edus - 2] or gold[-1:]
        values = torch.stack([tree_score(scores, nodes) for nodes in every])
        holds = [spans_of(kept) <= spans_of(nodes) for nodes in every]
        expected = (torch.logsumexp(values, 0) - torch.logsumexp(values[holds], 0)) / len(kept)
        found = chart.loss(scores, [np.array(kept)]) / len(kept)
        assert found.item() == pytest.approx(expected.item(), abs=1e-9)
        assert_same_gradients(found, expected, scores, atol=1e-9, rtol=1e-6)


def best_nodes(scores, every):
    """Return the tree with the most expected spans among all `trees`, each node with its span's probability."""
    if not every[0]:
        return {}
    chances = torch.softmax(torch.stack([tree_score(scores, nodes) for nodes in every]).detach(), 0).tolist()
    expected = {}
    for nodes, chance in zip(every, chances, strict=True):
        for first, last, _ in nodes:
            expected[first, last] = expected.get((first, last), 0.0) + chance
    best = max(every, key=lambda nodes: sum(expected[first, last] for first, last, _ in nodes))
    return {node: expected[node[:2]] for node in best}


@pytest.mark.parametrize("edus", range(1, 7))
@pytest.mark.parametrize("seed", range(4))
def test_chart_decodes_the_tree_of_most_expected_spans(edus, seed):
    scores = random_scores(edus, seed, scale=1.5)
    (found,) = chart.decode(scores)
    to_tree(edus, found)
    assert found.nodes.shape == (edus - 1, 3)
    decoded = dict(zip(map(tuple, found.nodes.tolist()), found.probabilities, strict=True))
    assert decoded == pytest.approx(best_nodes(scores, trees(0, edus - 1)))


@pytest.mark.parametrize("starts", [(0, 1, 2, 3, 4, 5, 6), (0, 2, 4), (0, 3), (0, 1, 6), (2, 3)])
@pytest.mark.parametrize("seed", range(3))
def test_sentences_are_decoded_as_constituents(starts, seed):
    scores, bounds = random_scores(7, seed, scale=1.5, sentences=starts), [*sorted({0, *starts}), 7]
    (found,) = chart.decode(scores)
    to_tree(7, found)
    decoded = dict(zip(map(tuple, found.nodes.tolist()), found.probabilities, strict=True))
    expected = {}
    for first, after in pairwise(bounds):
        expected |= best_nodes(scores, trees(first, after - 1))
    # The tree over sentences, by the EDUs at which they begin and end.
    above = [
        [(bounds[first], bounds[last + 1] - 1, bounds[split + 1] - 1) for first, last, split in nodes]
        for nodes in trees(0, len(bounds) - 2)
    ]
    assert decoded == pytest.approx(expected | best_nodes(scores, above))


@pytest.mark.parametrize("limit", [2, 3, 4, 7, 16])
def test_sections_make_valid_trees(monkeypatch, limit):
    monkeypatch.setattr(chart, "LIMIT", limit)
    for edus in (1, 2, 3, limit, limit + 1, 2 * limit + 1, 97):
        (found,) = chart.decode(random_scores(edus, seed=edus))
        to_tree(edus, found)
        assert ((found.probabilities >= 0) & (found.probabilities <= 1)).all()


def test_sections_change_nothing_where_all_fit_into_one(monkeypatch):
    scores = random_scores(40, seed=1)
    (whole,) = chart.decode(scores)
    monkeypatch.setattr(chart, "LIMIT", 40)
    assert chart.decode(scores)[0].nodes.tolist() == whole.nodes.tolist()
    monkeypatch.setattr(chart, "LIMIT", 39)
    assert chart.decode(scores)[0].nodes.tolist() != whole.nodes.tolist()


def test_sections_are_cut_at_strong_borders(monkeypatch):
    monkeypatch.setattr(chart, "LIMIT", 8)
    scores = random_scores(30, seed=0)
    with torch.no_grad():
        scores.strength[[5, 12, 18, 25]] = 9.0
    assert chart._sections(scores, np.arange(30), np.array([0, 30])).tolist() == [0, 6, 13, 19, 26, 30]
    assert chart._sections(scores, np.arange(30), np.array([0, 7, 10, 18, 30])).tolist() == [0, 7, 10, 18, 26, 30]


@pytest.mark.parametrize("name", DESIGNS)
@torch.inference_mode()
def test_factors_that_are_not_kept_are_the_same(name, monkeypatch):
    torch.manual_seed(7)
    scorer, states, layout = SplitScorer(8, rank=4, cohesion=3).eval(), torch.randn(700, 8), layout_of(700)
    every, far = torch.arange(700), torch.arange(0, 700, 9)
    whole = scorer(states, layout)
    nodes = DESIGNS[name].decode(whole)[0].nodes.tolist()
    for size in (1, 64, 699):
        monkeypatch.setattr(module, "PIECE", size)
        monkeypatch.setattr(module, "FEW", size)
        found = scorer(states, layout)
        for one, other in zip(
            found.charts(far[None], far[None] + 3), whole.charts(far[None], far[None] + 3), strict=True
        ):
            torch.testing.assert_close(one, other)
        torch.testing.assert_close(found.left(every[:9], every[5:30]), whole.left(every[:9], every[5:30]))
        torch.testing.assert_close(found.totals[every], whole.totals[every], atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(found.strength, whole.strength)
        assert DESIGNS[name].decode(found)[0].nodes.tolist() == nodes


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("edus", [1, 2, 3, 500, 3000])
def test_every_design_at_every_length(name, edus):
    torch.manual_seed(edus)
    scorer = SplitScorer(8, rank=4, cohesion=3)
    layout = layout_of(edus)
    with torch.no_grad():
        scores = scorer(torch.randn(edus, 8), layout)
        (found,) = DESIGNS[name].decode(scores)
    to_tree(edus, found)
    assert found.probabilities.shape == (edus - 1,)
    assert ((found.probabilities >= 0) & (found.probabilities <= 1)).all()


def test_a_right_branching_tree_of_3000_edus_is_no_special_case():
    scores = random_scores(3000, seed=0, scale=0.0)
    with torch.no_grad():
        scores.strength.copy_(-torch.arange(2999.0))
        for name in ("top_down", "distance"):
            assert DESIGNS[name].decode(scores)[0].nodes[:, 2].tolist() == list(range(2999))
