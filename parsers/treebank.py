"""The GUM treebank as documents: raw text, gold sentences, gold EDUs and gold trees."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from discsum.document import Document, Span
from discsum.errors import InputError, few, warn_caller
from discsum.formats import read_tree
from discsum.recipes.yaml_values import read_yaml

# The split of all documents, for evaluation.
ALL = "all"
_SENTENCE = "# text = "
# Names of documents with their split.
LISTING = "splits.tsv"
# Split by its label in a list of documents, or by the name of a folder, in lower case.
SPLIT_NAMES = {
    "train": "train",
    "training": "train",
    "dev": "dev",
    "development": "dev",
    "valid": "dev",
    "validation": "dev",
    "test": "test",
    "testing": "test",
}
# A line of `splits.md`: a heading that names a split, or a document.
_HEADING, _BULLET = re.compile(r"## +(\S+)"), re.compile(r"[*-] +(\S+)")


def is_gum_checkout(folder: Path) -> bool:
    """Return whether a folder has the layout that `read_gum` reads."""
    return (folder / "dep").is_dir() and (folder / "rst").is_dir()


def read_gum(folder: str | Path, split: str) -> list[Document]:
    """Return the documents of `split` (`train`, `dev`, `test`, or `all` for all of them) of a checkout of GUM.

    Files in `folder`: `dep/NAME.conllu` (its `# text` lines are the sentences; joined by a space, or by an empty line
    before `# newpar`, they are the raw text), `rst/lisp_binary/NAME.dis` (EDUs and tree), and `splits.tsv` (name, tab,
    split) or else GUM's own `splits.md`. With the latter, missing documents are left out with a warning, and those from
    Reddit without one: GUM may not publish their text and blanks it out. The EDUs in the dis files equal the raw text
    except for white space; the rs4 files have the same trees, but in two documents they differ from the text in a
    letter.

    Raises:
        InputError: A missing file or folder, or a tree whose EDUs differ from the text.
    """
    folder = Path(folder)
    listed = folder / LISTING
    if listed.is_file():
        names = _names(listed, split)
    else:
        paths = {name: folder / "dep" / f"{name}.conllu" for name in _names(folder / "splits.md", split)}
        missing = [name for name, path in paths.items() if not path.is_file()]
        if missing:
            warn_caller(f"{folder / 'dep'}: left out documents without a file: {few(missing)}")
        there = {name: path for name, path in paths.items() if path.is_file()}
        names = [name for name, path in there.items() if any(map(str.isalnum, "".join(_sentence_lines(path))))]
    return [_read_document(folder, name) for name in names]


def _names(listing: Path, split: str) -> list[str]:
    names = read_splits(listing)
    if split not in (ALL, *names):
        found = ", ".join(filter(None, names)) or "none"
        raise InputError(f"{listing}: expected the split {split!r}, found {found}")
    every = [name for own in names.values() for name in own]
    repeated = [name for name, times in Counter(every).items() if times > 1]
    if repeated:
        raise InputError(
            f"{listing}: expected each document once, in one split, got {', '.join(repeated[:3])} more than once"
        )
    return every if split == ALL else names[split]


def split_name(label: str) -> str:
    """Return the split that a label means: `dev` for `validation` and the like; other labels unchanged."""
    return SPLIT_NAMES.get(label.lower(), label)


def read_splits(listing: Path) -> dict[str, list[str]]:
    """Return the names of documents by split, which is `dev` for `validation` and the like (`SPLIT_NAMES`).

    A `.md` file has a heading per split and a bullet per document, like GUM's; a `.yaml` or `.json` file has a list per
    split; any other file has a name, a tab and a split per line.

    Raises:
        InputError: No such file, or one of another form.
    """
    if not listing.is_file():
        raise InputError(f"{listing}: expected the treebank's list of documents and splits, found no such file")
    names: dict[str, list[str]] = {}
    for label, listed in _labelled(listing).items():
        names.setdefault(split_name(label), []).extend(listed)
    return names


def split_folders(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of documents by split, if their paths have a folder for `train` and one for `dev` or `test`.

    Such folders are `TRAINING` and `TEST` of RST-DT. Otherwise there are no splits. Documents in other folders are in
    no split.
    """
    found: dict[str, list[str]] = {}
    for name in names:
        folders = (SPLIT_NAMES.get(folder.lower()) for folder in PurePosixPath(name).parts[:-1])
        split = next(filter(None, folders), None)
        if split is not None:
            found.setdefault(split, []).append(name)
    return found if "train" in found and len(found) > 1 else {}


def _labelled(listing: Path) -> dict[str, list[str]]:
    """Return the names of documents by the split's label in the file."""
    if listing.suffix in (".yaml", ".yml", ".json"):
        return _split_lists(listing)
    names: dict[str, list[str]] = {}
    current = ""
    for number, raw in enumerate(_read(listing).splitlines(), start=1):
        line = raw.strip()
        if listing.suffix == ".md":
            heading, bullet = _HEADING.fullmatch(line), _BULLET.fullmatch(line)
            current = heading[1] if heading else current
            if bullet:
                names.setdefault(current, []).append(bullet[1])
            continue
        name, tab, of_split = line.partition("\t")
        if name and not tab:
            raise InputError(f"{listing}:{number}: expected a name, a tab and a split, got {line!r}")
        if name:
            names.setdefault(of_split, []).append(name)
    return names


def _split_lists(listing: Path) -> dict[str, list[str]]:
    content = read_yaml(listing)
    lists = content.values() if isinstance(content, dict) else [None]
    if not all(isinstance(names, list) for names in lists):
        raise InputError(f"{listing}: expected a list of documents for each split, for example train: [one, two]")
    # YAML reads a document named 7 as a number.
    return {str(split): [str(name) for name in names] for split, names in content.items()}


def _sentence_lines(path: Path) -> list[str]:
    return [line.removeprefix(_SENTENCE) for line in _read(path).split("\n") if line.startswith(_SENTENCE)]


def _read_document(folder: Path, name: str) -> Document:
    tree_file, path = folder / "rst" / "lisp_binary" / f"{name}.dis", folder / "dep" / f"{name}.conllu"
    tree = read_tree(tree_file)
    text = _raw_text(path)
    return Document.from_spans(
        text,
        align(_sentence_lines(path), text, f"{path}: sentences"),
        align(tree.edu_texts, text, f"{tree_file}: EDUs of the text in {path.name}"),
        tree.tree,
        id=name,
        parser="gold",
    )


def _raw_text(path: Path) -> str:
    text, gap = "", ""
    for line in _read(path).split("\n"):
        if line == "# newpar" or line.startswith("# newpar id"):
            gap = "\n\n"
        elif line.startswith(_SENTENCE):
            text += (gap if text else "") + line.removeprefix(_SENTENCE)
            gap = " "
    return text


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: expected a UTF-8 file of the treebank: {error}") from error


def align(pieces: Sequence[str], text: str, what: str) -> list[Span]:
    """Return the span of each piece in `text`, which the pieces cover in order; white space is ignored.

    Raises:
        InputError: The pieces, called `what` in the message, differ from the text.
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
        raise InputError(f"{what}: expected to cover the whole text, but the end is left out: {rest!r}")
    return spans
