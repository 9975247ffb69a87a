import subprocess
import sys
import types

import numpy as np
import pytest
from documented import ROOT

from discsum.metrics import rouge_scorer, rouge_words
from discsum.metrics.rouge import rouge, signature

PAIRS = [("Ferries ran again.\nIce melted.", "The ferry is running.\nThe ice melts."), ("", "a"), ("b", "c")]


def forget():
    for cached in (rouge_scorer.scorer, rouge_words.stem, rouge_words._stemmer):
        cached.cache_clear()


@pytest.fixture(autouse=True)
def anew():
    forget()
    yield
    forget()


def scores():
    return rouge([one for one, _ in PAIRS], [other for _, other in PAIRS])


def test_the_counts_of_the_probes_are_those_of_rouge_score():
    from rouge_score.rouge_scorer import RougeScorer

    real = RougeScorer(list(rouge_scorer.METRICS), use_stemmer=True)
    for (prediction, text), counts in rouge_scorer._PROBES:
        expected = real.score(text, prediction)
        assert [tuple(expected[name]) for name in rouge_scorer.METRICS] == [
            rouge_scorer.scores_of(*one) for one in counts
        ]


@pytest.mark.parametrize("text", ["README.md", "docs/results.md", "docs/scale.md"])
def test_both_stemmers_give_the_same(text, monkeypatch):
    pytest.importorskip("rouge_score_rs")
    words = {*rouge_words._PROBES, *rouge_words.plain_words((ROOT / text).read_text())}
    fast = {word: rouge_words.stem(word) for word in words}
    assert [fast[word] for word in rouge_words._PROBES] == [*rouge_words._PROBES.values()]
    monkeypatch.setitem(sys.modules, "rouge_score_rs", None)
    forget()
    assert {word: rouge_words.stem(word) for word in words} == fast
    assert "nltk" in type(rouge_words._stemmer().__self__).__module__


def test_nltk_is_not_imported_with_the_extra():
    pytest.importorskip("rouge_score_rs")
    code = (
        "import sys; from discsum.oracles import oracle_labels; from discsum.metrics.rouge import rouge;"
        "rouge(['Ferries ran.'], ['The ferry ran.']); oracle_labels('rouge12-f', ['Ferries ran.'], 'The ferry ran.');"
        "print('nltk' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_without_the_extra_it_is_rouge_score(monkeypatch):
    pytest.importorskip("rouge_score_rs")
    fast = scores()
    assert "|scorer:rouge-score-rs-" in str(fast.signature)
    forget()
    monkeypatch.setitem(sys.modules, "rouge_score_rs", None)
    slow = scores()
    assert slow.signature == signature().with_(references=dict(slow.signature.fields)["references"])
    assert "|scorer:rouge-score-0.1.2|" in str(slow.signature)
    np.testing.assert_array_equal(slow.values, fast.values)


def test_one_that_gives_other_numbers_is_not_used(monkeypatch):
    from rouge_score.rouge_scorer import RougeScorer

    # A faulty version that ignores `use_stemmer`.
    wrong = types.SimpleNamespace(RougeScorer=lambda metrics, use_stemmer: RougeScorer(metrics))
    monkeypatch.setitem(sys.modules, "rouge_score_rs", wrong)
    monkeypatch.setattr(rouge_scorer, "version", lambda name: "9.9" if name == "rouge-score-rs" else "0.1.2")
    with pytest.warns(UserWarning, match=r"rouge-score-rs 9\.9 to score as rouge-score 0\.1\.2 does") as warned:
        assert "|scorer:rouge-score-0.1.2|" in str(scores().signature)
        scores()
    assert len(warned) == 1
