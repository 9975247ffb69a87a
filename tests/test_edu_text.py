"""Tidy summaries: parts of a sentence around EDUs that are left out."""

from dataclasses import replace

import pytest
from small_trees import document_of

from discsum.summary import Summary
from discsum.tidying import Gap, before_gap
from discsum.tree import Node, RSTTree


@pytest.mark.parametrize(
    ("edus", "nuclearity", "tidy"),
    [
        (["The mill runs,", "which is rare,", "and sells flour."], "NN", "The mill runs, and sells flour."),
        (["The mill runs", "as it did", "and sells flour."], "NN", "The mill runs and sells flour."),
        (["She got up", "as it rained", "went out."], "NN", "She got up, went out."),
        (["We left", "(so to say),", "because it rained."], "NS", "We left, because it rained."),
        (["We left:", "so to say", "because it rained."], "NS", "We left because it rained."),
        (["We left", "so to say", "The rain fell."], "NN", "We left. The rain fell."),
        (["Some grew,", "as ever,", "yet most sank."], "NN", "Some grew, yet most sank."),
        (["Ina left,", "as ever,", "nothing else happened."], "NS", "Ina left. Nothing else happened."),
        (["Ina left", "as ever", "on Monday."], "NS", "Ina left on Monday."),
        (["Ina asked", "as ever", "whether it rained."], "NS", "Ina asked. Whether it rained."),
    ],
)
def test_tidy_joins_later_parts_that_continue_a_sentence(edus, nuclearity, tidy):
    nodes = [Node(0, 2, 1, nuclearity, "joint-list"), Node(0, 1, 0, "NS", "elaboration-additional")]
    document = document_of([edus], RSTTree(3, nodes))
    assert Summary.from_indices(document, "edu", "test", [0] * 3, [0, 2], tidy=True).text == tidy
    plain = Summary.from_indices(document, "edu", "test", [0] * 3, [0, 2]).text
    assert plain == f"{edus[0]} {edus[2]}"


def test_tidy_does_not_join_a_part_that_belongs_to_what_follows_or_to_an_earlier_sentence():
    edus = ["The mill closed", "so to say", "as it rained,", "the miller left."]
    nodes = [
        Node(0, 3, 1, "NN", "joint-list"),
        Node(0, 1, 0, "NS", "elaboration-additional"),
        Node(2, 3, 2, "SN", "context-circumstance"),
    ]
    document = document_of([edus], RSTTree(4, nodes))
    text = Summary.from_indices(document, "edu", "test", [0] * 4, [0, 2, 3], tidy=True).text
    assert text == "The mill closed. As it rained, the miller left."
    edus = ["The mill closed,", "Ann said,", "she left", "as I heard,", "and sells flour."]
    nodes = [
        Node(0, 4, 3, "NN", "joint-list"),
        Node(0, 3, 0, "NN", "joint-list"),
        Node(1, 3, 1, "NN", "joint-list"),
        Node(2, 3, 2, "NS", "attribution-positive"),
    ]
    document = document_of([edus], RSTTree(5, nodes))
    text = Summary.from_indices(document, "edu", "test", [0] * 5, [0, 2, 4], tidy=True).text
    assert text == "The mill closed. She left. And sells flour."


def test_no_comma_divides_a_clause_that_began_earlier_from_its_verb():
    nodes = [
        Node(0, 3, 2, "NN", "same-unit"),
        Node(0, 2, 0, "NS", "elaboration-attribute"),
        Node(1, 2, 1, "NN", "joint-list"),
    ]
    document = document_of([["A woman", "who came", "and said so", "later told us."]], RSTTree(4, nodes))
    text = Summary.from_indices(document, "edu", "test", [0] * 4, [0, 1, 3], tidy=True).text
    assert text == "A woman who came later told us."


def test_tidy_joins_a_reported_clause_to_its_attribution():
    nodes = [Node(0, 2, 1, "SN", "attribution-positive"), Node(0, 1, 0, "NS", "elaboration-attribute")]
    document = document_of([["The minister denied", "in Oslo,", "that the mill closed."]], RSTTree(3, nodes))
    for indices, text in (
        ([0, 2], "The minister denied, that the mill closed."),
        ([2], "The mill closed."),
        ([1, 2], "In Oslo, that the mill closed."),
    ):
        assert Summary.from_indices(document, "edu", "test", [0] * 3, indices, tidy=True).text == text
    document = document_of([["The minister denied it", "in Oslo."], ["The mill closed."]], RSTTree(3, nodes))
    for indices, text in (
        ([0, 2], "The minister denied it. The mill closed."),
        ([0, 1, 2], "The minister denied it in Oslo. The mill closed."),
    ):
        assert Summary.from_indices(document, "edu", "test", [0] * 3, indices, tidy=True).text == text


