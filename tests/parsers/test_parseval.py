"""Scores worked out by hand."""

from dataclasses import replace
from importlib.metadata import version

import pytest
from small_trees import document_of, random_tree

from discsum.document import Document, Span
from discsum.errors import InputError
from discsum.parsers.parseval import Counts, parseval, segmentation
from discsum.relation_classes import RelationClasses
from discsum.tree import Node, RSTTree


def over_words(*nodes, id="toy"):
    """Return a document of one sentence whose EDUs are single words."""
    return document_of([["one", "two", "three", "four"]], RSTTree(4, [Node(*node) for node in nodes]), id)


GOLD = over_words(
    (0, 3, 1, "NS", "elaboration-additional"),
    (0, 1, 0, "NN", "joint-list"),
    (2, 3, 2, "SN", "context-background"),
)
# Spans 0-3 and 2-3 are correct; of these, only the root has the correct nuclearity, and both the relation class.
FOUND = over_words(
    (0, 3, 0, "NS", "elaboration-attribute"),
    (1, 3, 1, "NN", "joint-other"),
    (2, 3, 2, "NS", "context-circumstance"),
)


def figures(scores):
    return scores.span, scores.nuclearity, scores.relation, scores.full


def test_original_parseval():
    assert figures(parseval([GOLD], [FOUND])) == pytest.approx((200 / 3, 100 / 3, 200 / 3, 100 / 3))


def test_rst_parseval():
    # Gold: 0-1 N span, 2-3 S elaboration, 0 N joint, 1 N joint, 2 S context, 3 N span.
    # Found: 0 N span, 1-3 S elaboration, 1 N joint, 2-3 N joint, 2 N span, 3 S context.
    assert figures(parseval([GOLD], [FOUND], rst=True)) == pytest.approx((500 / 6, 200 / 6, 100 / 6, 100 / 6))


@pytest.mark.parametrize("key", ["start", "end"])
@pytest.mark.parametrize("rst", [False, True])
def test_over_gold_edus_both_keys_agree_and_identity_is_all(key, rst):
    documents = [document_of([[f"word{index}" for index in range(n)]], random_tree(n, n)) for n in (1, 2, 7, 40)]
    assert figures(parseval(documents, documents, key=key, rst=rst)) == (100, 100, 100, 100)
    assert figures(parseval([GOLD], [FOUND], key=key, rst=rst)) == figures(parseval([GOLD], [FOUND], rst=rst))


def predicted_edus():
    """Return gold `[one two] [three] [four]` and the prediction `[one] [two] [three four]`, both left-branching."""
    text = "one two three four"
    tree = RSTTree(3, [Node(0, 2, 1, "NS", "causal-cause"), Node(0, 1, 0, "NN", "joint-list")])
    whole = [Span(0, 18)]
    gold = Document.from_spans(text, whole, [Span(0, 7), Span(8, 13), Span(14, 18)], tree)
    found = Document.from_spans(text, whole, [Span(0, 3), Span(4, 7), Span(8, 18)], tree)
    return [gold], [found]


def test_predicted_edus_by_the_start_of_the_first():
    # Gold 0-18 and 0-13, found 0-18 and 0-7.
    assert figures(parseval(*predicted_edus())) == (50, 50, 50, 50)


def test_predicted_edus_by_the_end_of_the_first():
    # Gold 7-18 and 7-13, found 3-18 and 3-7.
    assert figures(parseval(*predicted_edus(), key="end")) == (0, 0, 0, 0)


def test_predicted_edus_with_rst_parseval():
    # Gold 0-13 N, 14-18 S, 0-7 N, 8-13 N; found 0-7 N, 8-18 S, 0-3 N, 4-7 N; 0-7 has different relations.
    assert figures(parseval(*predicted_edus(), rst=True)) == (25, 25, 0, 0)


def test_documents_are_micro_averaged():
    pair = document_of([["one", "two"]], RSTTree(2, [Node(0, 1, 0, "NN", "joint-list")]))
    # 2 of 3 and 1 of 1.
    assert parseval([GOLD, pair], [FOUND, pair]).span == pytest.approx(75)


