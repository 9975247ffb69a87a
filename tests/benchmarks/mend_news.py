"""Repair the spacing of news tables that were restored from tokens.

    python tests/benchmarks/mend_news.py PATH/TO/cnndm_large DATA/cnndm_large

Copies of CNN/DailyMail that were made from tokens ("33 - year - old", "she said:' no") differ from normal text and
cause segmentation errors. Spaces around a hyphen are removed between a number and a word, and between two words that
the tables also join, or that they often separate like this. An opening quotation mark moves to its word. Case is
unchanged.
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
# Two words are a compound if a hyphen joins them this often, or a hyphen between spaces separates them this often.
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
    """Return the lower-cased pairs of words that form compounds in tables with a column `text`."""
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
    """Return a text without the spaces in compounds and after opening quotation marks."""

    def closed(match: re.Match[str]) -> str:
        first, second = match[1].lower(), match[2].lower()
        number = first.isdigit() and not second.isdigit()
        return f"{match[1]}-" if number or (first, second) in known else match[0]

    text = _HALF_PARTED.sub(r"\1-\2", _PARTED.sub(closed, text))
    return _QUOTE.sub(r"\1 '", text)


def main() -> None:
    """Repair all tables of a folder and write them to another."""
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