def test_joining_thousands_of_parts():
    count = 4_001
    edus = ["The mill ran for hours,"] + ["and the mill ran for hours,"] * (count - 1)
    nodes = [Node(0, last, last - 1, "NN", "joint-list") for last in range(count - 1, 0, -1)]
    document = document_of([edus], RSTTree(count, nodes))
    text = Summary.from_indices(document, "edu", "test", [0] * count, range(0, count, 2), tidy=True).text
    assert text == ", ".join(["The mill ran for hours"] + ["and the mill ran for hours"] * (count // 2)) + "."


def test_tidy_does_not_join_a_part_whose_head_is_left_out():
    edus = ["The mill burned", "and two men died", "as it fell", "or fled."]
    nodes = [
        Node(0, 3, 0, "NN", "joint-list"),
        Node(1, 3, 1, "NS", "elaboration-additional"),
        Node(2, 3, 2, "NN", "joint-list"),
    ]
    document = document_of([edus], RSTTree(4, nodes))
    for indices, text in (
        ([0, 2], "The mill burned. As it fell."),
        ([0, 3], "The mill burned. Or fled."),
        ([0, 2, 3], "The mill burned. As it fell or fled."),
        ([0, 1, 3], "The mill burned and two men died. Or fled."),
    ):
        assert Summary.from_indices(document, "edu", "test", [0] * 4, indices, tidy=True).text == text
    alone = Summary.from_indices(document_of([edus]), "edu", "test", [0] * 4, [0, 2], tidy=True)
    assert alone.text == "The mill burned. As it fell."


def test_tidy_joins_an_interrupted_clause():
    nodes = [
        {"first": 0, "last": 2, "split": 1, "nuclearity": "NN", "relation": "same-unit"},
        {"first": 0, "last": 1, "split": 0, "nuclearity": "NS", "relation": "elaboration-attribute"},
    ]
    edus = ["The wall,", "which was old,", "broke in May,"]
    document = document_of([edus], RSTTree(3, nodes))
    for indices, text in (
        ([0, 2], "The wall broke in May."),
        ([0], "The wall."),
        ([1, 2], "Which was old, broke in May."),
    ):
        assert Summary.from_indices(document, "edu", "test", [0] * 3, indices, tidy=True).text == text
    assert Summary.from_indices(document, "edu", "test", [0] * 3, [0, 2]).text == "The wall, broke in May,"
    for first, second in (("Anna Berg, 45,", "was praised"), ("After that day,", "the wall broke")):
        document = document_of([[first, "which was long,", second]], RSTTree(3, nodes))
        text = Summary.from_indices(document, "edu", "test", [0] * 3, [0, 2], tidy=True).text
        assert text == f"{first} {second}."
    # Only one of the two EDUs between the parts is selected.
    nodes = [
        {"first": 0, "last": 3, "split": 2, "nuclearity": "NN", "relation": "same-unit"},
        {"first": 0, "last": 2, "split": 0, "nuclearity": "NS", "relation": "elaboration-attribute"},
        {"first": 1, "last": 2, "split": 1, "nuclearity": "NN", "relation": "joint-list"},
    ]
    document = document_of([["The wall,", "which was old", "and low,", "broke in May,"]], RSTTree(4, nodes))
    for indices, text in (
        ([0, 1, 3], "The wall, which was old, broke in May."),
        ([0, 2, 3], "The wall, and low, broke in May."),
    ):
        assert Summary.from_indices(document, "edu", "test", [0] * 4, indices, tidy=True).text == text


@pytest.mark.parametrize(
    ("words", "omitted", "closed"),
    [
        ('"We did not choose this', ' because we like the view," ', '"We did not choose this,"'),
        ("“We left,", " because it rained!” ", "“We left!”"),
        ('"We left,"', ' and "it rained" ', '"We left,"'),
        ("We left", ' because "it rained" ', "We left"),
        ('"We left', " because it rained ", '"We left'),
        ('"We measured', ' because the 5" pipe broke, ', '"We measured,'),
        ('"We measured', ' because the 5" pipe broke ', '"We measured'),
        ("The handy (or dull", " as some say) ", "The handy (or dull)"),
        ("The handy (or dull", " (as some say) ", "The handy (or dull"),
        ("In an order", " that was signed in May, ", "In an order,"),
        ("In May, but", " as some say, ", "In May, but"),
        ("In May, and that", " as some say, ", "In May, and that"),
        ('He called it "the old mill', ' that stood by the river" ', 'He called it "the old mill"'),
        ('"We left', ' because it rained," he said, "and snowed," ', '"We left,"'),
        ("The mill (which (as ever) is old", " or new), ", "The mill (which (as ever) is old)"),
        ("She left —", " as I said — ", "She left —"),
        ('"The mill,', ' which its owner," she said, "never repaired, ', '"The mill,'),
        ("“The mill,", " which “Anna” built, ", "“The mill,"),
        ('"Stay!', ' because it rains," ', '"Stay!"'),
        ('"We like the U.S.', ' because it is warm," ', '"We like the U.S.,"'),
    ],
)
def test_a_quotation_that_ends_between_two_parts_is_closed(words, omitted, closed):
    assert before_gap(words, "", Gap(words, omitted, "", continued=False)) == closed


def test_a_quotation_is_closed_before_a_part_of_the_same_clause():
    parts = ['"We did not choose this', 'because we like the view,"', "said the mayor."]
    nodes = [Node(0, 2, 1, "NN", "same-unit"), Node(0, 1, 0, "NS", "causal-cause")]
    document = replace(document_of([parts]), tree=RSTTree(3, nodes))
    summary = Summary.from_indices(document, "edu", "test", [0] * 3, [0, 2], tidy=True)
    assert summary.text == '"We did not choose this," said the mayor.'
