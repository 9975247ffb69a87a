"""The GUM treebank as documents: raw text, gold sentences, gold EDUs and gold trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from discsum.document import Document, Span
from discsum.errors import InputError
from discsum.parsers.formats import read_tree


def read_gum(folder: Path, split: str) -> list[Document]:
    """Return the documents of `split` (`train`, `dev`, `test`) of a GUM checkout with a `splits.tsv`.

    Expected in `folder`: `text/NAME.txt` (raw text), `rst/rstweb/NAME.rs4` (EDUs and tree),
    `dep/NAME.conllu` (its `# text` lines are the sentences), `splits.tsv` (name, tab, split). Tokens
    and raw text agree letter for letter when white space is left out, so nothing needs aligning.

    Raises:
        InputError: A missing file or folder, or a tree whose EDUs are not the text's.
    """
    listing = folder / "splits.tsv"
    if not listing.is_file():
        raise InputError(f"{listing}: expected the treebank's list of documents and splits, found no such file")
    rows = [line.split("\t") for line in listing.read_text(encoding="utf-8").splitlines() if line.strip()]
    names = [row[0] for row in rows if row[1] == split]
    if not names:
        raise InputError(f"{listing}: expected documents of the split {split!r}, found none")
    return [_read_document(folder, name) for name in names]


def _read_document(folder: Path, name: str) -> Document:
    text = (folder / "text" / f"{name}.txt").read_bytes().decode("utf-8")
    tree = read_tree(folder / "rst" / "rstweb" / f"{name}.rs4")
    sentences = list(_sentences(folder / "dep" / f"{name}.conllu"))
    return Document.from_spans(
        text,
        place(sentences, text, f"{name}: sentences"),
        place(tree.edu_texts, text, f"{name}: EDUs"),
        tree.tree,
        id=name,
        parser="gold",
    )


def _sentences(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# text = "):
            yield line.removeprefix("# text = ")


def place(pieces: Sequence[str], text: str, what: str) -> list[Span]:
    """Return where each of the pieces stands in `text`, both compared without white space.

    Raises:
        InputError: Pieces that are not the text's, named `what`, with where they part.
    """
    positions = [index for index, character in enumerate(text) if not character.isspace()]
    spans, reached = [], 0
    for piece in pieces:
        letters = "".join(piece.split())
        found = "".join(text[position] for position in positions[reached : reached + len(letters)])
        if found != letters or not letters:
            raise InputError(f"{what}: expected {letters[:40]!r} in the text, got {found[:40]!r}")
        spans.append(Span(positions[reached], positions[reached + len(letters) - 1] + 1))
        reached += len(letters)
    if reached != len(positions):
        rest = text[positions[reached] :][:40]
        raise InputError(f"{what}: expected to cover the text to its end, left out {rest!r}")
    return spans
