import itertools
import tracemalloc

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.preprocessing import normalize
from small_trees import document_of, every_tree, random_tree

import discsum
from discsum.baselines import BASELINES, baseline
from discsum.baselines.textrank import page_rank
from discsum.baselines.tree_knapsack import best_rooted_subtree, term_weights
from discsum.candidates import Candidates
from discsum.dependency import edu_heads
from discsum.document import Document
from discsum.errors import InputError, WeightsError
from discsum.experiments.systems import extractive_system
from discsum.promotion import promotion_depths
from discsum.scoring import UnitScorer, extract
from discsum.selection import Budget, Policy
from discsum.tree import RSTTree

SENTENCES = [
    ["The harbour froze", "because the wind turned north."],
    ["Boats stayed in the harbour", "while the wind blew", "and the crews waited."],
    ["Gulls left."],
    ["The crews mended nets in the harbour."],
]


@pytest.fixture
def document():
    return document_of(SENTENCES, random_tree(7, 3))


@pytest.mark.parametrize("name", list(BASELINES))
@pytest.mark.parametrize("unit", ["sentence", "edu"])
@pytest.mark.parametrize("budget", [Budget(units=2), Budget(words=8), Budget(ratio=0.4)])
def test_every_baseline_takes_the_same_path(document, name, unit, budget):
    scorer = baseline(name)
    assert scorer.name == name
    summary = extract(document, scorer, Policy(budget, unit))
    assert summary.model == name
    assert len(summary.scores) == len(document.units(unit))
    costs, capacity = budget.costs(document, unit, Candidates.of(document, unit))
    chosen = [entry.index for entry in summary.selected]
    assert chosen == sorted(chosen) and chosen
    assert len(chosen) == 1 or costs[chosen].sum() <= capacity
    assert extract(document, scorer, Policy(budget, unit)) == summary


@pytest.mark.parametrize("name", list(BASELINES))
@pytest.mark.parametrize("unit", ["sentence", "edu"])
def test_empty_and_one_unit_documents(name, unit):
    empty = extract(Document(""), baseline(name), Policy(Budget(units=1), unit))
    assert (empty.text, empty.scores) == ("", ())
    single = document_of([["Of the and."]], RSTTree(1))
    assert extract(single, baseline(name), Policy(Budget(words=1), unit)).text == "Of the and."


def test_unknown_names_and_missing_trees():
    with pytest.raises(InputError, match=r"ilp, lead, marcu, .*, tree-knapsack.*, got 'lede' \(did you mean lead\?\)"):
        baseline("lede")
    for name in ("ilp", "marcu", "tree-knapsack"):
        with pytest.raises(InputError, match=f"{name}: expected .* discourse tree"):
            extract(document_of(SENTENCES), baseline(name), Policy(Budget(units=1)))


def test_given_scores_are_used(document):
    summary = extract(document, baseline("lead"), Policy(Budget(units=1)), scores=[0, 0, 5, 0])
    assert summary.text == "Gulls left."


def test_lead(document):
    assert extract(document, baseline("lead"), Policy(Budget(units=2))).lines == (
        "The harbour froze because the wind turned north.",
        "Boats stayed in the harbour while the wind blew and the crews waited.",
    )


class EduOnly(UnitScorer):
    """Gives a list, and scores EDUs only."""

    name, unit = "edu-only", "edu"

    def score(self, document, unit):
        assert unit == "edu"
        return [1] * len(document.edus)


def test_baselines_of_ones_own(document, monkeypatch):
    monkeypatch.setattr(BASELINES, "registered", dict(BASELINES.registered))
    BASELINES.register("edu-only", EduOnly)
    BASELINES.register("no-scorer", dict)
    with pytest.raises(InputError, match=r"no-scorer: expected a baseline that makes a .*UnitScorer, got \{\}"):
        baseline("no-scorer")
    BASELINES.register("with-text", lambda text: None)
    with pytest.raises(InputError, match=r"with-text: expected a baseline that takes no arguments, got .*: missing a"):
        baseline("with-text")
    with pytest.raises(InputError, match=r"random: expected a baseline that takes the options nope, got .*got an "):
        baseline("random", nope=1)
    BASELINES.register("no-score", type("NoScore", (UnitScorer,), {"name": "no-score"}))
    with pytest.raises(InputError, match=r"no-score: expected a baseline with all methods .*, got one without score"):
        baseline("no-score")
    for dependencies in (None, True, False):
        assert discsum.summarize(document, model="edu-only", units=1, dependencies=dependencies).unit == "edu"
    with pytest.raises(WeightsError, match="edu-only: expected a model that scores units of the kind sentence"):
        discsum.summarize(document, model="edu-only", unit="sentence")


