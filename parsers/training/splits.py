"""The splits of a treebank: from a file, or drawn by shares; kept with a parser to be measured on the same ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated
from warnings import warn

from discsum.document import Document
from discsum.errors import InputError, InputWarning
from discsum.files import replacing
from discsum.formats import suffixes
from discsum.parsers.tree_folder import PUNCTUATION, SHOWN, TreeFolder, read_folder
from discsum.parsers.treebank import is_treebank, read_gum, read_splits
from discsum.persistence import locate
from discsum.recipes.fields import Checked, Natural, Share, about
from discsum.registry import suggestion

LISTING, KEPT = "splits.tsv", "treebank.json"
# The name of all documents together, for measuring.
ALL = "all"


@dataclass(frozen=True)
class SplitConfig(Checked):
    """How a treebank is split, unless it is a checkout of GUM."""

    file: Annotated[
        str | None,
        about(
            "File of the splits `train`, `dev` and `test` in the treebank's folder: a name, a tab and a split a line, "
            "or `.yaml` with a list per split. By default `splits.tsv` if it is there, otherwise splits are drawn."
        ),
    ] = None
    dev: Annotated[Share, about("Share of the documents drawn to choose by, one at least.")] = 0.1
    test: Annotated[Share, about("Share of the documents drawn to be measured on, one at least unless 0.")] = 0.1
    seed: Annotated[Natural, about("Seed of the draw.")] = 1

    def problems(self) -> list[str]:
        """Return whether no documents would be left to train on."""
        return (
            [] if self.dev + self.test < 1 else [f"dev: expected less than 1 with test, got {self.dev + self.test:g}"]
        )


@dataclass(frozen=True)
class Splits:
    """Names of documents by split, and where sentences come from: what is kept in a parser's `treebank.json`."""

    sentences: str
    names: dict[str, list[str]]

    def write(self, folder: Path) -> None:
        """Write them to a parser's folder."""
        with replacing(folder / KEPT) as path:
            path.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Splits | None:
        """Return those in a parser's folder, if it has some."""
        if not (folder / KEPT).is_file():
            return None
        try:
            content = json.loads((folder / KEPT).read_text(encoding="utf-8"))
            return cls(str(content["sentences"]), {split: list(names) for split, names in content["names"].items()})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{folder / KEPT}: expected names of documents by split, got {error!r}") from error


@dataclass(frozen=True)
class Treebank:
    """A treebank to train on.

    Attributes:
        name: Name of its folder.
        train: Documents to train on.
        dev: Documents to choose by.
        splits: All splits; none for GUM, which has its own.
        guessed: Number of documents whose sentences are guessed.
    """

    name: str
    train: list[Document]
    dev: list[Document]
    splits: Splits | None = None
    guessed: int = 0


def read_treebank(folder: Path, config: SplitConfig, sentences: str = PUNCTUATION) -> Treebank:
    """Return the training and dev documents of a checkout of GUM, or of any folder of tree files.

    Raises:
        InputError: No trees, a split file that names other documents, or too few documents.
    """
    if is_treebank(folder):
        if (config, sentences) != (SplitConfig(), PUNCTUATION):
            raise InputError(f"{folder}: expected no split or sentences with a checkout of GUM, which has its own")
        return Treebank(folder.name, read_gum(folder, "train"), read_gum(folder, "dev"))
    listing = folder / (config.file or LISTING)
    if config.file is None and not listing.is_file() and (folder / "splits.md").is_file():
        raise InputError(f"{folder}: expected the folders dep and rst beside splits.md, as in a checkout of GUM")
    found = read_folder(folder, sentences)
    if config.file is not None or listing.is_file():
        names = listed(found, read_splits(listing), str(listing))
        unused = len(found.documents) - sum(map(len, names.values()))
        if unused:
            warn(f"{listing}: {unused} documents are in no split and not used", InputWarning, stacklevel=2)
        wanted = f"{listing}: expected documents of the splits train and dev"
    else:
        names = drawn(found.documents, config)
        wanted = f"{folder}: expected at least {2 + bool(config.test)} documents to draw splits from"
    train, dev = ([found.documents[name] for name in names.get(split, ())] for split in ("train", "dev"))
    if not train or not dev:
        raise InputError(f"{wanted}, got {len(train)} and {len(dev)} of {len(found.documents)}")
    if not any(document.tree and document.tree.nodes for document in train):
        raise InputError(f"{folder}: expected a training document of two EDUs or more, got {len(train)} of one EDU")
    return Treebank(folder.resolve().name, train, dev, Splits(sentences, names), found.guessed)


