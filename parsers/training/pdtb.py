"""PDTB-style relations of a treebank's documents: senses between text spans, as a second task in training.

Files are `NAME.rels` of the DISRPT shared tasks: a relation a row, its two arguments as numbers of tokens. GDTB has
them for GUM's documents, explicit, implicit and others (Liu et al. 2024).
"""

from __future__ import annotations

import csv
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from discsum.document import Document
from discsum.errors import InputError, InputWarning
from discsum.parsers.treebank import token_letters

COLUMNS = ("unit1_toks", "unit2_toks", "dir", "orig_label")
# Relations of a sense among the training documents, from which it is learned.
RARE = 20


@dataclass(frozen=True)
class SenseNodes:
    """Relations of a document between adjacent runs of EDUs.

    Attributes:
        nodes: `(relations, 3)` first and last EDU, and last EDU of the first argument, as the nodes of a tree.
        senses: `(relations,)` index of each one's sense.
    """

    nodes: NDArray[np.int64]
    senses: NDArray[np.int64]


def read_senses(folder: Path, treebank: Path, documents: Sequence[Document]) -> tuple[dict[str, SenseNodes], list[str]]:
    """Return the relations of each document by its name, and the senses.

    A relation is used if its arguments, widened to whole EDUs, are adjacent, and its sense has at least `RARE` such.

    Args:
        folder: Has a `.rels` file per document; those of documents without one are warned of.
        treebank: A checkout of GUM, whose tokens the files count.
        documents: The training documents.

    Raises:
        InputError: No such folder, files of another form, or no relation that can be used.
    """
    if not folder.is_dir():
        raise InputError(f"pdtb: expected a folder of .rels files, found no {folder}")
    found = {document.id: list(_relations(folder, treebank, document)) for document in documents}
    counts = Counter(sense for relations in found.values() for _, sense in relations)
    names = sorted(sense for sense, count in counts.items() if count >= RARE)
    if not names:
        raise InputError(f"pdtb: expected a sense with at least {RARE} relations of the training documents in {folder}")
    missing = [document.id for document in documents if not (folder / f"{document.id}.rels").is_file()]
    if missing:
        warn(f"{folder}: no .rels file for {len(missing)} documents, as {missing[0]}", InputWarning, stacklevel=2)
    index = {name: place for place, name in enumerate(names)}
    by_document = {}
    for name, relations in found.items():
        used = [(node, index[sense]) for node, sense in relations if sense in index]
        nodes = np.array([node for node, _ in used], dtype=np.int64).reshape(-1, 3)
        by_document[name] = SenseNodes(nodes, np.array([sense for _, sense in used], dtype=np.int64))
    return by_document, names


def _relations(folder: Path, treebank: Path, document: Document) -> Iterable[tuple[tuple[int, int, int], str]]:
    path = folder / f"{document.id}.rels"
    if not path.is_file():
        return
    edu_of = _edu_of_tokens(treebank, document)
    with path.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE), start=2):
            missing = [name for name in COLUMNS if not row.get(name)]
            if missing:
                raise InputError(f"{path}:{number}: expected the columns {', '.join(COLUMNS)}, found no {missing[0]}")
            try:
                arguments = sorted(_edus(row[name], edu_of) for name in COLUMNS[:2])
            except (ValueError, IndexError) as error:
                raise InputError(
                    f"{path}:{number}: expected numbers of the document's {len(edu_of)} tokens, as 3-8,12, "
                    f"got {row[COLUMNS[0]]!r} and {row[COLUMNS[1]]!r}"
                ) from error
            (first, split), (begin, last) = arguments
            if begin == split + 1:
                yield (first, last, split), f"{row['orig_label']} {row['dir']}"


def _edu_of_tokens(treebank: Path, document: Document) -> list[int]:
    """Return the EDU of each token; both are found by counting letters, which white space cannot shift."""
    letters = np.cumsum([0, *(not character.isspace() for character in document.text)])
    starts = [int(letters[edu.start]) for edu in document.edus]
    tokens, total = token_letters(treebank, document.id)
    if total != letters[-1]:
        raise InputError(f"{document.id}: expected tokens with the text's {letters[-1]} letters, got {total}")
    return [bisect_right(starts, token) - 1 for token in tokens]


def _edus(tokens: str, edu_of: Sequence[int]) -> tuple[int, int]:
    """Return the first and last EDU of an argument."""
    found = set[int]()
    for part in tokens.split(","):
        first, _, last = part.partition("-")
        begin, end = int(first), int(last or first)
        if not 1 <= begin <= end:
            raise ValueError(tokens)
        found |= {edu_of[begin - 1], edu_of[end - 1]}
    return min(found), max(found)
