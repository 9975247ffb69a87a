"""Read any folder of tree files as documents, with the texts beside the tree files and with sentences."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from discsum.document import Document, Span
from discsum.errors import DiscsumError, InputError, warn_caller
from discsum.formats import read_trees, suffixes
from discsum.parsers.treebank import align
from discsum.writing import BLANK_LINE, LINE_BREAK, ends_sentence

# Sources of sentences for tree files without them.
PUNCTUATION, NEWLINE = "punctuation", "newline"
# The only format that has the text and its sentences.
_WHOLE = ".json"
# EDUs that are too many for one sentence.
MANY = 10
# Names that a message lists, at most.
SHOWN = 8


@dataclass(frozen=True)
class TreeFolder:
    """The documents of a folder.

    Attributes:
        documents: Documents by name: the path in the folder, without suffix.
        left_out: Names of documents that could not be read, or have the text of another one.
        guessed: Names of documents whose sentences are guessed from punctuation.
    """

    documents: dict[str, Document]
    left_out: frozenset[str]
    guessed: frozenset[str]

    def warn_of_guesses(self, folder: Path) -> None:
        """Warn if the sentences of some documents are guessed; parsers use sentences, comparisons of trees do not."""
        if self.guessed:
            message = (
                f"{folder}: sentences of {len(self.guessed)} of {len(self.documents)} documents are guessed from final "
                "punctuation; parsers trained with sentences=newline take them from text files next to the trees, with "
                "one sentence per line"
            )
            warn_caller(message)
        guessed = ((name, self.documents[name]) for name in sorted(self.guessed))
        unmarked = [name for name, document in guessed if len(document.sentences) == 1 and len(document.edus) > MANY]
        if unmarked:
            warn_caller(
                f"{folder}: expected final punctuation inside of texts, found none in {len(unmarked)} documents, such "
                f"as {unmarked[0]}; each is taken for one sentence"
            )


def has_trees(folder: Path) -> bool:
    """Return whether a folder, or one below it, has files with the suffix of a tree format, such as `.json`."""
    return folder.is_dir() and any(_tree_files(folder))


def read_folder(folder: str | Path, sentences: str = PUNCTUATION, listing: Path | None = None) -> TreeFolder:
    """Return the documents with trees in a folder and in the folders below it.

    A text file of the same name, with the suffix `.txt` or none, supplies the text if it equals that of the EDUs apart
    from white space. Documents that cannot be read, or that have the text of another one, are left out with a warning.
    A file with several trees, such as `bank.dis`, gives the documents `bank-1`, `bank-2` and so on.

    Args:
        folder: Holds files of any tree format.
        sentences: Where sentences end in trees that have none: `punctuation`, after EDUs with final punctuation and at
            blank lines of the text; `newline`, at line breaks of the text file.
        listing: A file that is no tree although it may end like one, such as `splits.json`.

    Raises:
        InputError: No folder, or no tree in it.
    """
    folder = Path(folder)
    if not folder.is_dir():
        there = "a file" if folder.is_file() else "no such folder"
        raise InputError(f"{folder}: expected a folder with tree files, found {there}")
    documents, left_out, texts, guessed = dict[str, Document](), set[str](), dict[str, str](), set[str]()

    def leave_out(name: str, error: DiscsumError) -> None:
        warn_caller(f"left out: {error}")
        left_out.add(name)

    # Of two formats of a document, JSON first.
    files = [path for path in _tree_files(folder) if path != listing]
    for path in sorted(files, key=lambda path: (path.with_suffix(""), path.suffix != _WHOLE, path.name)):
        place = path.relative_to(folder)
        try:
            found = read_trees(path)
        except DiscsumError as error:
            leave_out(place.with_suffix("").as_posix(), error)
            continue
        for document in found:
            # A file with several trees names them after itself.
            name, certain = place.with_name(document.id).as_posix(), path.suffix.lower() == _WHOLE
            try:
                if not certain and len(found) == 1:
                    document, certain = _with_text(document, path, sentences)
                _check_tree(document, name, path, documents, texts)
            except DiscsumError as error:
                leave_out(name, error)
                continue
            documents[name] = document.with_id(name)
            if not certain:
                guessed.add(name)
    if not documents:
        endings = ", ".join(sorted(suffixes()))
        unread = f" but {len(left_out)} that cannot be read" if left_out else ""
        raise InputError(f"{folder}: expected a folder with tree files that end in {endings}, found none{unread}")
    return TreeFolder(documents, frozenset(left_out - documents.keys()), frozenset(guessed))


def _check_tree(document: Document, name: str, path: Path, documents: Container[str], texts: dict[str, str]) -> None:
    """Check that a document has a tree, and a name and a text of its own; `texts` has the name of each text."""
    if document.tree is None:
        raise InputError(f"{path}: expected a tree over the EDUs, found none")
    if name in documents:
        raise InputError(f"{path}: expected one tree file per document, but {name} is also there in another format")
    same = texts.setdefault("".join(document.text.split()), name)
    if same != name:
        raise InputError(f"{path}: expected a text that no other tree file has, but {same} has the same one")


def _tree_files(folder: Path) -> Iterator[Path]:
    known = suffixes()
    for path in folder.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix.lower() in known and path.is_file() and not hidden:
            yield path


def _with_text(document: Document, path: Path, sentences: str) -> tuple[Document, bool]:
    """Return the document with the text beside its file, if it fits, and whether its sentences are certain."""
    found = next((file for file in (path.with_suffix(".txt"), path.with_suffix("")) if file.is_file()), None)
    if found is None:
        if sentences == NEWLINE:
            warn_caller(f"{path}: expected a text file next to it, found none")
        return document, False
    try:
        text = found.read_bytes().decode("utf-8-sig")
        edus = align(document.edu_texts, text, "EDUs")
    except (InputError, UnicodeDecodeError) as error:
        warn_caller(f"{found}: expected the text of {path.name}; the text of its EDUs is used instead: {error}")
        return document, False
    spans = sentence_spans(text, edus, sentences)
    whole = Document.from_spans(text, spans, edus, document.tree, document.id, document.parser)
    return whole, sentences == NEWLINE


def sentence_spans(text: str, edus: list[Span], sentences: str) -> list[Span]:
    """Return the sentences of a text with EDUs: its lines, or a guess from punctuation and blank lines.

    Sentences begin only where EDUs begin, so a line that begins inside an EDU belongs to the sentence before.
    """
    breaks = LINE_BREAK if sentences == NEWLINE else BLANK_LINE
    spans, start = [], edus[0].start if edus else 0
    for index, edu in enumerate(edus):
        following = edus[index + 1].start if index + 1 < len(edus) else None
        closed = sentences != NEWLINE and ends_sentence(text[edu.start : edu.end])
        if following is None or closed or breaks.search(text, edu.end, following):
            spans.append(Span(start, edu.end))
            start = following if following is not None else edu.end
    return spans
