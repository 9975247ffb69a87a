"""Summarizers against references."""

import numpy as np
import pytest
from small_news import pairs

from discsum.baselines import baseline
from discsum.experiments.blocks import TextBlocks
from discsum.experiments.comparison import compare_models
from discsum.experiments.systems import extractive_system, oracle_system
from discsum.selection import Budget, Policy

POLICY = Policy(Budget(units=1))


@pytest.fixture
def results(parser):
    systems = [*(extractive_system(name, baseline(name), POLICY) for name in ("lead", "random")), oracle_system(POLICY)]
    return compare_models(TextBlocks(list(pairs(0, 12)), lambda: parser, POLICY), systems, "sentence")


def test_models_compared(results):
    lead, random, oracle = results
    assert oracle.rouge.mean["rouge1"] >= max(lead.rouge.mean["rouge1"], random.rouge.mean["rouge1"])
    figures = oracle.row([lead, random])["rouge1"]
    assert [one["model"] for one in figures["against"]] == ["lead", "random"]
    difference = 100 * (oracle.rouge.mean["rouge1"] - lead.rouge.mean["rouge1"])
    assert figures["against"][0]["difference"] == pytest.approx(difference)
    assert figures["low"] <= figures["mean"] <= figures["high"]
    assert lead.row([lead])["rouge1"]["against"] == []


def test_what_was_selected(results):
    lead, random, oracle = results
    assert {one.summary.selected for one in lead.selections} == {(0,)}
    assert lead.row([])["place"] == 0
    assert 0 < random.row([])["place"] < 1
    assert oracle.row([])["overlap"] == 1
    oracles = [set(one.summary.selected) for one in oracle.selections]
    hits = [bool(set(one.summary.selected) & found) for one, found in zip(random.selections, oracles, strict=True)]
    assert random.row([])["overlap"] == pytest.approx(np.mean(hits))
    for entry, one in zip(oracle.documents(), oracle.selections, strict=True):
        assert (entry["id"], entry["selected"], entry["words"]) == (
            one.id,
            list(one.summary.selected),
            one.summary.words,
        )
