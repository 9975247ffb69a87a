import sys
import types

import numpy as np
import pytest

from discsum.metrics import rouge_scorer
from discsum.metrics.rouge import rouge, signature

PAIRS = [("Ferries ran again.\nIce melted.", "The ferry is running.\nThe ice melts."), ("", "a"), ("b", "c")]


@pytest.fixture(autouse=True)
def anew():
    rouge_scorer.scorer.cache_clear()
    yield
    rouge_scorer.scorer.cache_clear()


def scores():
    return rouge([one for one, _ in PAIRS], [other for _, other in PAIRS])


def test_without_the_extra_it_is_rouge_score(monkeypatch):
    pytest.importorskip("rouge_score_rs")
    fast = scores()
    assert "|scorer:rouge-score-rs-" in str(fast.signature)
    rouge_scorer.scorer.cache_clear()
    monkeypatch.setitem(sys.modules, "rouge_score_rs", None)
    slow = scores()
    assert slow.signature == signature()
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
