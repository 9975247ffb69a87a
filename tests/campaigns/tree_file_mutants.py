"""Mutated tree files: each is read as a document whose invariants hold, or refused with a one-line message."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
from small_treebank import TREES, gold

from discsum.errors import FormatError, FormatWarning
from discsum.formats import dump, load_all, readable

PIECES = [
    b"<",
    b">",
    b"</",
    b'"',
    b"(",
    b")",
    b"{",
    b"}",
    b"[",
    b"]",
    b"0",
    b"-1",
    b"99",
    b"id",
    b"parent",
    b"null",
    b"\n",
]
PIECES += [
    b"\xff",
    b"\x00",
    b"&x;",
    b"<!DOCTYPE a [",
    b"span",
    b"\t",
    b"1e999",
    b"(leaf 1)",
    b"Nucleus",
    b"\xc3",
    b"1-2",
]


def mutant(content: bytes, random: np.random.Generator) -> bytes:
    """Return the content after one to three changes: flips, insertions, deletions, repetitions, replacements, cuts."""
    found = bytearray(content)
    for _ in range(int(random.integers(1, 4))):
        first, last = sorted(random.integers(0, len(found) + 1, size=2).tolist())
        last = min(last, first + 40)
        kind = random.integers(6)
        if kind == 0 and found:
            found[first % len(found)] ^= 1 << int(random.integers(8))
        elif kind == 1:
            found[first:first] = PIECES[random.integers(len(PIECES))]
        elif kind == 2:
            del found[first:last]
        elif kind == 3:
            found[first:first] = found[first:last]
        elif kind == 4:
            found[first:last] = PIECES[random.integers(len(PIECES))]
        elif random.random() < 0.1:
            del found[first:]
    return bytes(found)


def attack(count: int, seed: int) -> Mapping[str, object]:
    """Read `count` mutants of each format."""
    found: dict[str, object] = {}
    for place, name in enumerate(sorted(readable())):
        random = np.random.default_rng([seed, place])
        originals = [dump(gold(tree), name).encode() for tree in TREES]
        refused = 0
        for number in range(count):
            content = mutant(originals[number % len(originals)], random)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FormatWarning)
                    documents = load_all(content, name, source="mutant")
                for document in documents:
                    assert document.tree is None or len(document.tree.nodes) == max(0, len(document.edus) - 1)
                    dump(document, "json")
            except FormatError as error:
                refused += 1
                assert "\n" not in str(error), str(error)
                assert len(str(error)) < 2000, str(error)
            except Exception as error:
                raise AssertionError(f"{name}: {content!r}: {type(error).__name__}: {error}") from error
        found[f"{name} refused"] = refused
    return {"mutants of each": count, **found}
