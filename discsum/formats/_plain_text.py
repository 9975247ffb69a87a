"""EDU texts and relation labels as tree files can hold them.

rs3, rs4, dis and rsd put an EDU on one line and are read by tools that fold white space. So every run of white space is
written as one space, and characters that XML 1.0 forbids (control characters, lone surrogates, U+FFFE and U+FFFF) as
U+FFFD. Only JSON keeps the original text.
"""

from __future__ import annotations

import re

from discsum.document import Document
from discsum.errors import FormatWarning, InputError, warn_caller
from discsum.tree import RSTTree

_FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WORD = re.compile(r"[^\s()]+")


def fold(text: str) -> str:
    """Return the text stripped, with runs of white space as one space."""
    return " ".join(text.split())


def printable(text: str) -> str:
    """Return the text folded, with U+FFFD for every character that XML forbids."""
    return _FORBIDDEN.sub("\ufffd", fold(text))


def tree_and_texts(
    document: Document, format: str, *, one_word: bool = False, erst: bool = False
) -> tuple[RSTTree, list[str]]:
    """Return the tree and the EDUs' printable texts, for a file of the format.

    Args:
        document: The document.
        format: The format's name, for errors.
        one_word: Whether relations must be single words.
        erst: Whether the format keeps secondary edges and signals; otherwise a document with some causes a warning.

    Raises:
        InputError: No tree, an EDU of white space only, or a relation that would not be read back.
    """
    tree = document.require_tree(format)
    if document.erst and not erst:
        # Without the document's name, so that Python shows the warning only once.
        message = f"{format}: secondary edges and signals are left out; rs4 and json keep them"
        warn_caller(FormatWarning(message))
    texts = [printable(text) for text in document.edu_texts]
    for index, text in enumerate(texts):
        if not text:
            raise InputError(f"{format}: EDU {index}: expected some text, got white space only")
    for label in {node.relation for node in tree.nodes}:
        if label == "span" or label != printable(label):
            raise InputError(
                f"{format}: expected a relation on one line and not called 'span', got {label!r}; rename it"
            )
        if one_word and not _WORD.fullmatch(label):
            raise InputError(f"{format}: expected a relation of one word without brackets, got {label!r}; rename it")
    return tree, texts
