"""Summarizers against references."""

import numpy as np
import pytest
from small_news import pairs

from discsum.baselines import baseline
from discsum.experiments.comparison import compare_models, text_blocks, text_signature
from discsum.experiments.systems import ExtractiveSystem, OracleSystem
from discsum.selection import Budget, Policy

POLICY = Policy(Budget(units=1))


@pytest.fixture
def results(parser):
    systems = [*(ExtractiveSystem(name, baseline(name), POLICY) for name in ("lead", "random")), OracleSystem(POLICY)]
    blocks = text_blocks(pairs(0, 12), parser, POLICY)
    return compare_models(blocks, systems, "sentence", text_signature(parser))


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
    assert {one.indices for one in lead.selections} == {(0,)}
    assert lead.row([])["place"] == 0
    assert 0 < random.row([])["place"] < 1
    assert oracle.row([])["overlap"] == 1
    oracles = [set(one.indices) for one in oracle.selections]
    hits = [bool(set(one.indices) & found) for one, found in zip(random.selections, oracles, strict=True)]
    assert random.row([])["overlap"] == pytest.approx(np.mean(hits))
    for entry, one in zip(oracle.documents(), oracle.selections, strict=True):
        assert (entry["id"], entry["selected"], entry["words"]) == (one.id, list(one.indices), one.words)
