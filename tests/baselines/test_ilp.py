"""The integer program against enumeration of all rooted subtrees."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_trees import document_of, random_tree

from discsum.baselines import baseline
from discsum.baselines.ilp import ILP, _standard_output_to_error
from discsum.constants import COMMAND_LINE
from discsum.dependency import edu_heads
from discsum.errors import InputError, InputWarning
from discsum.scoring import extract
from discsum.selection import Budget, Policy

WORDS = ["miller", "river", "wheel", "stone", "bridge", "flour", "bread", "storm", "harbour", "ferry"]


def text_of(edus, seed):
    """Return a document whose units have 1 to 4 of the ten `WORDS`, and the words of each unit."""
    generator = np.random.default_rng(seed)
    units = [generator.choice(WORDS, generator.integers(1, 5)).tolist() for _ in range(edus)]
    return document_of([[" ".join(unit) + "."] for unit in units], random_tree(edus, seed)), units


def coverage(units, chosen, scores=None):
    """Return the total weight of the chosen units' words; scores multiply a word's weight by the best of its units."""
    weights = np.ones(len(units)) if scores is None else scores
    gains = {}
    for word in WORDS:
        holders = [place for place, unit in enumerate(units) if word in unit]
        count = sum(unit.count(word) for unit in units)
        gains[word] = np.log1p(count) * max(weights[holders], default=0.0)
    return sum(gains[word] for word in sorted({word for place in chosen for word in units[place]}))


def best(units, heads, capacity, scores=None):
    """Return the greatest coverage of all rooted subtrees that fit."""
    found = 0.0
    for taken in product((False, True), repeat=len(units)):
        chosen = [place for place, here in enumerate(taken) if here]
        fits = sum(len(units[place]) for place in chosen) <= capacity
        if fits and all(taken[heads[place]] for place in chosen):
            found = max(found, coverage(units, chosen, scores))
    return found


@settings(max_examples=25)
@given(edus=st.integers(1, 9), seed=st.integers(0, 10**4), capacity=st.integers(1, 20))
def test_it_covers_most_of_what_fits_without_redundant_leaves(edus, seed, capacity):
    document, units = text_of(edus, seed)
    heads = edu_heads(document.tree)
    scorer = baseline("ilp")
    chosen = scorer.select(document, scorer.score(document, "edu"), Policy(Budget(words=capacity), "edu"))
    expected = best(units, heads, capacity)
    if expected == 0.0:
        # Not even the root fits. It is chosen nevertheless, because a summary is never empty.
        assert chosen == np.flatnonzero(heads == np.arange(edus)).tolist()
    else:
        assert all(heads[place] in chosen for place in chosen)
        assert sum(len(units[place]) for place in chosen) <= capacity
        assert coverage(units, chosen) == pytest.approx(expected)
        leaves = [place for place in chosen if heads[place] != place and place not in heads[chosen]]
        for leaf in leaves:
            assert coverage(units, [place for place in chosen if place != leaf]) < expected


@settings(max_examples=15)
@given(edus=st.integers(2, 8), seed=st.integers(0, 10**4), capacity=st.integers(5, 20))
def test_scores_of_a_query_weigh_words_also_if_they_are_those_of_the_baseline(edus, seed, capacity):
    document, units = text_of(edus, seed)
    heads, scorer, policy = edu_heads(document.tree), baseline("ilp"), Policy(Budget(words=capacity), "edu")
    own = scorer.score(document, "edu")
    for scores in (own, np.random.default_rng(seed).random(edus)):
        chosen = scorer.select(document, scores, policy, own=False)
        assert coverage(units, chosen, scores) == pytest.approx(best(units, heads, capacity, scores))


def test_words_count_once():
    """Two units of the same words are no better than one of them."""
    document = document_of([["mill river wheel."], ["mill river wheel."], ["storm harbour."]], random_tree(3, 0))
    summary = extract(document, baseline("ilp"), Policy(Budget(units=2), "sentence"))
    assert "storm" in summary.text


def test_rules_that_it_cannot_keep():
    document, _ = text_of(4, 1)
    with pytest.raises(InputError, match="block_trigrams: cannot be used with ilp"):
        extract(document, baseline("ilp"), Policy(Budget(units=2), block_trigrams=True))


def test_a_program_that_takes_too_long_says_so(monkeypatch):
    document, _ = text_of(40, 1)
    monkeypatch.setattr("discsum.baselines.ilp.LONGEST", 0.0)
    with pytest.warns(
        InputWarning, match="toy: expected the best subtree within 0 s, got .*; the .* is used; a shorter summary"
    ):
        assert extract(document, ILP(), Policy(Budget(words=40), "edu")).selected


def test_nothing_is_printed_on_the_command_line(capfd, monkeypatch):
    monkeypatch.setenv(COMMAND_LINE, "1")
    document, _ = text_of(30, 2)
    extract(document, baseline("ilp"), Policy(Budget(words=30), "edu"))
    assert capfd.readouterr().out == ""


def test_threads_leave_standard_output_as_it_was(capfd):
    def redirect(seconds):
        with _standard_output_to_error():
            time.sleep(seconds)

    before = os.fstat(1)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(redirect, [0.03, 0.01, 0.02, 0.01]))
    assert os.path.samestat(before, os.fstat(1))


DESCRIPTORS = Path("/proc/self/fd")
PRINTING = """
import ctypes
from discsum.baselines.ilp import _standard_output_to_error

libc = ctypes.CDLL(None)
libc.printf(b"before\\n")
with _standard_output_to_error():
    libc.printf(b"HiGHS\\n")
print("after")
"""


@pytest.mark.skipif(os.name != "posix", reason="C's output elsewhere is another library's")
def test_what_the_solver_prints_is_no_result():
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    run = subprocess.run(
        [sys.executable, "-c", PRINTING], capture_output=True, text=True, check=True, env=environment, timeout=120
    )
    assert (run.stdout, run.stderr) == ("before\nafter\n", "HiGHS\n")


@pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="lists descriptors as Linux does")
def test_a_closed_standard_error_leaves_no_descriptor(monkeypatch):
    def fail(*_):
        raise OSError(9, "Bad file descriptor")

    before = {*DESCRIPTORS.iterdir()}
    with monkeypatch.context() as patch, pytest.raises(ValueError, match="own") as caught:
        patch.setattr("os.dup2", fail)
        with _standard_output_to_error():
            raise ValueError("own")
    assert caught.value.__context__ is None
    assert {*DESCRIPTORS.iterdir()} == before
