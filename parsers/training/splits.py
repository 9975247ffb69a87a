"""Splits of a treebank: from a file, or drawn by share; saved with a parser, to measure it on the same splits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from discsum.document import Document
from discsum.errors import InputError, few, warn_caller
from discsum.files import replacing, sha256_of_text
from discsum.formats import suffixes
from discsum.json_objects import checked_fields, read_object
from discsum.parsers.tree_folder import PUNCTUATION, SHOWN, TreeFolder, read_folder
from discsum.parsers.treebank import LISTING, SPLIT_NAMES, is_gum_checkout, read_gum, read_splits, split_folders
from discsum.persistence import SPLITS_FILE
from discsum.recipes.fields import Checked, FilePath, Natural, Share, about
from discsum.registry import suggestion
from discsum.text_checks import ENGLISH


@dataclass(frozen=True)
class SplitConfig(Checked):
    """How a treebank is split; a checkout of GUM has splits of its own, of which documents can be left out."""

    file: Annotated[
        FilePath | None,
        about(
            "File of the splits `train`, `dev` and `test` in the treebank's folder: name, tab and split on each line, "
            "or `.yaml` with a list per split. By default `splits.tsv` if it is there; otherwise folders such as "
            "`TRAINING` and `TEST` are splits, or splits are drawn."
        ),
    ] = None
    dev: Annotated[Share, about("Share of the documents drawn for the dev split, at least one document.")] = 0.1
    test: Annotated[Share, about("Share of the documents drawn for the test split, at least one unless 0.")] = 0.1
    seed: Annotated[Natural, about("Seed of the draw.")] = 1
    leave_out: Annotated[
        tuple[str, ...],
        about("Patterns of the names of training documents that are left out, as `GUM_fiction_*`; also for GUM."),
    ] = ()

    def problems(self) -> list[str]:
        """Return a message if no documents would be left to train on."""
        return (
            []
            if self.dev + self.test < 1
            else [f"dev: expected a sum with test below 1, got {self.dev:g} + {self.test:g}"]
        )


@dataclass(frozen=True)
class Splits:
    """Content of a parser's `treebank.json`: names of documents by split, and where sentences come from.

    Attributes:
        sentences: Source of the sentences, as for `read_folder`.
        names: Names of the documents by split.
        texts: Digest of each document's text by name.
    """

    sentences: str
    names: dict[str, list[str]]
    texts: dict[str, str]

    @classmethod
    def of(cls, sentences: str, names: dict[str, list[str]], documents: Mapping[str, Document]) -> Splits:
        """Return splits with the digests of their documents."""
        return cls(sentences, names, {name: _digest(documents[name]) for own in names.values() for name in own})

    def knows(self, found: TreeFolder, listed: Collection[str] | None) -> bool:
        """Return whether these are splits of a folder's documents, of which some may be missing.

        One of the texts must be the same. If the folder has splits itself, whose names are `listed`, it must be most of
        the texts, and none of those splits may be missing here.
        """
        same = sum(
            name in found.documents and _digest(found.documents[name]) == text for name, text in self.texts.items()
        )
        return same > 0 if listed is None else 2 * same > len(self.texts) and {*listed} <= self.names.keys()

    def trained_on(self, documents: Iterable[Document]) -> int:
        """Return how many of the documents have the text of a training document."""
        learned = {self.texts[name] for name in self.names.get("train", ()) if name in self.texts}
        return sum(_digest(document) in learned for document in documents)

    def write(self, folder: Path) -> None:
        """Write the splits to a parser's folder."""
        with replacing(folder / SPLITS_FILE) as path:
            path.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Splits | None:
        """Return the splits in a parser's folder; None if it has none."""
        path = folder / SPLITS_FILE
        if not path.is_file():
            return None
        return checked_fields(cls, read_object(path, InputError), path, InputError)


