"""Halves of a clause are selected together, labels with their turns; layout is not selected."""

import re

import numpy as np
import pytest

from discsum.baselines import baseline
from discsum.candidates import Candidates
from discsum.dependency import same_unit_groups
from discsum.document import Document, Span
from discsum.errors import InputError
from discsum.oracles import ORACLES, oracle_labels
from discsum.scoring import extract
from discsum.selection import Budget, Policy, select
from discsum.tree import RSTTree

# [Of the members] [who came] [half voted yes,] [because the plan is cheap.] [It rained.]
TEXTS = ("Of the members", "who came", "half voted yes,", "because the plan is cheap.", "It rained.")
TREE = RSTTree(
    5,
    [
        {"first": 0, "last": 4, "split": 3, "nuclearity": "NS", "relation": "elaboration-additional"},
        {"first": 0, "last": 3, "split": 2, "nuclearity": "NS", "relation": "causal-cause"},
        {"first": 0, "last": 2, "split": 1, "nuclearity": "NN", "relation": "same-unit"},
        {"first": 0, "last": 1, "split": 0, "nuclearity": "NS", "relation": "elaboration-attribute"},
    ],
)
DOCUMENT = Document.from_edu_texts(TEXTS, TREE)


def test_groups_are_the_heads_of_what_same_unit_connects():
    assert same_unit_groups(TREE).tolist() == [0, 1, 0, 3, 4]
    assert same_unit_groups(RSTTree(1)).tolist() == [0]


@pytest.mark.parametrize(
    ("relation", "inner", "groups"),
    [
        ("attribution-positive", "elaboration-additional", [0, 1, 0, 0, 4]),
        ("Attribution", "Elaboration", [0, 1, 0, 0, 4]),
        ("adversative-concession", "elaboration-additional", [0, 1, 2, 0, 4]),
    ],
)
def test_who_says_something_is_part_of_the_interrupted_clause(relation, inner, groups):
    # Ann, | who was tired, | said | it would rain | after noon.
    nodes = [
        {"first": 0, "last": 4, "split": 1, "nuclearity": "NN", "relation": "same-unit"},
        {"first": 0, "last": 1, "split": 0, "nuclearity": "NS", "relation": inner},
        {"first": 2, "last": 4, "split": 3, "nuclearity": "NS", "relation": inner},
        {"first": 2, "last": 3, "split": 2, "nuclearity": "SN", "relation": relation},
    ]
    assert same_unit_groups(RSTTree(5, nodes)).tolist() == groups
    right = [*nodes[:2], nodes[3] | {"last": 4}, nodes[2] | {"first": 3}]
    assert same_unit_groups(RSTTree(5, right)).tolist() == groups


def test_a_clause_that_begins_with_a_heading_costs_one_unit():
    text = "Mill News\n\nthe wheel stopped at noon because of ice. The river rose quickly after that night."
    parts = ("Mill News", "the wheel stopped at noon because of ice.", "The river rose quickly after that night.")
    spans = [Span(start := text.index(part), start + len(part)) for part in parts]
    nodes = [
        {"first": 0, "last": 2, "split": 1, "nuclearity": "NN", "relation": "joint-list"},
        {"first": 0, "last": 1, "split": 0, "nuclearity": "NN", "relation": "same-unit"},
    ]
    document = Document.from_spans(text, spans, spans, RSTTree(3, nodes))
    policy = Policy(Budget(units=1), "edu", layout="skip", dependencies=True)
    assert policy.candidates(document).unit_costs().tolist() == [0, 1, 1]
    assert select(document, [0.9, 0.8, 0.7], policy) == [1]


def test_groups_of_nested_clauses_are_one():
    nodes = [
        {"first": 0, "last": 3, "split": 2, "nuclearity": "NN", "relation": "same-unit"},
        {"first": 0, "last": 2, "split": 1, "nuclearity": "NN", "relation": "same-unit"},
        {"first": 0, "last": 1, "split": 0, "nuclearity": "NS", "relation": "elaboration-attribute"},
    ]
    assert same_unit_groups(RSTTree(4, nodes)).tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("best", [0, 2])
@pytest.mark.parametrize("dependencies", [True, False])
def test_whoever_selects_one_half_selects_both(best, dependencies):
    scores = np.eye(5)[best] + np.array([0, 0, 0, 0, 0.1])
    assert select(DOCUMENT, scores, Policy(Budget(units=1), "edu", dependencies=dependencies)) == [0, 2]
    # The halves have six words.
    rest = [4] if dependencies else [1, 4]
    assert select(DOCUMENT, scores, Policy(Budget(words=5), "edu", dependencies=dependencies)) == rest
    assert select(DOCUMENT, scores, Policy(Budget(words=6), "edu", dependencies=dependencies)) == [0, 2]