class Given(UnitScorer):
    name = "given"

    def __init__(self, scores, selected=None):
        self.given, self.selected = scores, selected

    def score(self, document, unit):
        return self.given(len(document.units(unit)))

    def select(self, document, scores, policy, *, own=True):
        return self.selected


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (lambda units: [np.nan] * units, "got NaN for"),
        (lambda units: [1.0], r"got shape \(1,\)"),
        (lambda units: torch.ones(units, requires_grad=True), "got Can't call numpy"),
        (lambda units: None, r"got shape \(\)|got float\(\) argument"),
    ],
)
def test_scores_that_are_none_name_model_and_document(document, scores, message):
    with pytest.raises(InputError, match=rf"{document.label}.*: given: expected a number for each of .*{message}"):
        discsum.summarize(document, model=Given(scores), units=1)


def test_a_selection_of_nothing_names_the_model(document):
    with pytest.raises(TypeError, match="given: expected select to return the indices of units, got NoneType"):
        discsum.summarize(document, model=Given(np.ones), units=1)


def test_a_seed_is_signed():
    policy = Policy(Budget(units=2))
    signatures = [str(extractive_system("r", baseline("random", seed=seed), policy).signature) for seed in (0, 9)]
    assert ["|seed:0|" in signatures[0], "|seed:9|" in signatures[1]] == [True, True]


def test_random_depends_on_seed_and_text_alone(document):
    scores = baseline("random", seed=1).score(document, "edu")
    assert np.array_equal(scores, baseline("random", seed=1).score(document, "edu"))
    assert not np.array_equal(scores, baseline("random", seed=2).score(document, "edu"))
    other = document_of([[edu + " Yes" for edu in sentence] for sentence in SENTENCES])
    assert not np.array_equal(scores, baseline("random", seed=1).score(other, "edu"))


def test_textrank_prefers_the_unit_that_shares_most(document):
    scores = baseline("textrank").score(document, "sentence")
    assert scores.sum() == pytest.approx(1)
    assert scores.argmax() == 1 and scores.argmin() == 2


def slow_promotion(nested, sets, depth=0):
    """Return a node's promotion set, noting in `sets` every promotion set with its node's depth."""
    if isinstance(nested, int):
        promoted = {nested}
    else:
        children = [slow_promotion(child, sets, depth + 1) for child in nested[1:]]
        promoted = set().union(*(own for own, role in zip(children, nested[0], strict=True) if role == "N"))
    sets.append((depth, promoted))
    return promoted


@pytest.mark.parametrize("edus", range(1, 7))
def test_promotion_of_every_small_tree(edus):
    for nested, tree in every_tree(edus):
        sets = []
        slow_promotion(nested, sets)
        expected = [min(depth for depth, own in sets if edu in own) for edu in range(edus)]
        assert promotion_depths(tree).tolist() == expected, nested


def test_marcu_sentence_scores_are_those_of_the_best_edu(document):
    edus, sentences = (baseline("marcu").score(document, unit) for unit in ("edu", "sentence"))
    assert edus.max() == 1
    assert sentences.tolist() == [edus[:2].max(), edus[2:5].max(), edus[5], edus[6]]


def exhaustive(heads, weights, costs, capacity):
    root = int(np.flatnonzero(heads == np.arange(len(heads)))[0])
    best = weights[root]
    for size in range(1, len(heads) + 1):
        for chosen in itertools.combinations(range(len(heads)), size):
            fits = sum(costs[list(chosen)]) <= capacity
            if root in chosen and fits and all(heads[unit] in chosen for unit in chosen):
                best = max(best, sum(weights[list(chosen)]))
    return best


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(0, 10**6), st.integers(1, 40))
def test_knapsack_equals_exhaustive_search(edus, seed, capacity):
    generator = np.random.default_rng(seed)
    heads = edu_heads(random_tree(edus, seed))
    weights, costs = generator.uniform(0, 5, edus), generator.integers(1, 12, edus)
    chosen = best_rooted_subtree(heads, weights, costs, capacity)
    assert all(heads[unit] in chosen for unit in chosen)
    assert costs[chosen].sum() <= capacity or len(chosen) == 1
    assert weights[chosen].sum() == pytest.approx(exhaustive(heads, weights, costs, capacity), abs=1e-6)


def solver(heads, weights, costs, capacity):
    """Return the optimum found by SciPy's solver of integer programs."""
    root = heads == np.arange(len(heads))
    tree = (np.eye(len(heads)) - np.eye(len(heads))[heads])[~root]
    constraints = [LinearConstraint(costs[None, :], -np.inf, capacity)]
    if len(tree):
        constraints.append(LinearConstraint(tree, -np.inf, 0))
    whole, bounds, exact = np.ones(len(heads)), Bounds(root, 1), {"mip_rel_gap": 0}
    return -milp(-weights, integrality=whole, bounds=bounds, constraints=constraints, options=exact).fun


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 80), st.integers(0, 10**6), st.integers(12, 400))
def test_knapsack_equals_the_integer_program(edus, seed, capacity):
    generator = np.random.default_rng(seed)
    heads = edu_heads(random_tree(edus, seed))
    weights, costs = generator.uniform(0, 5, edus), generator.integers(1, 12, edus)
    chosen = best_rooted_subtree(heads, weights, costs, capacity)
    assert all(heads[unit] in chosen for unit in chosen)
    assert costs[chosen].sum() <= capacity
    assert weights[chosen].sum() == pytest.approx(solver(heads, weights, costs, capacity), rel=1e-6)


