"""Cohesion and layout features of spans against definitions written out."""

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import product
from math import log

import numpy as np
import pytest
import torch

from discsum.parsers.structure import cohesion as module
from discsum.parsers.structure.cohesion import CONTEXTS, FEATURES, REACHES, SCALE, WIDTH, CohesionScorer, lexical_bags

# Tolerance, far above the average error of a product of 1/16.
NEAR = 5 / 16


def a_document(edus, seed, words=30):
    random = np.random.default_rng(seed)
    starts = np.concatenate([[0], random.integers(1, 9, size=edus - 1).cumsum()]).astype(np.int64)
    ids = random.zipf(1.4, size=starts[-1] + 5) % words
    return ids.astype(np.int64), starts


def cohesion_of(bags, openings, inner=4):
    torch.manual_seed(0)
    scorer = CohesionScorer(inner)
    for parameter in scorer.parameters():
        torch.nn.init.normal_(parameter)
    kinds = torch.as_tensor([*openings, 3])
    return scorer(torch.from_numpy(bags), kinds[:-1], kinds[1:], [len(bags)])


def test_products_are_those_of_bags_of_rare_words():
    ids, starts = a_document(40, seed=1)
    texts = [set(part.tolist()) for part in np.split(ids, starts[1:])]
    shares = Counter(word for text in texts for word in text)
    weights = {word: log(len(texts) / count) + 1e-3 for word, count in shares.items()}

    def size(text):
        return sum(weights[word] ** 2 for word in text) ** 0.5

    exact = np.array(
        [[sum(weights[word] ** 2 for word in a & b) / size(a) / size(b) for b in texts] for a in texts],
    )
    bags = lexical_bags(ids, starts)
    off = np.abs(bags @ bags.T - exact)
    assert bags.shape == (40, WIDTH)
    assert off.max() < NEAR
    assert off[~np.eye(40, dtype=bool)].mean() < WIDTH**-0.5
    np.testing.assert_allclose(np.diag(bags @ bags.T), 1.0, rtol=1e-5)


def test_parsing_imports_no_scipy():
    code = "import sys, discsum; discsum.parse('It rained, because the wind turned.'); print('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_a_word_has_one_direction_in_all_documents():
    alone = lexical_bags(np.array([7, 9]), np.array([0, 1]))
    among_others = lexical_bags(np.array([5, 9, 7, 11, 12]), np.array([0, 1, 2, 3, 4]))
    np.testing.assert_allclose(alone[0], among_others[2], rtol=1e-5)
    assert abs(alone[0] @ alone[1]) < NEAR
    assert sorted(np.unique(np.sign(alone))) == [-1, 1]


@pytest.mark.parametrize(
    ("ids", "starts"),
    [([4], [0]), ([4, 4, 4], [0, 1, 2]), ([4, 5], [0, 1, 1]), ([3, 4, 5], [1, 2])],
    ids=["one EDU", "one word in all", "a shared subword", "a subword before the first"],
)
def test_every_edu_has_a_vector(ids, starts):
    bags = lexical_bags(np.array(ids), np.array(starts))
    np.testing.assert_allclose(np.linalg.norm(bags, axis=1), 1.0, rtol=1e-5)


def test_bags_do_not_depend_on_pieces(monkeypatch):
    document = a_document(300, seed=2)
    whole = lexical_bags(*document)
    for size in (1, 7, 299, 300):
        monkeypatch.setattr(module, "PIECE", size)
        assert np.array_equal(lexical_bags(*document), whole)


def seen(cohesion, firsts, lasts):
    """Return the features and layout that a child's scorer is given, by first and last EDU."""
    firsts, lasts, found = torch.as_tensor(firsts), torch.as_tensor(lasts), []

    def child(features, layout):
        found.extend(value.view(*value.shape[:-1], len(firsts), len(lasts)) for value in (features[0], layout[0]))
        return torch.zeros(layout.shape)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CELLS", 10**9)
        replace(cohesion, children=(child, child)).left(firsts, lasts)
    return found[0].permute(1, 2, 0), found[1]


def mean_product(bags, some, others):
    pairs = [bags[a] @ bags[b] for a, b in product(some, others) if a != b]
    return sum(pairs) / len(pairs) if pairs else 0.0


def features_of(bags, openings, first, last):
    edus = len(bags)
    span, end = range(first, last + 1), last + 1
    found = [mean_product(bags, span, span)]
    for context in (*CONTEXTS, edus):
        found.append(mean_product(bags, span, range(end, min(edus, end + context))))
        found.append(mean_product(bags, range(max(0, first - context), first), span))
    for reach in REACHES:
        for border in (end, first):
            before, after = range(max(0, border - reach), border), range(border, min(edus, border + reach))
            found.append(mean_product(bags, before, after))
    everywhere = mean_product(bags, range(edus), range(edus))
    inside = openings[first + 1 : end]
    counts = [sum(opening >= 1 for opening in inside), sum(opening >= 2 for opening in inside)]
    lengths = [log(len(span)) / SCALE, *(log(1 + count) for count in counts)]
    return [(value - everywhere) * SCALE for value in found] + lengths


