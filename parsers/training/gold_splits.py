"""The documents of a treebank that parsers are evaluated on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from discsum.constants import PARSER_KIND
from discsum.document import Document
from discsum.errors import InputError, warn_caller
from discsum.parsers.training.predicted_trees import is_tree_folder
from discsum.parsers.training.splits import Splits, match_names
from discsum.parsers.tree_folder import PUNCTUATION, TreeFolder, read_folder
from discsum.parsers.treebank import ALL, LISTING, is_gum_checkout, read_gum, read_splits, split_folders, split_name
from discsum.persistence import SPLITS_FILE, locate


@dataclass(frozen=True)
class GoldSplit:
    """Documents with gold trees to evaluate a parser on.

    Attributes:
        documents: The documents of a split.
        guessed: Names of those whose sentences are guessed from punctuation.
    """

    documents: Sequence[Document]
    guessed: Collection[str] = frozenset()


@dataclass(frozen=True)
class _Known:
    """A parser that was trained on the documents of a folder, its splits, and the documents."""

    parser: str | Path
    splits: Splits
    found: TreeFolder


def read_split(folder: Path, split: str, parsers: Sequence[str | Path]) -> list[GoldSplit]:
    """Return, for each parser or folder of its trees, the documents of a split of GUM or of any folder of tree files.

    The splits of a folder are those that the parser was trained with, if it was trained on the folder's documents and
    has each of the folder's splits; otherwise those of `splits.tsv`, or of folders such as `TRAINING` and `TEST`;
    otherwise those of the first listed parser that was trained on the documents. The split `all` has all documents. The
    folder is read once for all parsers that use the same source of sentences.

    A warning says how many of the documents a parser was trained on, if its folder lists them, unless the split is
    `train`.

    Raises:
        InputError: No such split, or documents of it that are not there.
    """
    split = split_name(split)
    kept = [None if is_tree_folder(parser) else Splits.read(locate(parser, PARSER_KIND)) for parser in parsers]
    if is_gum_checkout(folder):
        documents = read_gum(folder, split)
        for parser, splits in zip(parsers, kept, strict=True):
            _warn_of_training(folder, split, parser, splits, documents)
        return [GoldSplit(documents)] * len(parsers)
    origins = [splits.sentences if splits else PUNCTUATION for splits in kept]
    found = {origin: read_folder(folder, origin) for origin in dict.fromkeys(origins)}
    read = [origin for origin, parser in zip(origins, parsers, strict=True) if not is_tree_folder(parser)]
    for origin in dict.fromkeys(read):
        found[origin].warn_of_guesses(folder)
    listed = _listed(folder, found[origins[0]])
    known = [
        _Known(parser, splits, found[origin]) if splits is not None and splits.knows(found[origin], listed) else None
        for parser, splits, origin in zip(parsers, kept, origins, strict=True)
    ]
    # Listed splits are for all parsers; others only one that was trained on the documents knows.
    other = next(filter(None, known), None) if listed is None else None
    chosen = []
    for parser, splits, origin, own in zip(parsers, kept, origins, known, strict=True):
        which = own or other
        there = found[origin] if which is None else which.found
        documents = _documents_of(folder, there, split, parser, which, listed)
        if own is None and which is not None and split != ALL:
            warn_caller(f"{parser}: measured on the {split} documents of {which.parser}")
        _warn_of_training(folder, split, parser, splits, documents)
        chosen.append(GoldSplit(documents, there.guessed))
    return chosen


def _warn_of_training(
    folder: Path, split: str, parser: str | Path, splits: Splits | None, documents: Sequence[Document]
) -> None:
    if split != "train" and splits is not None and (learned := splits.trained_on(documents)):
        message = f"{parser}: was trained on {learned} of the {len(documents)} documents of {folder}, {split}"
        warn_caller(f"{message}; expected documents that it has not seen")


def _listed(folder: Path, found: TreeFolder) -> Mapping[str, Sequence[str]] | None:
    """Return the splits that a folder has itself, names of documents by split; None if it has none."""
    listing = folder / LISTING
    return read_splits(listing) if listing.is_file() else split_folders(found.documents) or None


def _documents_of(
    folder: Path,
    found: TreeFolder,
    split: str,
    parser: str | Path,
    trained: _Known | None,
    listed: Mapping[str, Sequence[str]] | None,
) -> list[Document]:
    """Return the documents of a split of a folder: of a parser that was trained on the folder, or of the folder."""
    if split == ALL:
        return list(found.documents.values())
    names: Mapping[str, Sequence[str]]
    if trained is not None:
        names, source = trained.splits.names, locate(trained.parser, PARSER_KIND) / SPLITS_FILE
        remedy = (
            f"name the treebank that {trained.parser} was trained on, with all its documents, or measure on all of "
            f"{folder} with --split {ALL}"
        )
    elif listed is not None:
        listing = folder / LISTING
        names, source, remedy = listed, listing if listing.is_file() else folder, ""
    else:
        known = "" if is_tree_folder(parser) else f"that {parser} was trained on, or one "
        raise InputError(
            f"{folder}: expected a treebank {known}with {LISTING} or with folders such as train and test; measure on "
            f"all of its {len(found.documents)} documents with --split {ALL}"
        )
    if split not in names:
        raise InputError(f"{source}: expected the split {split!r}, found {', '.join(names) or 'none'}")
    matched = match_names(found, {split: names[split]}, str(source), remedy)
    return [found.documents[name] for name in matched.get(split, ())]