def test_what_depends_on_one_half_brings_both():
    policy = Policy(Budget(units=2), "edu", dependencies=True)
    assert select(DOCUMENT, np.eye(5)[1], policy) == [0, 1, 2]
    assert select(DOCUMENT, np.eye(5)[3], policy) == [0, 2, 3]


@pytest.mark.parametrize("name", ["lead", "random", "textrank", "marcu", "tree-knapsack", "ilp"])
@pytest.mark.parametrize(
    "budget", [*(Budget(units=units) for units in range(1, 6)), *(Budget(words=words) for words in range(1, 16))]
)
def test_no_baseline_takes_half_a_clause(name, budget):
    for dependencies in (True, False):
        found = {
            unit.index
            for unit in extract(DOCUMENT, baseline(name), Policy(budget, "edu", dependencies=dependencies)).selected
        }
        assert (0 in found) == (2 in found)


def test_labels_of_both_halves_agree():
    groups, heads = same_unit_groups(TREE), np.array([-1, 0, -1, 0, -1])
    for name in ORACLES:
        for words in ("members", "half voted", "members half", "plan is cheap", "who came", "rained"):
            labels = oracle_labels(name, TEXTS, words, 2, heads, groups)
            assert labels[0] == labels[2]
            assert labels.sum()
    assert oracle_labels("rouge12-f", TEXTS, "half voted yes", 1, groups=groups).tolist() == [1, 0, 1, 0, 0]


NOTE = """\
Plan for the bridge

By Rowan Ashdown

Anna:
The old span will close in May. Trucks must use the ford until then.

- new planks
- paint

Everyone agreed to start with the northern pier.
"""
SENTENCES = ("Plan for", "By Rowan", "Anna:", "The old", "Trucks", "- new", "- paint", "Everyone")


@pytest.fixture
def note():
    starts = [NOTE.index(words) for words in SENTENCES]
    spans = [Span(start, len(NOTE[:end].rstrip())) for start, end in zip(starts, [*starts[1:], len(NOTE)], strict=True)]
    return Document.from_spans(NOTE, spans, spans)


def test_layout_is_not_selected_and_a_label_comes_with_its_turn(note):
    assert note.layout == ("heading", "byline", "label", "body", "body", "list", "list", "body")
    falling = 1 - np.arange(8) / 8
    assert select(note, falling, Policy(Budget(units=2))) == [0, 1]
    assert select(note, falling, Policy(Budget(units=2), layout="skip")) == [2, 3, 4]
    assert select(note, falling, Policy(Budget(units=3), layout="skip")) == [2, 3, 4, 7]
    assert select(note, np.eye(8)[7], Policy(Budget(units=1), layout="skip")) == [7]
    # The label's word counts once: 1 + 7 + 7.
    assert select(note, np.eye(8)[3], Policy(Budget(words=15), layout="skip")) == [2, 3, 4]
    assert select(note, np.eye(8)[3], Policy(Budget(words=14), layout="skip")) == [2, 3]


def test_a_text_without_prose_is_allowed_as_a_whole():
    spans = [Span(0, 2), Span(3, 7)]
    numbers = Document.from_spans("12 3456", spans, spans)
    assert select(numbers, [0, 1], Policy(Budget(units=1), layout="skip")) == [1]
    listed = Document.from_spans("Buy:\n- milk\n- two eggs", [Span(0, 4), Span(5, 11), Span(12, 22)], [])
    assert listed.layout[2] == "list"
    assert select(listed, [2, 1, 0], Policy(Budget(units=1), layout="skip"))[0] > 0


def test_an_unknown_layout_is_refused():
    with pytest.raises(InputError, match="layout: expected skip or keep, got 'drop'"):
        Policy(Budget(units=1), layout="drop")


def test_unit_costs():
    assert Candidates.of(DOCUMENT, "edu").unit_costs().tolist() == [1, 1, 0, 1, 1]


@pytest.mark.parametrize("model", ["lead", "tree-knapsack", "ilp"])
def test_labels_of_turns_are_no_summary_where_there_is_no_prose(model):
    text = "Anna: Yes.\nBob: No.\nAnna: Ok.\nBob: Sure."
    spans = [Span(found.start(), found.end()) for found in re.finditer(r"\S+", text)]
    document = Document.from_spans(text, spans, spans, RSTTree(8, chain(8)))
    for unit in ("sentence", "edu"):
        candidates = Candidates.of(document, unit, skip_layout=True)
        assert candidates.allowed.tolist() == [False, True] * 4
        assert candidates.unit_costs().tolist() == [0, 1] * 4
        summary = extract(document, baseline(model), Policy(Budget(units=1), unit, layout="skip"))
        assert [one.text for one in summary.selected if one.text.endswith(".")] != []
        assert len([one for one in summary.selected if not one.text.endswith(":")]) == 1


def chain(edus):
    """Return the nodes of a right-branching tree."""
    return [
        {"first": first, "last": edus - 1, "split": first, "nuclearity": "NS", "relation": "elaboration-additional"}
        for first in range(edus - 1)
    ]
