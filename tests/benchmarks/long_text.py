"""Time the parser on texts of growing length: `python tests/benchmarks/long_text.py PARSER [TEXT FILE] [WORDS...]`.

Time and memory a word should not grow with the length. The last text is one sentence without a full stop.
"""

from __future__ import annotations

import resource
import sys
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
    arguments = sys.argv[1:]
    parser = Parser.from_pretrained(arguments[0])
    numbers = [int(argument) for argument in arguments[1:] if argument.isdigit()] or [1_000, 10_000, 50_000, 200_000]
    files = [argument for argument in arguments[1:] if not argument.isdigit()]
    paragraphs = Path(files[0] if files else SAMPLE).read_text(encoding="utf-8").split("\n\n")
    for words in numbers:
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