@pytest.mark.parametrize("edus", [1, 2, 3, 17])
def test_features_and_layout_of_every_span(edus):
    openings = np.random.default_rng(edus).integers(0, 4, size=edus)
    bags = lexical_bags(*a_document(edus, seed=edus)).astype(np.float32)
    cohesion = cohesion_of(bags, openings)
    every = torch.arange(edus)
    features, layout = seen(cohesion, every, every)
    assert features.shape == (edus, edus, FEATURES)
    after = [*openings[1:], 3]
    for first, last in product(range(edus), repeat=2):
        if first <= last:
            expected = features_of(bags, openings.tolist(), first, last)
            np.testing.assert_allclose(features[first, last], expected, atol=1e-3)
            strongest = max(openings[first + 1 : last + 1], default=0)
            assert layout[first, last] == openings[first] * 16 + after[last] * 4 + strongest


@pytest.fixture(scope="module")
def long_document():
    """Return the bags and openings of 3,000 EDUs."""
    openings = np.random.default_rng(0).integers(0, 4, size=3000)
    return lexical_bags(*a_document(3000, seed=3, words=500)), openings


@pytest.mark.parametrize(
    ("firsts", "lasts"),
    [
        (range(2900, 2990, 8), range(2905, 2995, 7)),
        ([0, *range(200, 3000, 200), 2999], [*range(199, 3000, 200), 2998, 2999]),
        ([2700, 2998, 2999], [2999]),
    ],
    ids=["neighbours", "sections and a last EDU", "right children of the whole"],
)
def test_spans_of_a_long_document(long_document, firsts, lasts):
    cohesion = cohesion_of(*long_document)
    features, layout = seen(cohesion, [*firsts], [*lasts])
    for row, first in enumerate(firsts):
        for column, last in enumerate(lasts):
            if first <= last:
                alone, opened = seen(cohesion, [first], [last])
                torch.testing.assert_close(features[row, column], alone[0, 0], atol=1e-2, rtol=1e-3)
                assert layout[row, column] == opened[0, 0]


def test_features_in_a_long_document():
    # More EDUs than are summed in float32.
    edus = 2 * module.NEAR
    openings = np.random.default_rng(0).integers(0, 4, size=edus)
    bags = lexical_bags(*a_document(edus, seed=3, words=500))
    alone, _ = seen(cohesion_of(bags, openings), [edus - 50], [edus - 40])
    np.testing.assert_allclose(alone[0, 0], features_of(bags, openings.tolist(), edus - 50, edus - 40), atol=2e-3)


@pytest.mark.parametrize("cells", [1, 9, 100])
def test_both_children_at_once(monkeypatch, cells):
    monkeypatch.setattr(module, "CELLS", cells)
    bags, openings = lexical_bags(*a_document(12, seed=9)), np.random.default_rng(9).integers(0, 4, size=12)
    cohesion = cohesion_of(bags, openings)
    firsts, lasts = torch.tensor([0, 1, 4, 9]), torch.tensor([0, 3, 8, 11])
    ((left,), (right,)) = cohesion.both(firsts[None], lasts[None])
    torch.testing.assert_close(left, cohesion.left(firsts, lasts))
    torch.testing.assert_close(right, cohesion.right(firsts, lasts))
    assert not left.tril(-1).any()
    assert left.diagonal().all()


def test_no_spans_at_all():
    cohesion = cohesion_of(lexical_bags(np.array([4]), np.array([0])), [3])
    none, one = torch.arange(0), torch.arange(1)
    assert cohesion.right(none, one).shape == (0, 1)
    assert cohesion.left(one, none).shape == (1, 0)


def test_it_begins_at_nothing_and_learns():
    bags, openings = lexical_bags(*a_document(8, seed=5)), torch.tensor([3, 0, 1, 0, 2, 1, 0, 3, 3])
    scorer = CohesionScorer(4)
    cohesion = scorer(torch.from_numpy(bags), openings[:-1], openings[1:], [8])
    every = torch.arange(8)
    left, right = cohesion.left(every, every), cohesion.right(every, every)
    assert not left.any()
    assert not right.any()
    (left.sum() + 2 * right.sum()).backward()
    assert all(child.output.weight.grad.any() and child.layout.weight.grad.any() for child in cohesion.children)