def drawn(names: Collection[str], config: SplitConfig) -> dict[str, list[str]]:
    """Return the names by split, drawn by shares; a document's place in the draw does not depend on the others."""

    def place(name: str) -> str:
        return hashlib.sha256(f"{config.seed} {name}".encode("utf-8", "surrogatepass")).hexdigest()

    order = sorted(names, key=place)
    test = max(1, round(config.test * len(order))) if config.test else 0
    dev = max(1, round(config.dev * len(order)))
    parts = {"train": order[test + dev :], "dev": order[test : test + dev], "test": order[:test]}
    return {split: sorted(part) for split, part in parts.items() if part}


def listed(found: TreeFolder, splits: Mapping[str, Sequence[str]], source: str) -> dict[str, list[str]]:
    """Return the names of the found documents by the splits of a list, which may name files or leave out folders.

    Raises:
        InputError: Documents that are not there, or are in two splits.
    """
    known = {name: name for name in found.left_out} | {name: name for name in found.documents}
    short: dict[str, list[str]] = {}
    for name in known:
        short.setdefault(name.rpartition("/")[2], []).append(name)
    known = {last: full[0] for last, full in short.items() if len(full) == 1} | known
    named, missing, places = dict[str, list[str]](), list[str](), dict[str, str]()
    for split, names in splits.items():
        for name in names:
            bare = name.rsplit(".", 1)[0] if Path(name).suffix.lower() in suffixes() else name
            full = known.get(name) or known.get(bare)
            if full is None:
                missing.append(name)
            elif places.setdefault(full, split) != split:
                raise InputError(f"{source}: expected {name} in one split, got {places[full]} and {split}")
            elif full in found.documents:
                named.setdefault(split, []).append(full)
    if missing:
        shown = ", ".join(missing[:SHOWN]) + (f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else "")
        near = suggestion(missing[0], list(known))
        raise InputError(f"{source}: expected names of documents with trees, found no {shown}{near}; correct the list")
    return {split: list(dict.fromkeys(names)) for split, names in named.items()}


def read_split(folder: Path, split: str, parser: str | Path) -> list[Document]:
    """Return the documents of a split of GUM or of any folder of tree files, to measure a parser on.

    Splits of a folder are those that the parser was trained with, if it was trained on its documents, or those of
    `splits.tsv`; `all` are all documents.

    Raises:
        InputError: No such split, or documents of it that are not there.
    """
    if is_treebank(folder):
        return read_gum(folder, split)
    kept = Splits.read(locate(parser))
    found = read_folder(folder, kept.sentences if kept else PUNCTUATION)
    if split == ALL:
        return list(found.documents.values())
    known = found.documents.keys() | found.left_out
    named = {name for names in (kept.names if kept else {}).values() for name in names}
    # Another treebank, with splits of its own, may have some of the names.
    own = known >= named if (folder / LISTING).is_file() else bool(known & named)
    if kept is not None and own:
        names, source = kept.names, str(locate(parser) / KEPT)
    elif (folder / LISTING).is_file():
        names, source = read_splits(folder / LISTING), str(folder / LISTING)
    else:
        raise InputError(
            f"{folder}: expected a treebank that {parser} was trained on, or one with {LISTING}; measure on all of its "
            f"{len(found.documents)} documents with --split {ALL}"
        )
    if split not in names:
        raise InputError(f"{source}: expected documents of the split {split!r}, found {', '.join(names) or 'none'}")
    chosen = listed(found, {split: names[split]}, source)
    return [found.documents[name] for name in chosen.get(split, ())]
