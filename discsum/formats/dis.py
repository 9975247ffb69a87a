"""dis: the lisp form of RST-DT, also GUM's `lisp_binary`.

`( Nucleus (span 1 2) (rel2par span) …)` is a constituent, `( Satellite (leaf 3) (rel2par List) (text _!…_!) )`
an EDU. The satellite has the relation, or every nucleus if there are several.

Reading takes binary and n-ary trees and makes them binary by `_constituents.assemble`; a satellite between two nuclei
joins the one before it. RST-DT's paragraph marks `<P>` and `//TT_ERR` are dropped. Writing gives binary trees. Texts
are written as by `_plain_text`; `_!` or `<P>` in an EDU gets a word joiner (U+2060) inside it, which reading removes.
The format has no probabilities.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from discsum.document import Document
from discsum.errors import FormatError
from discsum.format_registry import FORMATS, Format
from discsum.formats._constituents import Part, assemble, join_satellite
from discsum.formats._plain_text import fold, lines_of
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
_MARK = re.compile("([_<])(\u2060*)(!|P>)")
# Deeper levels are not indented further: the file of a right-branching tree would grow with its square.
_INDENTED_LEVELS = 40


@dataclass(slots=True)
class _Bracket:
    """A constituent or EDU while it is read."""

    role: str
    line: int
    span: tuple[int, int] | None = None
    leaf: int | None = None
    relation: str = ""
    text: str | None = None
    children: list[tuple[str, Part]] = field(default_factory=list)

    def __str__(self) -> str:
        if self.leaf is not None:
            return f"{self.role} (leaf {self.leaf})"
        return f"{self.role} (span {self.span[0]} {self.span[1]})" if self.span else self.role


def loads(content: str, source: str = "") -> Document:
    """Return the document of a dis file: its EDUs and its tree.

    Raises:
        FormatError: Brackets that are unknown or do not match, EDUs out of order, or a constituent without nucleus,
            relation or continuous span.
    """
    nodes: list[Node] = []
    texts: list[str] = []
    open_brackets: list[_Bracket] = []
    position, line, finished = 0, 1, False
    while position < len(content):
        token = _TOKEN.match(content, position)
        if token is None:
            raise FormatError(_token_problem(content[position:]), source=source, line=line)
        kind = token.lastgroup
        if finished and kind != "noise":
            raise FormatError("expected one tree, got more behind it", source=source, line=line)
        if kind == "role":
            open_brackets.append(_Bracket(token["role"], line))
        elif kind != "noise":
            if not open_brackets:
                raise FormatError("expected ( Root first, got " + repr(token[0]), source=source, line=line)
            if kind == "close":
                closed = open_brackets.pop()
                part = _close(closed, texts, nodes, source)
                if open_brackets:
                    open_brackets[-1].children.append((closed.role, part))
                finished = not open_brackets
            else:
                _attribute(open_brackets[-1], token)
        line += token[0].count("\n")
        position = token.end()
    if not finished:
        opened = f"{open_brackets[-1]} of line {open_brackets[-1].line}" if open_brackets else "a tree, ( Root …"
        what = f"a bracket to close {opened}" if open_brackets else opened
        raise FormatError(f"expected {what}, got the end of the file", source=source, line=line)
    return Document.from_edu_texts(texts, RSTTree.from_unordered(len(texts), nodes), parser="dis")


def _token_problem(rest: str) -> str:
    found = rest.split("\n", 1)[0][:40]
    if re.match(r"\(\s*text\s+_!", rest):
        return f"expected _! and a bracket behind the text, found none after {found!r}"
    return f"expected a bracket with Root, Nucleus, Satellite, span, leaf, rel2par or text, got {found!r}"


def _attribute(bracket: _Bracket, token: re.Match[str]) -> None:
    if token["leaf"] is not None:
        bracket.leaf = int(token["leaf"])
    elif token["relation"] is not None:
        bracket.relation = token["relation"]
    elif token["text"] is not None:
        bracket.text = _MARK.sub(lambda mark: mark[1] + mark[2][1:] + mark[3], fold(token["text"].replace("<P>", " ")))
    else:
        bracket.span = (int(token["first"]), int(token["last"]))


def _close(bracket: _Bracket, texts: list[str], nodes: list[Node], source: str) -> Part:
    """Check a closed bracket and append its nodes or its text; return the EDUs that it covers."""

    def fail(message: str) -> FormatError:
        return FormatError(f"{bracket}: {message}", source=source, line=bracket.line)

    if bracket.role != "Root" and not bracket.relation:
        raise fail("expected (rel2par …), got none")
    if bracket.leaf is not None:
        if bracket.children or bracket.leaf != len(texts) + 1:
            raise fail("expected no children" if bracket.children else f"expected leaf {len(texts) + 1} here")
        if not bracket.text:
            raise fail("expected (text _!…_!) with some text, got none")
        texts.append(bracket.text)
        return Part(bracket.leaf - 1, bracket.leaf - 1, bracket.relation, bracket.line)
    if not any(role == "Nucleus" for role, _ in bracket.children):
        raise fail(f"expected a Nucleus among its children, got {len(bracket.children)} children without one")
    try:
        whole = _join(bracket.children, nodes)
    except ValueError as error:
        raise fail(str(error)) from error
    if bracket.span is not None and bracket.span != (whole.first + 1, whole.last + 1):
        raise fail(f"expected the span of its leaves, {whole.first + 1} {whole.last + 1}")
    return Part(whole.first, whole.last, bracket.relation, bracket.line)


def _join(children: list[tuple[str, Part]], nodes: list[Node]) -> Part:
    """Append the nodes over the children; return the EDUs that they cover.

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
            raise ValueError(f"expected a relation on the Satellite of line {part.line}, got 'span'")
        if nuclei and position < last:
            joined = join_satellite(nuclei[-1], part, nodes)
            nuclei[-1] = Part(joined.first, joined.last, nuclei[-1].relation, nuclei[-1].line)
        else:
            satellites.append(part)
    if len(nuclei) > 1 and any(part.relation == "span" for part in nuclei):
        raise ValueError("expected a relation on each of several nuclei, got 'span'")
    return assemble(nuclei, satellites, nodes)


