"""Pairs of texts and summaries from the rows of tables."""

import json

from discsum.data.pairs import PairSource
from discsum.document import Document, Span
from discsum.tree import RSTTree


def test_ids_may_be_numbers_and_blank_references_are_left_out(tmp_path):
    document = Document.from_spans("Rain fell.", [Span(0, 10)], [Span(0, 10)], RSTTree(1)).to_json()
    row = document | {"id": 7, "references": ["", "It rained.", " "]}
    (tmp_path / "news.jsonl").write_text(json.dumps(row))
    (pair,) = PairSource(str(tmp_path / "news.jsonl")).pairs()
    assert (pair.id, pair.references, pair.document.id) == ("7", ("It rained.",), "7")
