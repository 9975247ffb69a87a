"""Tables of news that was lower-cased and tokenised once, without the spaces that this left.

    python tests/benchmarks/mend_news.py PATH/TO/cnndm_large DATA/cnndm_large

Copies of CNN/DailyMail made from tokens ("33 - year - old", "she said:' no") differ from text as it is written, and
segmenters err there. A hyphen is closed up after a number before a word, and between two words that the tables
themselves also join, or that they part this way often; an opening quotation mark moves to its word. Casing stays.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from discsum.files import replacing

Pair = tuple[str, str]
# How often two words are joined, or parted by a hyphen between spaces, to count as a compound.
JOINED, PARTED = 2, 8
_PARTED = re.compile(r"(\w+) - (?=(\w+))")
_JOINED = re.compile(r"(?<![\w-])\w+(?:-\w+)+")
_HALF_PARTED = re.compile(r"(\w)- (by|year|old)\b")
_QUOTE = re.compile(r"([:,])' (?=\w)")


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def compounds(paths: list[Path]) -> set[Pair]:
    """Return the pairs of words, in lower case, that a hyphen joins in tables with a column `text`."""
    joined, parted = Counter[Pair](), Counter[Pair]()
    for path in paths:
        for row in rows(path):
            for found in _JOINED.findall(row["text"].lower()):
                words = found.split("-")
                joined.update(pairwise(words))
            parted.update(_PARTED.findall(row["text"].lower()))
    return {pair for pair, count in joined.items() if count >= JOINED} | {
        pair for pair, count in parted.items() if count >= PARTED
    }


def mended(text: str, known: set[Pair]) -> str:
    """Return a text with its compounds and opening quotation marks closed up."""

    def closed(match: re.Match[str]) -> str:
        first, second = match[1].lower(), match[2].lower()
        number = first.isdigit() and not second.isdigit()
        return f"{match[1]}-" if number or (first, second) in known else match[0]

    text = _HALF_PARTED.sub(r"\1-\2", _PARTED.sub(closed, text))
    return _QUOTE.sub(r"\1 '", text)


def main() -> None:
    """Write the mended tables of a folder to another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="folder with train.jsonl.gz and others, columns text and summary")
    parser.add_argument("out", type=Path, help="folder of the mended tables, under the same names")
    given = parser.parse_args()
    known = compounds([given.source / "train.jsonl.gz"])
    given.out.mkdir(parents=True, exist_ok=True)
    for path in sorted(given.source.glob("*.jsonl.gz")):
        with replacing(given.out / path.name) as partial, gzip.open(partial, "wt", encoding="utf-8") as out:
            for row in rows(path):
                changed = {name: mended(row[name], known) for name in ("text", "summary")}
                out.write(json.dumps(row | changed, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