def test_a_missing_tree_costs_recall():
    bare = document_of([["one", "two", "three", "four"]])
    assert figures(parseval([GOLD], [bare])) == (0, 0, 0, 0)


def test_same_unit_is_a_class_of_its_own():
    def pair(relation):
        return [document_of([["one", "two"]], RSTTree(2, [Node(0, 1, 0, "NN", relation)]))]

    assert parseval(pair("same-unit"), pair("same-unit")).relation == 100
    assert parseval(pair("same-unit"), pair("joint-list")).relation == 0
    assert parseval(pair("joint-other"), pair("joint-list")).relation == 100


def test_signatures_say_what_was_measured():
    key = "key:start-of-first+end-of-last|average:micro|relations:classes|same-unit:counted"
    gold = f"method:parseval|edus:gold|sentences:gold|{key}"
    assert str(parseval([GOLD], [FOUND]).signature) == f"{gold}|docs:1|version:{version('discsum')}"
    raw = str(parseval(*predicted_edus(), key="end", rst=True).signature)
    assert raw.startswith("method:rst-parseval|edus:predicted|sentences:gold|key:end-of-first+end-of-last|")


def test_other_texts_are_refused():
    said = "and marks such as -LRB-; after 'onetwo' the gold text has 'threefour', the other 'the end'"
    wanted = "toy: expected a prediction over the same text as the gold tree, apart from white space"
    with pytest.raises(InputError, match=f"{wanted} {said}"):
        parseval([GOLD], [document_of([["one", "two"]])])


@pytest.mark.parametrize("key", ["start", "end"])
def test_texts_may_differ_in_white_space(key):
    """Formats keep white space differently."""
    edus = [Span(2, 5), Span(7, 10), Span(12, 17), Span(18, 22)]
    wide = Document.from_spans("  one\n\ntwo  three four", [Span(2, 22)], edus, FOUND.tree)
    scores = parseval([GOLD], [wide], key=key)
    assert figures(scores) == figures(parseval([GOLD], [FOUND], key=key))
    assert "edus:gold|sentences:gold" in str(scores.signature)
    assert segmentation([GOLD], [wide]).f1 == 100


def test_texts_may_have_brackets_and_quotes_of_the_penn_treebank():
    gold = document_of([["He said", '"so" (twice)', "and left [then]."]], None)
    other = document_of([["He said", "`` so '' -LRB-twice-RRB-", "and left -LSB-then-RSB-."]], None)
    gold, other = (
        replace(one, tree=RSTTree(3, [Node(0, 2, 0, "NS", "x"), Node(1, 2, 1, "NN", "y")])) for one in (gold, other)
    )
    assert figures(parseval([gold], [other])) == (100,) * 4
    assert segmentation([other], [gold]).f1 == 100
    single = document_of([["He said", '`` so " (twice)', "and left [then]."]], None)
    assert segmentation([gold], [single]).f1 == 100
    assert segmentation([document_of([["He said 'so'."]])], [document_of([["He said ` so '."]])]).f1 == 100
    with pytest.raises(InputError, match=r"marks such as -LRB-; after .* the gold text has 'twice.*the other 'once!"):
        parseval([gold], [replace(other, text=other.text.replace("twice", "once!"))])


def test_segmentation():
    gold = document_of([["one", "two"], ["three"], ["four five"]])
    found = Document.from_spans(gold.text, [Span(0, 13), Span(14, 23)], [Span(0, 7), Span(8, 18), Span(19, 23)])
    assert gold.text == "one two three four five"
    # Inside the text gold EDUs start at 4, 8, 14 and found ones at 8, 19.
    scores = segmentation([gold], [found])
    assert (scores.precision, scores.recall, scores.f1) == pytest.approx((50, 100 / 3, 40))
    # Gold sentences start at 8 and 14, found ones at 14.
    scores = segmentation([gold], [found], "sentence")
    assert (scores.precision, scores.recall, scores.f1) == pytest.approx((100, 50, 200 / 3))
    found = "method:segmentation|unit:sentence|starts:inside+exact|average:micro|docs:1"
    assert str(scores.signature) == f"{found}|version:{version('discsum')}"


