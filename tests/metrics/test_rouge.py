import warnings
from importlib.metadata import version

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenize import tokenize

from discsum.document import Document, Span
from discsum.errors import InputError, InputWarning
from discsum.metrics.rouge import MEASURES, rouge, signature
from discsum.metrics.rouge_scorer import scorer
from discsum.metrics.rouge_words import plain_words, stemmed_words
from discsum.summary import Summary

WORDS = ("The", "river", "rose", "rises", "rising", "river's", "ÉTÉ", "3,000", "harbour.", "\n", "\u2028", "ice-cold")
PREDICTION = "The ferries stopped running.\nIce covered the harbour."
NEAR = "Ice stopped the ferry.\nThe harbour was covered with ice."
FAR = "Ferries run again."

# python -c "
# from rouge_score.rouge_scorer import RougeScorer as S; s = S(['rouge1', 'rouge2', 'rougeLsum'], use_stemmer=True)
# p = 'The ferries stopped running.\nIce covered the harbour.'
# for r in ('Ice stopped the ferry.\nThe harbour was covered with ice.', 'Ferries run again.'):
#     print([(x.fmeasure, x.precision, x.recall) for x in s.score(r, p).values()])"
# with rouge-score 0.1.2
EXPECTED_NEAR = [
    (0.7777777777777777, 0.875, 0.7),
    (0.25, 0.2857142857142857, 0.2222222222222222),
    (0.5555555555555556, 0.625, 0.5),
]
EXPECTED_FAR = [
    (0.36363636363636365, 0.25, 0.6666666666666666),
    (0.0, 0.0, 0.0),
    (0.36363636363636365, 0.25, 0.6666666666666666),
]


@pytest.mark.parametrize(("measure", "column"), [("f", 0), ("p", 1), ("r", 2)])
def test_known_values(measure, column):
    scores = rouge([PREDICTION, PREDICTION], [NEAR, FAR], measure=measure)
    expected = np.array([EXPECTED_NEAR, EXPECTED_FAR])[:, :, column]
    np.testing.assert_allclose(scores.values, expected)
    assert list(scores.mean) == ["rouge1", "rouge2", "rougeLsum"]
    np.testing.assert_allclose(list(scores.mean.values()), expected.mean(axis=0))
    np.testing.assert_allclose(scores.metric("rouge2"), expected[:, 1])


@given(
    texts=st.lists(
        st.lists(st.sampled_from(WORDS)).map(" ".join),
        min_size=3,
        max_size=3,
    ),
    measure=st.sampled_from(["f", "p", "r"]),
)
def test_scores_are_those_of_rouge_score(texts, measure):
    prediction, *references = texts
    expected = RougeScorer(["rouge1", "rouge2", "rougeLsum"], use_stemmer=True).score_multi(references, prediction)
    found = rouge([prediction], [references], measure=measure).values[0].tolist()
    assert found == [getattr(score, MEASURES[measure]) for score in expected.values()]


def test_best_reference_counts():
    both = rouge([PREDICTION], [[FAR, NEAR]]).values
    np.testing.assert_allclose(both, rouge([PREDICTION], [NEAR]).values)


def test_lines_matter_to_lsum_alone():
    joined = rouge([PREDICTION.replace("\n", " ")], [NEAR.replace("\n", " ")]).values[0]
    split = rouge([PREDICTION], [NEAR]).values[0]
    np.testing.assert_allclose(joined[:2], split[:2])
    assert joined[2] < split[2]


def test_several_sentences_on_a_line_are_told():
    lines, told = ["The mill stopped.\nRain fell."], "expected one sentence per line, got several on one line in 1 of 1"
    with pytest.warns(InputWarning, match=told):
        rouge(lines, ['The mill stopped. "Rain fell," she said.'])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rouge(lines * 2, ["Rain fell.", "Rain fell.\nThe mill of Mr. Dale stopped. Rain fell."])
        rouge(lines, ["U.S. President Anna Berg met Sen. John Dale of St. Mary's (Dr. No) at J. R. Co. Hall."])
        rouge(lines, [["The mill stopped at 3.30 p.m. on Monday."]])
        # A summary of one sentence may quote several.
        rouge(["The mill stopped. Rain fell."] * 4 + lines * 16, lines * 20)
    with pytest.warns(InputWarning, match="references: .*got several on one line in 4 of 20"):
        rouge(lines * 20, ["The mill stopped. Rain fell."] * 4 + lines * 16)


@pytest.mark.parametrize("mark", ["<p>", "</p>", "<q>", "<S_SEP>", "[SEP]", "[X_SEP]", "<br/>", '<a href="x">', "\\n"])
def test_marks_in_summaries_and_references_are_told(mark):
    marked, told = f"Rain fell.{mark}Nobody came.", "expected plain text, got marks such as"
    for texts in ([marked], ["Rain."]), (["Rain."], [[marked, "Rain."]]):
        with pytest.warns(InputWarning, match=told):
            rouge(*texts)


def test_what_is_no_mark_is_not_told():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rouge([r"At 2 < 3 and 5 > 4, C:\new is [sep] a < b>, a<b and c>d."], ["Rain."])


