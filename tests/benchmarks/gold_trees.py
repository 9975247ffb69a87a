"""Measure how much parser errors cost in ROUGE: summaries of GUM documents from gold trees and from predicted trees.

    python tests/benchmarks/gold_trees.py GUM SUMMARIES [MODEL ...]

GUM is a checkout of the treebank, and SUMMARIES a table with human summaries of its documents (column `id`). There are
three conditions: gold EDUs with the gold tree, gold EDUs with the predicted tree, and raw text. Summaries have 3
sentences or 6 EDUs. Only dev documents are measured because the parser was not trained on them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from discsum.baselines import baseline
from discsum.constants import DEFAULT_UNITS
from discsum.data.pairs import Pair, PairSource
from discsum.experiments.blocks import TextBlocks
from discsum.experiments.comparison import ModelScores, compare_models
from discsum.experiments.systems import System, extractive_system, oracle_system
from discsum.metrics.rouge import METRICS
from discsum.metrics.significance import paired_bootstrap
from discsum.parsers.parser import Parser
from discsum.parsers.treebank import read_gum
from discsum.selection import default_policy
from discsum.summarizer.extractive import ExtractiveSummarizer

CONDITIONS = ("gold tree", "gold EDUs, predicted tree", "raw text")


def conditions(gum: Path, summaries: Path, parser: Parser) -> dict[str, list[Pair]]:
    """Return the documents of each condition, in the same order."""
    references = {pair.id: pair.references for pair in PairSource(str(summaries)).pairs() if isinstance(pair, Pair)}
    gold = [
        Pair(document.id, document.text, references[document.id], document)
        for document in read_gum(gum, "dev")
        if document.id in references
    ]
    guessed = [
        replace(pair, document=parser.parse(pair.text, sentences=pair.document.sentences, edus=pair.document.edus))
        for pair in gold
        if pair.document is not None
    ]
    return dict(zip(CONDITIONS, (gold, guessed, [replace(pair, document=None) for pair in gold]), strict=True))


def show(unit: str, found: dict[str, Sequence[ModelScores]]) -> None:
    """Print the scores of each model in each condition, with the gain from gold trees."""
    gold = found[CONDITIONS[0]]
    for place, model in enumerate(gold):
        for condition, results in found.items():
            scores = results[place].rouge
            line = f"{unit:9}{model.name:34}{condition:28}"
            for metric in METRICS:
                line += f"{100 * scores.mean[metric]:8.2f}"
                if condition != CONDITIONS[0]:
                    paired = paired_bootstrap(100 * model.rouge.metric(metric), 100 * scores.metric(metric))
                    line += f" ({paired.difference:+.2f}, p={paired.p_value:.3f})"
            print(line)


def main() -> None:
    """Print the scores for both units."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("gum", type=Path)
    options.add_argument("summaries", type=Path)
    options.add_argument("models", nargs="*", default=["discsum-news-sentence", "discsum-news-edu"])
    arguments = options.parse_args()
    torch.set_num_threads(1)
    parser = Parser.from_pretrained()
    given = conditions(arguments.gum, arguments.summaries, parser)
    trained = [ExtractiveSummarizer.from_pretrained(name) for name in arguments.models]
    print(f"{len(given[CONDITIONS[0]])} documents; in brackets what gold trees gain, paired bootstrap")
    for unit in DEFAULT_UNITS:
        policy = default_policy(unit)
        scorers = [baseline(name) for name in ("lead", "marcu", "tree-knapsack")]
        scorers += [model for model in trained if model.unit == unit]
        systems: list[System] = [extractive_system(scorer.name, scorer, policy) for scorer in scorers]
        systems.append(oracle_system(policy.unit))
        found = {
            condition: compare_models(TextBlocks(pairs, lambda: parser, policy), systems)
            for condition, pairs in given.items()
        }
        show(unit, found)
        print(f"signature: {found[CONDITIONS[0]][0].rouge.signature}")


if __name__ == "__main__":
    main()
