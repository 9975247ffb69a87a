"""The shipped parser keeps every invariant of documents on arbitrary Unicode texts."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping

import numpy as np

from discsum.document import Document
from discsum.errors import InputWarning
from discsum.formats.json import dumps, loads
from discsum.parsers.loading import load_parser
from discsum.priors import c_tree, c_tree_nuc, d_tree

# Number of texts parsed together.
BATCH = 64
WORDS = [
    "the",
    "river",
    "rose",
    "because",
    "but",
    "of",
    "to",
    "1.",
    "Mr.",
    "U.S.",
    "however,",
    "\u201cno\u201d",
    "e.g.",
]
# White space, controls, joiners, direction marks, combining marks, surrogates, private use, non-characters.
ODD = [
    *"\n\t\r\x0b\x0c\x00\x1c\x85\xa0\xad\u2028\u2029\u3000\ufeff\u200b\u200d\u202e\u0301\u0488\ufffd\ufffe\ue000",
    *"\ud800\udbff\udc00\udfff\U0001f469\U0001f3fd\U000e0001\U0010ffff",
]
ENDS = [*".!?;:,-()[]{}\"'*#>|\u2026\u3002\u061f\u2014\u2022"]


def text_of(random: np.random.Generator) -> str:
    """Return a text of fewer than 60 pieces: words, odd characters, punctuation, and any other characters."""
    kind = random.integers(4)
    pieces = []
    for _ in range(int(random.integers(0, 60))):
        draw = random.random()
        if draw < (0.6, 0.1, 0.3, 0.0)[kind]:
            pieces.append(WORDS[random.integers(len(WORDS))])
        elif draw < 0.75:
            pieces.append(ENDS[random.integers(len(ENDS))])
        elif draw < 0.85:
            pieces.append(ODD[random.integers(len(ODD))])
        else:
            pieces.append(chr(int(random.integers(0x110000 if kind == 3 else 0x3000))))
        pieces.append(" " if random.random() < 0.5 else "")
    return "".join(pieces)


def check(text: str, document: Document) -> None:
    """Check that a document has this text, EDUs that tile it, sentences that start with EDUs, and a full tree."""
    assert document.text == text
    letters = [place for place, character in enumerate(text) if not character.isspace()]
    covered = [place for edu in document.edus for place in range(edu.start, edu.end) if not text[place].isspace()]
    assert covered == letters
    assert all(any(not character.isspace() for character in part) for part in document.edu_texts)
    starts = {edu.start for edu in document.edus}
    assert all(sentence.start in starts for sentence in document.sentences)
    assert bool(document.edus) == bool(letters) == bool(document.sentences)
    if not document.edus:
        assert document.tree is None
        return
    assert document.tree is not None
    assert len(document.tree.nodes) == len(document.edus) - 1
    assert all(0.0 <= node.probability <= 1.0 for node in document.tree.nodes)
    for matrix in (c_tree(document.tree), c_tree_nuc(document.tree), d_tree(document.tree)):
        assert np.isfinite(matrix).all()
        sums = matrix.sum(axis=1)
        assert ((abs(sums - 1.0) < 1e-4) | (sums == 0.0)).all()
    pairs = itertools.pairwise(text)
    if not any("\ud800" <= high <= "\udbff" and "\udc00" <= low <= "\udfff" for high, low in pairs):
        assert loads(dumps(document)) == document


def attack(count: int, seed: int) -> Mapping[str, object]:
    """Parse `count` texts."""
    random = np.random.default_rng(seed)
    parser = load_parser("discsum-gum", "cpu")
    edus = most = 0
    with warnings.catch_warnings():
        # Ignores warnings that texts are not English.
        warnings.simplefilter("ignore", InputWarning)
        for first in range(0, count, BATCH):
            texts = [text_of(random) for _ in range(min(BATCH, count - first))]
            for text, document in zip(texts, parser.parse_many(texts, batch_size=BATCH), strict=True):
                try:
                    check(text, document)
                except Exception as error:
                    raise AssertionError(f"{text!r}: {error}") from error
                edus += len(document.edus)
                most = max(most, len(document.edus))
    return {"texts": count, "EDUs": edus, "most EDUs": most}
