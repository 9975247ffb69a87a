from dataclasses import replace
from functools import wraps

import naive_oracles
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discsum.data.manifest import _MadeBy
from discsum.data.preprocess_recipe import PreprocessRecipe, makers
from discsum.document import Document
from discsum.errors import InputError, InputWarning
from discsum.oracles import ORACLES, document_labels, oracle_labels
from discsum.oracles.bertsum import bertsum
from discsum.oracles.discobert_edu import discobert_edu
from discsum.oracles.kedzie import content_stems, kedzie
from discsum.oracles.rouge12_f import rouge12_f
from discsum.tree import RSTTree

UNITS = [
    "The council closed the old bridge on Monday.",
    "Cars queued for miles.",
    "Engineers had found cracks in the bridge.",
    "A baker sold more bread than ever.",
]
REFERENCE = "The old bridge was closed.\nEngineers found cracks."

plain = ["bridge", "bridges", "closed", "closing", "the", "old", "crack", "cracks", "!"]
words = st.sampled_from([*plain, "Bridge", "the\nold", "crack\u2028closed", "clos\u00e9d", "\u0130ce"])
texts = st.lists(words, min_size=0, max_size=7).map(" ".join)
counts = st.sampled_from([None, 0, 1, 3])


@settings(max_examples=150, deadline=None)
@given(st.lists(texts, max_size=7), st.lists(texts, min_size=1, max_size=2), counts)
def test_rouge12_f_equals_the_naive_search(units, references, k):
    assert rouge12_f(units, references, k) == naive_oracles.rouge12_f(units, references, k)


@settings(max_examples=150, deadline=None)
@given(st.lists(texts, max_size=7), texts, counts)
def test_bertsum_equals_the_naive_search(units, reference, k):
    assert bertsum(units, [reference], k) == naive_oracles.bertsum(units, [reference], k)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.lists(texts, min_size=1, max_size=7), texts, counts)
def test_discobert_takes_a_unit_with_its_head(data, units, reference, k):
    others = [st.sampled_from([-1, *range(own), *range(own + 1, len(units))]) for own in range(len(units))]
    heads = data.draw(st.tuples(*others))
    expected = naive_oracles.discobert_edu(units, [reference], k, heads)
    assert discobert_edu(units, [reference], k, np.array(heads)) == expected


@settings(max_examples=150, deadline=None)
@given(st.lists(texts | st.just("bridge " * 60), max_size=7), st.lists(texts, min_size=1, max_size=2), counts)
def test_kedzie_equals_the_naive_search(units, references, k):
    assert kedzie(units, references, k) == naive_oracles.kedzie(units, references, k)


def test_content_words_are_stemmed_and_no_stop_words():
    assert content_stems("The bridges were closing, and she had cracks!") == ["bridg", "close", "crack"]


@pytest.mark.parametrize("name", list(ORACLES))
def test_labels(name):
    heads = np.full(4, -1)
    labels = oracle_labels(name, UNITS, REFERENCE, heads=heads)
    assert labels.dtype == np.int8
    assert labels.tolist() == [1, 0, 1, 0]
    assert oracle_labels(name, UNITS, [REFERENCE], k=1, heads=heads).sum() == 1
    assert oracle_labels(name, [], REFERENCE, heads=heads[:0]).tolist() == []
    assert oracle_labels(name, ["Nothing shared", "!"], REFERENCE, heads=heads[:2]).tolist() == [0, 0]


def test_stemming_is_what_tells_them_apart():
    units, reference = ["closing bridges", "tea"], "closed bridge"
    assert oracle_labels("rouge12-f", units, reference).tolist() == [1, 0]
    assert oracle_labels("bertsum", units, reference).tolist() == [0, 0]


def test_several_references_take_the_best():
    assert oracle_labels("rouge12-f", ["red tin", "blue oak"], ["blue oak", "grey ash"]).tolist() == [0, 1]


def test_what_cannot_be_done_is_named():
    with pytest.raises(InputError, match="bertsum, discobert-edu, kedzie, rouge12-f, got 'best'"):
        oracle_labels("best", UNITS, REFERENCE)
    with pytest.raises(InputError, match="a reference summary"):
        oracle_labels("bertsum", UNITS, [" "])
    with pytest.raises(InputError, match="use unit edu"):
        oracle_labels("discobert-edu", UNITS, REFERENCE)
    assert oracle_labels("bertsum", UNITS, REFERENCE, np.int64(1)).sum() == 1
    for k in (0, -1, 1.5, True):
        with pytest.raises(InputError, match="k: expected a whole number of units of at least 1, got"):
            oracle_labels("bertsum", UNITS, REFERENCE, k)


