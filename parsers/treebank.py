"""The GUM treebank as documents: raw text, gold sentences, gold EDUs and gold trees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from discsum.document import Document, Span
from discsum.errors import InputError
from discsum.parsers.formats import read_tree

_SENTENCE = "# text = "


def read_gum(folder: Path, split: str) -> list[Document]:
    """Return the documents of `split` (`train`, `dev`, `test`) of a GUM checkout with a `splits.tsv`.

    Expected in `folder`: `text/NAME.txt` (raw text), `rst/lisp_binary/NAME.dis` (EDUs and tree),
    `dep/NAME.conllu` (its `# text` lines are the sentences), `splits.tsv` (name, tab, split). EDUs and raw
    text agree letter for letter when white space is left out, so nothing needs aligning; in the
    rs4 files, which hold the same trees, two documents spell a letter otherwise.

    Raises:
        InputError: A missing file or folder, or a tree whose EDUs are not the text's.
    """
    listing = folder / "splits.tsv"
    if not listing.is_file():
        raise InputError(f"{listing}: expected the treebank's list of documents and splits, found no such file")
    names: dict[str, list[str]] = {}
    for number, line in enumerate(listing.read_text(encoding="utf-8").splitlines(), start=1):
        name, tab, of_split = line.strip().partition("\t")
        if name and not tab:
            raise InputError(f"{listing}:{number}: expected a name, a tab and a split, got {line!r}")
        names.setdefault(of_split, []).append(name)
    if split not in names:
        raise InputError(
            f"{listing}: expected documents of the split {split!r}, found {', '.join(filter(None, names))}"
        )
    return [_read_document(folder, name) for name in names[split]]


def _read_document(folder: Path, name: str) -> Document:
    text = _read(folder / "text" / f"{name}.txt")
    tree = read_tree(folder / "rst" / "lisp_binary" / f"{name}.dis")
    lines = _read(folder / "dep" / f"{name}.conllu").split("\n")
    sentences = [line.removeprefix(_SENTENCE) for line in lines if line.startswith(_SENTENCE)]
    return Document.from_spans(
        text,
        place(sentences, text, f"{name}: sentences"),
        place(tree.edu_texts, text, f"{name}: EDUs"),
        tree.tree,
        id=name,
        parser="gold",
    )


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: expected a UTF-8 file of the treebank: {error}") from error


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
