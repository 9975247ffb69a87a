"""Comparison of summarizers on the same references."""

import gzip
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from small_news import pairs

from discsum.baselines import baseline
from discsum.experiments.blocks import TextBlocks
from discsum.experiments.comparison import compare_models
from discsum.experiments.report import write_entries
from discsum.experiments.systems import extractive_system, oracle_system
from discsum.selection import Budget, Policy

POLICY = Policy(Budget(units=1))


@pytest.fixture
def results(parser):
    models = [extractive_system(name, baseline(name), POLICY) for name in ("lead", "random")]
    systems = [*models, oracle_system(POLICY.unit)]
    return compare_models(TextBlocks(list(pairs(0, 12)), lambda: parser, POLICY), systems)


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


def test_the_oracle_is_signed_by_its_own_limit(parser):
    rows = list(pairs(0, 4))
    for budget, limit in ((Budget(units=2), "2"), (Budget(words=10), "own")):
        policy = Policy(budget)
        systems = [extractive_system("lead", baseline("lead"), policy), oracle_system("sentence")]
        lead, oracle = (
            dict(one.rouge.signature.fields)
            for one in compare_models(TextBlocks(rows, lambda: parser, policy), systems)
        )
        assert (oracle["oracle-units"], "units" in oracle, "words" in oracle) == (limit, False, False)
        assert (lead["oracle-units"], "units" in lead) == (limit, budget.units is not None)


def test_trees_that_texts_came_with_are_signed(parser):
    rows = list(pairs(0, 4))
    own = [replace(pair, document=parser.parse(pair.text, id=pair.id)) for pair in rows]

    def fields(given):
        return dict(TextBlocks(given, lambda: parser, POLICY).signature.fields)

    assert "given-trees" not in fields(rows)
    mixed, all_of_them = fields([*own[:3], rows[3]]), fields(own)
    assert (mixed["given-trees"], mixed["parser"][:4]) == ("3", "tiny")
    assert (all_of_them["given-trees"], "parser" in all_of_them) == ("4", False)


def test_the_first_summary_of_a_system_is_not_timed(parser):
    asked = []
    lead = extractive_system("lead", baseline("lead"), POLICY)

    def summaries(block):
        asked.append([item.document.id for item in block.documents])
        return lead.summaries(block)

    rows = list(pairs(0, 3))
    (found,) = compare_models(TextBlocks(rows, lambda: parser, POLICY), [replace(lead, summaries=summaries)])
    assert asked == [[rows[0].id], [row.id for row in rows]]
    assert [one.id for one in found.selections] == [row.id for row in rows]


def test_empty_summaries_have_no_share_in_the_oracle(results):
    one = replace(results[0].selections[0], overlap=None)
    shares = [own.overlap for own in results[0].selections[1:]]
    found = replace(results[0], selections=[one, *results[0].selections[1:]]).row([])
    assert found["overlap"] == pytest.approx(np.mean(shares))


def test_scores_are_written_to_pipes_and_compressed(tmp_path):
    entries, lines = [{"a": 1}, {"b": 2}], b'{"a": 1}\n{"b": 2}\n'
    write_entries(tmp_path / "scores.JSONL.GZ", entries)
    assert gzip.decompress((tmp_path / "scores.JSONL.GZ").read_bytes()) == lines
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_bytes)
        write_entries(pipe, entries)
        assert read.result(timeout=60) == lines
    assert pipe.is_fifo()