@pytest.mark.parametrize("name", ["rouge12-f", "kedzie", "bertsum"])
def test_references_in_other_scripts_warn(name):
    with pytest.warns(InputWarning, match=f"^{name}: expected references with words of the letters a to z and digits"):
        assert oracle_labels(name, ["Погода.", "Rain."], ["Погода."]).sum() == 0


@pytest.mark.parametrize("chosen", [[0, 1, 1], [99], [-1], ["a"], None, [True, False], {99}])
def test_oracles_that_return_no_indices(monkeypatch, chosen):
    monkeypatch.setattr(ORACLES, "registered", dict(ORACLES.registered))
    ORACLES.register("mine", lambda units, references, k: chosen, units=2)
    ORACLES.register("wrapped", wraps(lambda units, references, k: None)(lambda *_: [1]))
    assert oracle_labels("wrapped", ["a", "b", "c"], "c").tolist() == [0, 1, 0]
    ORACLES.register("with-heads", lambda units, references, k, heads: chosen)
    with pytest.raises(InputError, match="with-heads: expected an oracle that takes units, references, k and, registe"):
        oracle_labels("with-heads", ["a", "b", "c"], "c")
    with pytest.raises(InputError, match=r"mine: expected different indices of \d units from the oracle, got "):
        oracle_labels("mine", UNITS, REFERENCE)


def test_the_code_of_an_oracle_is_part_of_what_made_a_dataset(monkeypatch, tmp_path):
    monkeypatch.setattr(ORACLES, "registered", dict(ORACLES.registered))
    recipe = PreprocessRecipe()
    found = [makers(recipe)]
    for number in (0, 1):
        path = tmp_path / f"{number}" / "mine.py"
        path.parent.mkdir()
        path.write_text(
            "from discsum.oracles import register\n"
            f"def mine{number}(units, references, k):\n    return [{number}]\n"
            f"register('mine{number}', mine{number})\n"
        )
        ORACLES.register_file(path)
        found.append(makers(replace(recipe, oracle=f"mine{number}")))
    assert "oracle" not in found[0]
    assert _MadeBy.from_dict(found[1]).to_dict().items() >= found[1].items()
    assert [made["oracle"].split()[0] for made in found[1:]] == ["mine.py:mine0", "mine.py:mine1"]
    assert found[1]["oracle"].split()[1] != found[2]["oracle"].split()[1]


def test_a_single_text_instead_of_units():
    with pytest.raises(TypeError, match="units: expected the units' texts, got a single text"):
        oracle_labels("rouge12-f", "It rained.", ["It rained."])


@pytest.mark.parametrize(
    ("units", "references", "options", "error", "message"),
    [
        ([None, "a"], "a", {}, TypeError, r"units: expected texts, got \[None, 'a'\]"),
        (["a"], None, {}, TypeError, "references: expected several references, got one NoneType"),
        (["a"], ["a", 3], {}, TypeError, r"references: expected texts, got \['a', 3\]"),
        (["a", "b"], "a", {"heads": [0]}, InputError, r"heads: expected one for each of 2 units, got shape \(1,\)"),
        (["a", "b"], "a", {"groups": [0]}, InputError, r"groups: expected one for each of 2 units, got shape \(1,\)"),
    ],
)
def test_what_is_no_text_or_head(units, references, options, error, message):
    with pytest.raises(error, match=message):
        oracle_labels("kedzie", units, references, **options)


def test_labels_of_a_document():
    nodes = [
        {"first": 0, "last": 2, "split": 1, "nuclearity": "NN", "relation": "same-unit"},
        {"first": 0, "last": 1, "split": 0, "nuclearity": "NS", "relation": "elaboration-attribute"},
    ]
    edus = ["The bridge,", "which cars had queued for,", "was closed."]
    document = Document.from_edu_texts(edus, RSTTree(3, nodes))
    assert document_labels("kedzie", document, "edu", "The bridge closed.").tolist() == [1, 0, 1]
    assert document_labels("kedzie", document, "sentence", "The bridge closed.").tolist() == [1]
    # The embedded EDU depends on the clause, which is then selected too.
    assert document_labels("discobert-edu", document, "edu", "Which cars had queued.").tolist() == [1, 1, 1]
    with pytest.raises(InputError, match="expected a document with its edu spans, got none"):
        document_labels("kedzie", Document("It rained."), "edu", "Rain.")