@dataclass(frozen=True)
class Treebank:
    """A treebank to train on.

    Attributes:
        name: Name of its folder.
        train: Documents to train on.
        dev: Documents to validate on.
        splits: All splits; those of GUM lack its test split.
        guessed: Number of documents whose sentences are guessed.
        is_gum: Whether this is GUM, whose licence and language are known.
    """

    name: str
    train: list[Document]
    dev: list[Document]
    splits: Splits
    guessed: int = 0
    is_gum: bool = False

    @classmethod
    def of_gum(cls, name: str, train: list[Document], dev: list[Document]) -> Treebank:
        """Return documents of GUM."""
        names = {split: [document.id for document in own] for split, own in (("train", train), ("dev", dev))}
        documents = {document.id: document for document in (*train, *dev)}
        return cls(name, train, dev, Splits.of(PUNCTUATION, names, documents), is_gum=True)

    @property
    def language(self) -> str:
        """English for GUM; empty for other treebanks, whose language only the recipe can name."""
        return ENGLISH if self.is_gum else ""


def read_treebank(folder: Path, config: SplitConfig, sentences: str = PUNCTUATION) -> Treebank:
    """Return the training and dev documents of a checkout of GUM, or of any folder of tree files.

    Raises:
        InputError: No trees, a split file that names other documents, or too few documents.
    """
    if is_gum_checkout(folder):
        if (config, sentences) != (SplitConfig(leave_out=config.leave_out), PUNCTUATION):
            raise InputError(
                f"{folder}: a checkout of GUM has its own splits and sentences; leave out sentences and every field of "
                "split except split.leave_out"
            )
        documents = {document.id: document for document in read_gum(folder, "train")}
        kept = _kept(list(documents), config.leave_out, folder)
        gum = Treebank.of_gum(folder.name, [documents[name] for name in kept], read_gum(folder, "dev"))
        _check_parts(gum, f"{folder}: expected documents with text in the splits train and dev")
        return gum
    listing = folder / (config.file or LISTING)
    if config.file is None and not listing.is_file() and (folder / "splits.md").is_file():
        raise InputError(f"{folder}: expected the folders dep and rst beside splits.md, as in a checkout of GUM")
    found = read_folder(folder, sentences, listing)
    found.warn_of_guesses(folder)
    source: Path | None = None
    if config.file is not None or listing.is_file():
        drawn = replace(config, file=None, leave_out=())
        if drawn != SplitConfig():
            raise InputError(f"{listing}: has the splits; leave out the fields of split other than file and leave_out")
        names, source = match_names(found, read_splits(listing), str(listing)), listing
    elif names := split_folders(found.documents):
        names, source = _with_dev(names, config, folder), folder
    else:
        least = 2 + bool(config.test)
        if len(found.documents) < least:
            raise InputError(
                f"{folder}: expected at least {least} documents to draw splits from, got {len(found.documents)}"
            )
        names = draw_splits(found.documents, config)
    if unused := len(found.documents) - sum(map(len, names.values())):
        warn_caller(f"{source}: {unused} documents are in no split and are not used")
    wanted = (
        f"{source}: expected documents of the splits train and dev"
        if source
        else f"{folder}: expected shares of split that leave documents to train and validate on"
    )
    names["train"] = _kept(names.get("train", []), config.leave_out, folder)
    train, dev = ([found.documents[name] for name in names.get(split, ())] for split in ("train", "dev"))
    treebank = Treebank(
        folder.resolve().name, train, dev, Splits.of(sentences, names, found.documents), len(found.guessed)
    )
    unknown = sorted({*names} - {*SPLIT_NAMES.values()})
    others = f"; unknown splits: {', '.join(unknown)}" if unknown else ""
    _check_parts(treebank, wanted, f" of {len(found.documents)}{others}")
    _check_trees(treebank, folder)
    return treebank


def _with_dev(names: dict[str, list[str]], config: SplitConfig, folder: Path) -> dict[str, list[str]]:
    """Return the splits of a treebank's folders; the dev split is drawn from the training documents if it has none."""
    fields = ("test", "dev", "seed") if "dev" in names else ("test",)
    if changed := [f"split.{name}" for name in fields if getattr(config, name) != getattr(SplitConfig(), name)]:
        raise InputError(f"{folder}: its folders are the splits; leave out {', '.join(changed)}")
    if "dev" in names:
        return names
    # A draw that leaves no training documents has no training split.
    return names | {"train": []} | draw_splits(names["train"], replace(config, test=0.0))


