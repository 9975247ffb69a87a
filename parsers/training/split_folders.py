"""Splits that the folders of a treebank name, such as `TRAINING` and `TEST` of RST-DT."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from discsum.parsers.treebank import SPLIT_NAMES


def split_folders(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of documents by split, if their paths have a folder for `train` and one for `dev` or `test`.

    Otherwise there are no splits. Documents in other folders are in no split.
    """
    found: dict[str, list[str]] = {}
    for name in names:
        folders = (SPLIT_NAMES.get(folder.lower()) for folder in PurePosixPath(name).parts[:-1])
        split = next(filter(None, folders), None)
        if split is not None:
            found.setdefault(split, []).append(name)
    return found if "train" in found and len(found) > 1 else {}
