"""Compare what the parser finds in half precision with single precision.

    python tests/benchmarks/precision.py tests/texts/*.txt [--device cuda]

Prints, for bf16 and fp16, the shares of texts with the same EDUs and with the same whole tree (spans, nuclearities and
relations), and of the spans of single precision that are found too.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from discsum.document import Document
from discsum.parsers.parser import Parser


def nodes(document: Document) -> list[str]:
    """Return the nodes of a document's tree without their probabilities."""
    return [str(node) for node in document.tree.nodes] if document.tree is not None else []


def spans(document: Document) -> set[tuple[int, int]]:
    """Return the spans of a document's nodes as offsets in its text."""
    found = document.tree.nodes if document.tree is not None else ()
    return {(document.edus[node.first].start, document.edus[node.last].end) for node in found}


def main() -> None:
    """Print a line for each precision."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("texts", nargs="+", type=Path)
    options.add_argument("--parser", default="discsum-gum")
    options.add_argument("--device", default="cpu")
    given = options.parse_args()
    texts = [path.read_text(encoding="utf-8") for path in given.texts]
    print(f"{len(texts)} texts, {sum(len(text.split()) for text in texts):,} words")

    def parsed(precision: str) -> list[Document]:
        parser = Parser.from_pretrained(given.parser, device=given.device, precision=precision)
        return [*parser.parse_many(texts)]

    single = parsed("fp32")
    for precision in ("bf16", "fp16"):
        pairs = [*zip(single, parsed(precision), strict=True)]
        edus = [one.edus == other.edus for one, other in pairs]
        trees = [same and nodes(one) == nodes(other) for same, (one, other) in zip(edus, pairs, strict=True)]
        expected = sum(len(spans(one)) for one, _ in pairs)
        found = sum(len(spans(one) & spans(other)) for one, other in pairs)
        print(
            f"{precision}: same EDUs in {100 * sum(edus) / len(texts):.1f}% of the texts, same trees in "
            f"{100 * sum(trees) / len(texts):.1f}%, {100 * found / expected:.1f}% of {expected:,} spans"
        )


if __name__ == "__main__":
    main()
