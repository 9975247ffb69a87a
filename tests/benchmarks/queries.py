"""Measure how well query-focused summaries match their query, by weight of the query in the scores.

    python tests/benchmarks/queries.py PATH/TO/cnndm_large/validation.jsonl.gz --first 200 --last 400

Queries are the first two highlights of each article, and the three rarest words of each of these highlights. The script
prints ROUGE-1 of one selected sentence against the query's highlight, and of three selected sentences against all
highlights.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from itertools import product
from pathlib import Path

from discsum.constants import SHIPPED_PARSER
from discsum.data.failures import Failure
from discsum.data.pairs import PairSource
from discsum.metrics.rouge import rouge
from discsum.parsers.loading import load_parser
from discsum.parsers.parsing import with_vectors
from discsum.parsers.reading import SUBWORDS
from discsum.selection import default_policy, select
from discsum.summarizer import query
from discsum.summarizer.loading import load_scorer

MODELS = ("discsum-news-sentence", "lead", "textrank")
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def words(text: str) -> set[str]:
    """Return the words of three letters or more."""
    return set(re.findall(r"\w{3,}", text.lower()))


def main() -> None:
    """Print a row for each model, kind of query, and weight."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int)
    arguments = parser.parse_args()
    pairs = [
        pair
        for pair in PairSource(str(arguments.table)).pairs(arguments.first, arguments.last)
        if not isinstance(pair, Failure)
    ]
    frequency = Counter(word for pair in pairs for word in words(pair.text))
    parser_of_all = load_parser(SHIPPED_PARSER)
    scorers = [load_scorer(name) for name in MODELS]
    found: dict[tuple[str, str, float], list[tuple[str, str, str, str]]] = {}
    for pair in pairs:
        item = with_vectors(parser_of_all.encode([pair.text], keep=[SUBWORDS])[0], parser_of_all)
        scores = {scorer.name: scorer.scores([item], "sentence")[0] for scorer in scorers}
        for line in pair.references[0].splitlines()[:2]:
            rare = " ".join(sorted(words(line), key=lambda word: (frequency[word], word))[:3])
            for kind, text in (("highlight", line), ("three words", rare)):
                similarities = query.Query(text, parser_of_all).similarities(item, "sentence")
                for name, share in product(scores, SHARES):
                    query.SHARE = share
                    weighed = query.combined(scores[name], similarities)
                    one, three = (
                        "\n".join(item.document.sentence_texts[unit] for unit in select(item.document, weighed, policy))
                        for policy in (default_policy("sentence", units, layout="skip") for units in (1, 3))
                    )
                    found.setdefault((name, kind, share), []).append((one, line, three, pair.references[0]))
    for (name, kind, share), texts in sorted(found.items()):
        one, line, three, whole = zip(*texts, strict=True)
        about, general = 100 * rouge(one, line).mean["rouge1"], 100 * rouge(three, whole).mean["rouge1"]
        print(
            f"{name:24} {kind:12} share {share:4.2f}: {about:5.1f} with the query, {general:5.1f} with all highlights"
        )


if __name__ == "__main__":
    main()