def test_empty_prediction_scores_nothing():
    assert rouge([""], [NEAR]).values.tolist() == [[0, 0, 0]]


def test_signature():
    assert str(signature()) == (
        f"metrics:rouge1+rouge2+rougeLsum|measure:f|stem:porter|split:newline|refs:max"
        f"|scorer:{scorer()[0].replace(' ', '-')}|version:{version('discsum')}"
    )
    signed = rouge(["a"], ["a"], measure="r").signature
    assert signed == signature("r").with_(references=dict(signed.fields)["references"])
    assert dict(signature("r").fields)["measure"] == "r"


def test_the_signature_tells_references_apart():
    given = [["a b"], ["a\nb"], [["a b", "c"]], ["A b"]]
    assert len({str(rouge(["a"], references).signature) for references in given}) == len(given)
    # Published figures have digests too.
    assert dict(rouge(["a"], ["a b"]).signature.fields)["references"] == "ac2a4f43"
    assert rouge(["x"], ["a b"]).signature == rouge(["y"], [["a b"]]).signature


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], []), "expected summaries and references, got none"),
        (([], ["a"]), "a reference for each of 0 summaries"),
        ((["a"], ["a", "b"]), "a reference for each of 1 summaries, got 2"),
        ((["a"], [[]]), "document 0: expected at least one reference"),
    ],
)
def test_what_does_not_fit_is_named(arguments, message):
    with pytest.raises(InputError, match=message):
        rouge(*arguments)
    with pytest.raises(InputError, match="one of the measures f, p, r, got 'f1'"):
        rouge(["a"], ["a"], measure="f1")
    with pytest.raises(InputError, match="one of the metrics rouge1"):
        rouge(["a"], ["a"]).metric("rougeL")


def test_scores_of_other_scripts_warn():
    with pytest.warns(InputWarning, match="which alone ROUGE counts, got mostly other letters in 1 of 3 documents"):
        scores = rouge(["Погода", "Rain.", "..."], ["Погода", "Rain.", "..."])
    assert scores.metric("rouge1").tolist() == [0, 1, 0]
    # The numbers and names are all that counts.
    for first, second in (("2019年洪水。", "2019年公园。"), ("Завод IBM закрыли.", "Школу IBM открыли.")):
        with pytest.warns(InputWarning, match="got mostly other letters in 1 of 1 documents"):
            assert rouge([first], [second]).metric("rouge1").tolist() == [1]
    with pytest.warns(InputWarning, match="which ROUGE drops, in 20% of the words; do not compare"):
        rouge(["Die Mühle steht still heute."] * 40, ["Die Mu\u0308hle steht still heute."] * 40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened = "The café of nineteen friends opened again at the harbour, with a view of the old town and the quay."
        rouge([opened] * 20, [opened] * 20)
        rouge(["Zoë scores."], ["Zoë scores."])


@given(st.text() | st.text("abcdefghij .-'’09AÉß\u0130\ud800", max_size=60))
def test_words_are_those_of_rouge_score(text):
    assert stemmed_words(text) == tokenize(text, PorterStemmer())
    assert plain_words(text) == tokenize(text, None)


def test_only_texts_are_compared():
    for texts, message in (
        (("It rained.", "It rained."), "got a single text; put it in a list"),
        (({"a": "It rained."}, ["It rained."]), "summaries: expected several summaries, got a dict, which iterates"),
        ((["It rained."], {"It rained."}), "references: expected several references in order, got a set; sort it"),
        ((["It rained.", None], ["It rained."] * 2), "document 1: expected the text of a summary, got NoneType"),
        ((["It rained."], [float("nan")]), "document 0: expected a reference, or a list of references, got nan"),
        ((["It rained."], [["Rain.", 3]]), r"document 0: expected a reference, or a list of references, got \['Rain"),
    ):
        with pytest.raises(TypeError, match=message):
            rouge(*texts)
    assert rouge(iter(["It rained."]), (text for text in ["It rained."])).mean["rouge1"] == 1
    # Several references in whatever holds them, such as a column of a Parquet table.
    for several in (np.array(["Snow.", "It rained."]), ("Snow.", "It rained."), iter(["Snow.", "It rained."])):
        assert rouge(["It rained."], [several]).mean["rouge1"] == 1


def test_summaries_have_their_own_lines():
    text = "The old mill by the river closed. Nobody in the town was surprised by that."
    document = Document.from_spans(text, [Span(0, 33), Span(34, 75)], [])
    summary = Summary.from_indices(document, "sentence", "test", [1, 1], [0, 1])
    found = rouge([summary], [text.replace(". ", ".\n")])
    assert found.mean == dict.fromkeys(("rouge1", "rouge2", "rougeLsum"), 1)


def test_empty_references_give_a_warning():
    with pytest.warns(InputWarning, match="^references: expected texts, got an empty one for 1 of 2 documents, which "):
        assert rouge(["It rained.", "We left."], [["", " "], "We left."]).mean["rouge1"] == 0.5


def test_summaries_of_several_sentences_on_a_line_give_a_warning():
    with pytest.warns(InputWarning, match="^summaries: expected one sentence per line, got several on one line in 1"):
        rouge(["It rained. We left."], ["It rained.\nWe left."])
