"""EDU texts and relation labels as the tree files can hold them.

rs3, rs4, dis and rsd put an EDU on one line and are read by tools that fold white space. So there every
run of white space is one space, and characters that XML 1.0 forbids (control characters, lone surrogates,
U+FFFE and U+FFFF) are U+FFFD. Only JSON keeps a text as it is.
"""

from __future__ import annotations

import re

from discsum.document import Document
from discsum.errors import InputError
from discsum.tree import RSTTree

_FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WORD = re.compile(r"[^\s()]+")


def fold(text: str) -> str:
    """Return the text with runs of white space as one space, none at the ends."""
    return " ".join(text.split())


def printable(text: str) -> str:
    """Return the text folded, with U+FFFD for every character that XML cannot hold."""
    return _FORBIDDEN.sub("\ufffd", fold(text))


def lines_of(document: Document, format: str, *, one_word: bool = False) -> tuple[RSTTree, list[str]]:
    """Return the tree and the EDUs' texts as a file of the format holds them; `one_word` is for labels.

    Raises:
        InputError: No tree, an EDU of white space only, or a relation that would not be read back.
    """
    tree = document.require_tree(format)
    texts = [printable(text) for text in document.edu_texts]
    for index, text in enumerate(texts):
        if not text:
            raise InputError(f"{format}: EDU {index}: expected some text, got white space only")
    for label in {node.relation for node in tree.nodes}:
        if label == "span" or label != printable(label):
            message = f"expected a relation on one line and not called 'span', got {label!r}"
            raise InputError(f"{format}: {message}")
        if one_word and not _WORD.fullmatch(label):
            raise InputError(f"{format}: expected a relation of one word without brackets, got {label!r}")
    return tree, texts