def test_a_document_without_predicted_borders_has_no_precision():
    gold = document_of([["one", "two"]])
    scores = segmentation([gold], [Document.from_spans(gold.text, [Span(0, 7)], [Span(0, 7)])])
    assert (scores.precision, scores.recall, scores.f1) == (0, 0, 0)


def test_segmentation_of_nothing():
    single = document_of([["one"]])
    scores = segmentation([single], [single])
    assert (scores.precision, scores.recall, scores.f1) == (100, 100, 100)


def test_counts_add_up():
    assert Counts(4, 2, 1) + Counts(2, 2, 2) == Counts(6, 4, 3)
    assert Counts(6, 4, 3).f1 == 60


def test_what_cannot_be_scored():
    bare, other = replace(GOLD, tree=None), replace(GOLD, id="other")
    with pytest.raises(InputError, match="toy: expected a gold tree over 4 EDUs, got none"):
        parseval([bare], [GOLD])
    for score in (parseval, segmentation):
        for wrong, kind in ((GOLD, "Document"), ([GOLD.tree], "RSTTree"), (["a"], "str")):
            with pytest.raises(TypeError, match=f"gold: expected several documents, got {kind}"):
                score(wrong, wrong)
        assert score(iter([GOLD]), iter([GOLD])) == score([GOLD], [GOLD])
        with pytest.raises(InputError, match="expected documents to measure on, got none"):
            score([], [])
        with pytest.raises(InputError, match="got 2 for 1"):
            score([GOLD], [GOLD, other])
    with pytest.raises(InputError, match="toy: expected a prediction over the same text as the gold tree"):
        segmentation([GOLD], [Document("Another text.", (Span(0, 13),))])


def test_predicted_edus_may_be_those_of_gold():
    assert "edus:gold" in str(parseval([GOLD], [GOLD]).signature)
    assert "edus:predicted|sentences:predicted" in str(parseval([GOLD], [GOLD], from_text=True).signature)
    assert "edus:gold|sentences:guessed" in str(parseval([GOLD], [GOLD], guessed=True).signature)
    assert "unit:sentence|gold:guessed" in str(segmentation([GOLD], [GOLD], "sentence", guessed=True).signature)


def test_relations_are_classes_only_where_all_have_hyphens():
    # As in training: `volitional-cause` and `volitional-result` share a prefix, but are not one class.
    for other, kind, relation in (
        ("solutionhood", "labels", 200 / 3),
        ("context-background", "classes", 100),
        ("unattached", "classes", 100),
        ("Same-Unit", "classes", 100),
    ):
        gold, found = (
            over_words((0, 3, 1, "NS", other), (0, 1, 0, "NS", f"volitional-{last}"), (2, 3, 2, "NS", other))
            for last in ("cause", "result")
        )
        scores = parseval([gold], [found])
        assert scores.relation == pytest.approx(relation)
        assert dict(scores.signature.fields)["relations"] == kind


def test_relations_named_like_a_class_belong_to_it():
    classes = RelationClasses({"list*": "joint", "cause*": "cause"}, prefix=False)
    gold = over_words((0, 3, 1, "NS", "List"), (0, 1, 0, "NN", "Same-Unit"), (2, 3, 2, "NS", "cause-result"))
    found = over_words((0, 3, 1, "NS", "Joint"), (0, 1, 0, "NN", "same-unit"), (2, 3, 2, "NS", "Cause"))
    scores = parseval([gold], [found], classes=classes)
    assert figures(scores) == (100,) * 4
    assert dict(scores.signature.fields)["relations"] == classes.kind


def test_an_unknown_key_is_refused():
    with pytest.raises(InputError, match="key: expected start or end, got 'Start'"):
        parseval([GOLD], [FOUND], key="Start")
