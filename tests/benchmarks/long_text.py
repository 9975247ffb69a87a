"""Time the parser on texts of growing length: `python tests/benchmarks/long_text.py [WORDS...]`.

Time and memory per word should not grow with the length. The last text is a single sentence without a full stop.
"""

from __future__ import annotations

import argparse
import resource
import time
from itertools import cycle, islice
from pathlib import Path

from discsum.parsers.parser import Parser

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "samples" / "harbour.txt"


def measure(parser: Parser, text: str, name: str) -> None:
    start = time.perf_counter()
    document = parser.parse(text)
    seconds = time.perf_counter() - start
    words = len(text.split())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name:>12} {words:>8} words {len(document.sentences):>7} sentences {len(document.edus):>7} EDUs "
        f"{seconds:8.1f} s {words / seconds:8.0f} words/s {peak:7.0f} MiB at most so far"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--parser", default="discsum-gum")
    options.add_argument("--text", type=Path, default=SAMPLE)
    options.add_argument("words", type=int, nargs="*", default=[1_000, 10_000, 50_000, 200_000])
    arguments = options.parse_args()
    parser = Parser.from_pretrained(arguments.parser)
    paragraphs = arguments.text.read_text(encoding="utf-8").split("\n\n")
    for words in arguments.words:
        chosen, count = [], 0
        for paragraph in cycle(paragraphs):
            chosen.append(paragraph)
            count += len(paragraph.split())
            if count >= words:
                break
        measure(parser, "\n\n".join(chosen), "article")
    measure(parser, " ".join(islice(cycle(" ".join(paragraphs).replace(".", "").split()), 10_000)), "one sentence")


if __name__ == "__main__":
    main()
