"""Measure span recall of a parser inside sentences, between the sentences of a paragraph, and between paragraphs.

    python tests/benchmarks/spans_by_level.py GUM [--parser discsum-gum]

Trees are predicted over the gold EDUs of GUM dev, as in `discsum evaluate`. The root span counts, as in original
Parseval.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from discsum.constants import SHIPPED_PARSER
from discsum.document import Document
from discsum.parsers.parser import Parser
from discsum.parsers.treebank import read_gum

LEVELS = ("inside sentences", "between the sentences of a paragraph", "between paragraphs")


def level(document: Document, first: int, last: int) -> str:
    """Return the lowest of `LEVELS` that covers the EDUs from `first` to `last`."""
    start, end = document.edus[first], document.edus[last]
    if start.sentence == end.sentence:
        return LEVELS[0]
    return LEVELS[2] if "\n\n" in document.text[start.start : end.end] else LEVELS[1]


def main() -> None:
    """Print the recall on each level."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("gum", type=Path)
    options.add_argument("--parser", default=SHIPPED_PARSER, help="A shipped parser, or the folder of one.")
    arguments = options.parse_args()
    torch.set_num_threads(1)
    parser = Parser.from_pretrained(arguments.parser)
    found, gold = dict.fromkeys(LEVELS, 0), dict.fromkeys(LEVELS, 0)
    for document in read_gum(arguments.gum, "dev"):
        guess = parser.parse(document.text, sentences=document.sentences, edus=document.edus)
        spans = {(node.first, node.last) for node in guess.require_tree("spans").nodes}
        for node in document.require_tree("spans").nodes:
            name = level(document, node.first, node.last)
            gold[name] += 1
            found[name] += (node.first, node.last) in spans
    for name in LEVELS:
        print(f"{name:40}{100 * found[name] / gold[name]:6.1f}% of {gold[name]}")


if __name__ == "__main__":
    main()
