"""Reading of dis files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from discsum.document import Document
from discsum.errors import FormatError, FormatWarning, warn_caller
from discsum.format_registry import with_warnings
from discsum.formats._constituents import Part, assemble, join_satellite, mark, relation_conflict
from discsum.formats._plain_text import fold
from discsum.tree import Node, RSTTree

_TOKEN = re.compile(
    r"""
    \(\s*(?P<role>Root|Nucleus|Satellite)\b
    | \(\s*span\s+(?P<first>\d{1,9})\s+(?P<last>\d{1,9})\s*\)
    | \(\s*leaf\s+(?P<leaf>\d{1,9})\s*\)
    | \(\s*rel2par\s+(?P<relation>[^\s()]+)\s*\)
    | \(\s*text\s+_!(?P<text>.*?)_!\s*\)
    | (?P<close>\))
    | (?P<noise>//TT_ERR\b|\s+)
    """,
    re.VERBOSE | re.DOTALL,
)
# Characters with a meaning in the format; word joiners inside show that they are plain text.
MARK = re.compile("([_<])(\u2060*)(!|P>)")
PARAGRAPH = "<P>"


@dataclass(slots=True)
class _Bracket:
    """A constituent or EDU while it is read."""

    role: str
    line: int
    span: tuple[int, int] | None = None
    leaf: int | None = None
    relation: str = ""
    text: str | None = None
    ends_paragraph: bool = False
    children: list[tuple[str, Part]] = field(default_factory=list)

    def __str__(self) -> str:
        if self.leaf is not None:
            return f"{self.role} (leaf {self.leaf})"
        return f"{self.role} (span {self.span[0]} {self.span[1]})" if self.span else self.role


@dataclass
class _Tree:
    """One tree while it is read: its nodes, texts and ends of paragraphs.

    Also brackets whose spans disagree with their leaves, and those with a relation that the tree cannot hold.
    """

    source: str
    nodes: list[Node] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    paragraph_ends: set[int] = field(default_factory=set)
    n_ary: bool = False
    disagreeing: list[tuple[_Bracket, str]] = field(default_factory=list)
    conflicts: list[tuple[_Bracket, str]] = field(default_factory=list)

    def document(self) -> Document:
        for faults, decision in ((self.disagreeing, "; the leaves decide"), (self.conflicts, "")):
            if faults:
                bracket, message = faults[0]
                more = f", and {len(faults) - 1} more like it" if len(faults) > 1 else ""
                warning = FormatWarning(f"{bracket}: {message}{more}{decision}", source=self.source, line=bracket.line)
                warn_caller(warning)
        # If no bracket has more than two children, the file could only nest lists, so nesting says nothing about them.
        nodes = self.nodes if self.n_ary else [replace(node, joined=None) for node in self.nodes]
        tree = RSTTree.from_unordered(len(self.texts), nodes)
        return Document.from_edu_texts(self.texts, tree, parser="dis", paragraph_ends=self.paragraph_ends)


def loads(content: str, source: str = "") -> Document:
    """Return the document of a dis file with one tree: its EDUs and its tree.

    Raises:
        FormatError: Brackets that are unknown or do not match, EDUs out of order, a constituent without nucleus,
            relation or continuous span, or a second tree.
    """
    (tree,) = _trees(content, source, one=True)
    return tree.document()


def loads_all(content: str, source: str = "") -> list[Document]:
    """Return the documents of a dis file, one per tree; otherwise as `loads`."""
    return [with_warnings(tree.document) for tree in _trees(content, source)]


def _trees(content: str, source: str, *, one: bool = False) -> list[_Tree]:
    """Return the trees of a file; with `one`, a second one is an error."""
    trees: list[_Tree] = []
    tree = _Tree(source)
    open_brackets: list[_Bracket] = []
    position, line = 0, 1
    while position < len(content):
        token = _TOKEN.match(content, position)
        if token is None:
            raise FormatError(_token_problem(content[position:]), source=source, line=line)
        kind = token.lastgroup
        if kind == "role":
            if problem := _opening_problem(token["role"], open_brackets, more=one and bool(trees)):
                raise FormatError(problem, source=source, line=line)
            open_brackets.append(_Bracket(token["role"], line))
        elif kind != "noise":
            if not open_brackets:
                behind = " after the tree" if trees else " first"
                message = f"expected ( Root{behind}, got {token[0]!r}; is there a bracket too many?"
                raise FormatError(message, source=source, line=line)
            if kind == "close":
                closed = open_brackets.pop()
                part = _close(closed, tree)
                if open_brackets:
                    open_brackets[-1].children.append((closed.role, part))
                else:
                    trees.append(tree)
                    tree = _Tree(source)
            else:
                _attribute(open_brackets[-1], token, source, line)
        line += token[0].count("\n")
        position = token.end()
    if open_brackets or not trees:
        opened = f"{open_brackets[-1]} of line {open_brackets[-1].line}" if open_brackets else "a tree, ( Root …"
        what = f"a bracket to close {opened}" if open_brackets else opened
        raise FormatError(f"expected {what}, got the end of the file; is it truncated?", source=source, line=line)
    return trees


def _opening_problem(role: str, open_brackets: Sequence[_Bracket], *, more: bool) -> str:
    """Return what is wrong with a bracket that opens; `more` says that it is one tree too many if it is outermost."""
    if more and not open_brackets:
        return "expected one tree, got more after it; `read_trees` and discsum parse read all of them"
    if role == "Root" and open_brackets:
        return (
            f"expected Nucleus or Satellite inside {open_brackets[-1]}, got Root; correct it, or close the tree before"
        )
    return ""


def _token_problem(rest: str) -> str:
    found = rest.split("\n", 1)[0][:40]
    if re.match(r"\(\s*text\s+_!", rest):
        return f"expected _! and a bracket after the text, found none after {found!r}; is the file truncated?"
    expected = "expected a bracket with Root, Nucleus, Satellite, span, leaf, rel2par or text"
    return f"{expected}, got {found!r}; texts go between _! and _!"


def _attribute(bracket: _Bracket, token: re.Match[str], source: str, line: int) -> None:
    former: object
    if token["leaf"] is not None:
        former, bracket.leaf = bracket.leaf, int(token["leaf"])
    elif token["relation"] is not None:
        former, bracket.relation = bracket.relation or None, token["relation"]
    elif token["text"] is not None:
        bracket.ends_paragraph = token["text"].rstrip().endswith(PARAGRAPH)
        text = fold(token["text"].replace(PARAGRAPH, " "))
        former, bracket.text = bracket.text, MARK.sub(lambda found: found[1] + found[2][1:] + found[3], text)
    else:
        former, bracket.span = bracket.span, (int(token["first"]), int(token["last"]))
    if former is not None:
        name = "span" if token["first"] is not None else "rel2par" if token["relation"] is not None else token.lastgroup
        raise FormatError(f"{bracket}: expected ({name} …) once, got it again; remove one", source=source, line=line)


def _close(bracket: _Bracket, tree: _Tree) -> Part:
    """Check a closed bracket and append its nodes or its text; return the EDUs that it covers."""

    def fail(message: str) -> FormatError:
        return FormatError(f"{bracket}: {message}", source=tree.source, line=bracket.line)

    if bracket.role != "Root" and not bracket.relation:
        raise fail("expected (rel2par …), got none; add the relation, or span on a nucleus with satellites")
    if bracket.leaf is not None:
        problem = _add_leaf(bracket, tree)
        if problem:
            raise fail(problem)
        return Part(bracket.leaf - 1, bracket.leaf - 1, bracket.relation, bracket.line)
    if bracket.text is not None:
        raise fail(f"expected (leaf …) beside the text {bracket.text[:40]!r}, got none; number the EDU")
    if not any(role == "Nucleus" for role, _ in bracket.children):
        raise fail(
            f"expected a Nucleus among its children, got {len(bracket.children)} children without one; correct the "
            "role of one"
        )
    try:
        whole = join_children(bracket.children, tree.nodes)
    except ValueError as error:
        raise fail(str(error)) from error
    tree.n_ary = tree.n_ary or len(bracket.children) > 2
    if bracket.span is not None and bracket.span != (whole.first + 1, whole.last + 1):
        wanted = f"expected the span of its leaves, {whole.first + 1} {whole.last + 1}"
        tree.disagreeing.append((bracket, wanted))
    if conflict := _conflict([part for role, part in bracket.children if role == "Nucleus"]):
        tree.conflicts.append((bracket, conflict))
    return replace(whole, relation=bracket.relation, line=bracket.line)


def _conflict(nuclei: Sequence[Part]) -> str:
    """Return which relation of a bracket's nuclei the tree cannot hold."""
    if len(nuclei) == 1 and nuclei[0].relation != "span":
        return f"expected (rel2par span) on its only Nucleus, got {nuclei[0].relation!r}, which is lost"
    return relation_conflict(nuclei)


def _add_leaf(bracket: _Bracket, tree: _Tree) -> str:
    """Append the text of an EDU; return what is wrong with its bracket, or an empty string."""
    if bracket.children:
        return f"expected no children, got {len(bracket.children)}; close its bracket before them"
    if bracket.leaf != len(tree.texts) + 1:
        return f"expected leaf {len(tree.texts) + 1} here; number the leaves from 1 in the order of the file"
    if not bracket.text:
        return "expected (text _!…_!) with some text, got none; remove the leaf"
    if bracket.ends_paragraph:
        tree.paragraph_ends.add(len(tree.texts))
    tree.texts.append(bracket.text)
    return ""


def join_children(children: list[tuple[str, Part]], nodes: list[Node]) -> Part:
    """Append the nodes over a bracket's children, each with its role; return the EDUs that they cover.

    Raises:
        ValueError: Children that are not continuous, or one without a necessary relation.
    """
    nuclei: list[Part] = []
    satellites: list[Part] = []
    last = max(position for position, (role, _) in enumerate(children) if role == "Nucleus")
    for position, (role, part) in enumerate(children):
        if role == "Nucleus":
            nuclei.append(part)
            continue
        if part.relation == "span":
            raise ValueError(f"expected a relation on the Satellite of line {part.line}, got 'span'; name it")
        if nuclei and position < last:
            joined = join_satellite(nuclei[-1], part, nodes)
            mark(joined, nodes, joined=True)
            nuclei[-1] = replace(joined, relation=nuclei[-1].relation, line=nuclei[-1].line)
        else:
            satellites.append(part)
    if len(nuclei) > 1 and any(part.relation == "span" for part in nuclei):
        raise ValueError("expected a relation on each of several nuclei, got 'span'; name it on all of them")
    return assemble(nuclei, satellites, nodes, flat=True)