def _digest(document: Document) -> str:
    """Return a digest of a document's text without white space, which differs between formats."""
    return sha256_of_text("".join(document.text.split()))[:16]


def _check_trees(treebank: Treebank, folder: Path) -> None:
    """Check that there are trees to train and to validate on.

    Every parser is right about documents of one EDU, so they do not tell which epoch is the best.
    """
    for use, documents in (("training", treebank.train), ("validation", treebank.dev)):
        if not any(document.tree and document.tree.nodes for document in documents):
            raise InputError(
                f"{folder}: expected a {use} document of two or more EDUs, got only documents of one EDU "
                f"({len(documents)})"
            )


def _check_parts(treebank: Treebank, wanted: str, of_all: str = "") -> None:
    """Check that there are documents to train and validate on; the message begins with `wanted`."""
    train, dev = len(treebank.train), len(treebank.dev)
    if not train or not dev:
        raise InputError(f"{wanted}, got {train} and {dev}{of_all}")


def _kept(names: Sequence[str], patterns: Sequence[str], folder: Path) -> list[str]:
    """Return the training documents that no pattern matches; each pattern must match one, and some must remain."""
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            shown = f" such as {names[0]}" if names else ""
            raise InputError(
                f"split.leave_out: {folder} has no training document {pattern!r}; expected patterns of names{shown}"
            )
    kept = [name for name in names if not any(fnmatchcase(name, pattern) for pattern in patterns)]
    if names and not kept:
        raise InputError(
            f"split.leave_out: expected patterns that leave at least one training document of {folder}, got "
            f"{', '.join(patterns)}, which match all {len(names)}"
        )
    return kept


def draw_splits(names: Collection[str], config: SplitConfig) -> dict[str, list[str]]:
    """Return the names by split, drawn by share; a document's place in the draw does not depend on the others."""

    def place(name: str) -> str:
        return hashlib.sha256(f"{config.seed} {name}".encode("utf-8", "surrogatepass")).hexdigest()

    order = sorted(names, key=place)
    test = max(1, round(config.test * len(order))) if config.test else 0
    dev = max(1, round(config.dev * len(order)))
    parts = {"train": order[test + dev :], "dev": order[test : test + dev], "test": order[:test]}
    return {split: sorted(part) for split, part in parts.items() if part}


def match_names(
    found: TreeFolder, splits: Mapping[str, Sequence[str]], source: str, remedy: str = ""
) -> dict[str, list[str]]:
    """Return the names of found documents by split; the list of splits may name files, or leave out folders.

    Args:
        found: The documents.
        splits: Names by split.
        source: The list's file, for errors.
        remedy: Advice in the error for names that are not there; by default to correct the list.

    Raises:
        InputError: Documents that are not there, or are in two splits.
    """
    by_name = {name: name for name in found.left_out} | {name: name for name in found.documents}
    by_last = dict[str, list[str]]()
    for name in by_name:
        by_last.setdefault(name.rpartition("/")[2], []).append(name)
    by_name = {last: full[0] for last, full in by_last.items() if len(full) == 1} | by_name
    matched, missing, split_of = dict[str, list[str]](), list[str](), dict[str, str]()
    for split, names in splits.items():
        for name in names:
            bare = name.rsplit(".", 1)[0] if Path(name).suffix.lower() in suffixes() else name
            full = by_name.get(name) or by_name.get(bare)
            if full is None:
                missing.append(name)
            elif split_of.setdefault(full, split) != split:
                raise InputError(f"{source}: expected {name} in only one split, got {split_of[full]} and {split}")
            elif full in found.documents:
                matched.setdefault(split, []).append(full)
    if missing:
        remedy = f"; {remedy}" if remedy else f"{suggestion(missing[0], list(by_name))}; correct the list"
        raise InputError(
            f"{source}: expected names of documents with trees, found no tree for {few(missing, SHOWN)}{remedy}"
        )
    return {split: list(dict.fromkeys(names)) for split, names in matched.items()}