def dumps(document: Document) -> str:
    """Return the document's tree as a binary dis file.

    Raises:
        InputError: No tree, or one that the format cannot hold.
    """
    tree, texts = lines_of(document, "dis", one_word=True)
    node_parents, edu_parents = (parents.tolist() for parents in tree.parents)
    node_nucleus, edu_nucleus = (nucleus.tolist() for nucleus in tree.nucleus)
    lines: list[str] = []
    # A stack of EDUs, nodes (`edus` plus their index) and closing brackets (-1), with their depths.
    stack: list[tuple[int, int]] = [(tree.edus if tree.nodes else 0, 0)]
    while stack:
        index, depth = stack.pop()
        indent = "  " * min(depth, _INDENTED_LEVELS)
        if index < 0:
            lines.append(f"{indent})")
        elif index < tree.edus:
            head = _head(tree, edu_parents[index], edu_nucleus[index], f"(leaf {index + 1})")
            text = _MARK.sub("\\1\u2060\\2\\3", texts[index])
            lines.append(f"{indent}( {head} (text _!{text}_!) )")
        else:
            position = index - tree.edus
            node = tree.nodes[position]
            place = f"(span {node.first + 1} {node.last + 1})"
            lines.append(f"{indent}( {_head(tree, node_parents[position], node_nucleus[position], place)}")
            left, right = tree.children(index)
            stack += [(-1, depth), (right, depth + 1), (left, depth + 1)]
    return "\n".join(lines) + "\n"


def _head(tree: RSTTree, parent: int, nucleus: bool, place: str) -> str:
    """Return the role, place and relation at the start of a bracket."""
    if parent < 0:
        return f"Root {place}"
    above = tree.nodes[parent]
    relation = "span" if nucleus and above.nuclearity != "NN" else above.relation
    return f"{'Nucleus' if nucleus else 'Satellite'} {place} (rel2par {relation})"


FORMATS.register("dis", Format(dumps, loads))