def test_knapsack_of_long_chains():
    heads = np.maximum(np.arange(3000) - 1, 0)
    assert best_rooted_subtree(heads, np.ones(3000), np.full(3000, 2), 1001) == list(range(500))
    weights = np.where(np.arange(3000) == 2999, 5.0, -1e-6)
    assert best_rooted_subtree(heads, weights, np.ones(3000, dtype=np.int64), 2999) == [0]
    assert best_rooted_subtree(heads, weights, np.ones(3000, dtype=np.int64), 3000) == list(range(3000))


@pytest.mark.parametrize("leaves", [False, True])
def test_knapsack_refuses_what_takes_too_much_memory(leaves, monkeypatch):
    """A chain needs few rows at once; a chain with a leaf after each node's subtree needs one for each node."""
    count, capacity = 2000, 4000
    heads = np.maximum(np.arange(count) - 1, 0)
    if leaves:
        heads = np.where(np.arange(count) < count // 2, heads, count - 1 - np.arange(count))
    arguments = heads, np.ones(count), np.full(count, 3), capacity
    tracemalloc.start()
    best_rooted_subtree(*arguments)
    taken = tracemalloc.get_traced_memory()[1] >> 20
    tracemalloc.stop()
    assert taken == (31 if leaves else 1)
    monkeypatch.setattr("discsum.baselines.tree_knapsack.MOST_BYTES", 0)
    with pytest.raises(
        InputError, match=f"got 2,000 units and a limit of 4,000, which take {taken} MiB; choose a lower"
    ):
        best_rooted_subtree(*arguments)


def test_term_weights():
    # tf: harbour 2, froze 1; "the" is a stop word, and a word counts once per unit.
    expected = [np.log(3) + np.log(2), np.log(3), 0.0]
    assert term_weights(("The harbour froze", "harbour the", "of the")).tolist() == pytest.approx(expected)


def test_tree_knapsack_selects_by_itself(document):
    scorer = baseline("tree-knapsack")
    assert (scorer.own_selection, baseline("lead").own_selection) == (True, False)
    with pytest.raises(InputError, match="block_trigrams: cannot be used with tree-knapsack"):
        scorer.complete(Policy(Budget(units=2), block_trigrams=True))
    for scores in ([0.5], [np.nan] * len(document.sentences)):
        with pytest.raises(InputError, match="expected a number for each of"):
            extract(document, scorer, Policy(Budget(units=2)), scores=scores)
    summary = extract(document, scorer, Policy(Budget(units=3), "edu", dependencies=True))
    heads = edu_heads(document.tree)
    chosen = [entry.index for entry in summary.selected]
    assert len(chosen) == 3 and all(heads[edu] in chosen for edu in chosen)


@pytest.mark.parametrize("options", [{"units": 2}, {"words": 14}, {"unit": "edu", "units": 3}])
def test_the_knapsack_brings_the_labels_of_turns_within_its_budget(options):
    chat = (
        "Anna: The ferry leaves at nine tomorrow because of the storm.\n"
        "Ben: Then we should pack the boxes tonight and sleep on board.\n"
        "Anna: The captain asked for the papers before eight.\n"
    )
    summary = discsum.summarize(chat, model="tree-knapsack", **options)
    assert summary.lines[0].startswith("Anna: ") and not any(line.endswith(":") for line in summary.lines)
    assert len(summary.text.split()) <= options.get("words", 100)


@pytest.mark.parametrize("seed", range(20))
def test_page_rank_is_that_of_networkx(seed):
    generator = np.random.default_rng(seed)
    sizes = int(generator.integers(1, 40)), 30
    vectors = normalize(sparse.random(*sizes, density=generator.uniform(0.01, 0.3), random_state=seed, format="csr"))
    graph = networkx.from_scipy_sparse_array(sparse.triu(vectors @ vectors.T, k=1, format="csr"))
    expected = networkx.pagerank(graph, alpha=0.85, max_iter=1000)
    np.testing.assert_allclose(page_rank(vectors), [expected[index] for index in range(sizes[0])], atol=1e-12)


def test_units_that_cost_nothing_fit_a_budget_that_is_spent():
    heads, weights = np.array([0, 0, 1]), np.array([6.0, 5.0, -1.0])
    assert best_rooted_subtree(heads, weights, np.array([0, 0, 0]), 0) == [0, 1]
    assert best_rooted_subtree(heads, weights, np.array([2, 0, 3]), 2) == [0, 1]


def test_random_seeds_are_natural_numbers():
    for seed in (-1, 0.5, True):
        with pytest.raises(InputError, match="seed: expected a whole number of at least 0"):
            baseline("random", seed=seed)
