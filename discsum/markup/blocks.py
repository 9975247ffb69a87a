"""Write a tree of HTML elements as text; headings, list items, tables and code keep a mark, inline markup is dropped.

Each block becomes one paragraph: `# Heading`, `- item`, `1. item`, `| cell | cell |`, code between fences, or prose.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from discsum.extras import needs

if TYPE_CHECKING:
    from lxml.etree import _Element

_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_BLOCKS = {
    *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dl"),
    *("dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "legend", "li", "main"),
    *("nav", "ol", "p", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul", *_HEADINGS),
}
# Elements without content for readers, or with content that only makes sense on the page.
DROPPED = {
    *("audio", "button", "canvas", "datalist", "embed", "head", "iframe", "math", "meter", "noembed", "noframes"),
    *("noscript", "object", "option", "progress", "script", "select", "style", "svg", "template", "textarea", "title"),
    *("video", "xmp"),
}
# Marks a meaningful line break, since line breaks in HTML text mean nothing.
_BREAK = "\x00"
# Words of a cell of a table, at most; with more, in several paragraphs, the table is for layout.
CELL_WORDS = 40
# What stands for the start of an element.
_OPENING = {"br": _BREAK, "q": "“"}
_FENCES = re.compile(r"^\s*(`{3,})", re.MULTILINE)


@dataclass
class _List:
    """An open list with the number of its next item; None for an unordered list."""

    number: int | None

    def marker(self) -> str:
        """Return the mark of the next item."""
        if self.number is None:
            return "- "
        self.number += 1
        return f"{self.number - 1}. "


def blocks(root: _Element, is_dropped: Callable[[_Element], bool] = lambda _: False) -> list[str]:
    """Return the non-empty blocks of a tree of HTML elements, in order.

    Args:
        root: The tree; it is not changed.
        is_dropped: Whether to drop an element with all its content, in addition to `DROPPED`.
    """
    with needs("lxml"):
        from lxml.etree import iterwalk

    writer, walk = _Writer(), iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if event in ("comment", "pi"):
            writer.add(element.tail)
        elif event == "end":
            writer.end(element.tag)
            writer.add(element.tail if element is not root else None)
        elif element.tag in DROPPED or is_dropped(element):
            walk.skip_subtree()
        elif element.tag == "pre":
            writer.code(str(element.xpath("string()")))
            walk.skip_subtree()
        else:
            writer.start(element)
            writer.add(element.text)
    writer.flush()
    return writer.blocks


class _Writer:
    def __init__(self) -> None:
        self.blocks: list[str] = []
        self._words: list[str] = []
        self._lists: list[_List] = []
        # Mark of the open item or heading, until its first words are written.
        self._mark = ""
        # Cells of the open table row, with breaks. A table inside a cell becomes the cell's text.
        self._row: list[str] | None = None
        self._rows = 0
        self._in_table = False

    def add(self, text: str | None) -> None:
        if text:
            self._words.append(text.replace(_BREAK, " "))

    def start(self, element: _Element) -> None:
        tag = element.tag
        if tag in _OPENING:
            self._words.append(_OPENING[tag])
        elif tag == "img":
            self.add(element.get("alt"))
        elif tag in ("td", "th"):
            self._start_cell()
        elif tag in _BLOCKS:
            self.flush()
            if tag == "tr":
                self._rows += 1
                self._row = [] if self._rows == 1 else self._row
            elif tag in ("ul", "ol"):
                self._lists.append(_List(_first_number(element) if tag == "ol" else None))
            elif tag == "li" and self._lists:
                # Indent by at most two columns, because four would mean code.
                self._mark = "  " * (len(self._lists) > 1) + self._lists[-1].marker()
            elif tag in _HEADINGS:
                self._mark = _HEADINGS[tag] + " "

    def _start_cell(self) -> None:
        if self._rows == 1:
            self._words.clear()
        else:
            # Of an inner table, or of a table without rows.
            self._words.append(" ")

    def end(self, tag: str) -> None:
        if tag == "q":
            self._words.append("”")
        elif tag in ("td", "th") and self._rows == 1 and self._row is not None:
            self._row.append("".join(self._words))
            self._words.clear()
        elif tag in _BLOCKS:
            if tag in _HEADINGS:
                self._words = [" " if words == _BREAK else words for words in self._words]
            self.flush()
            if tag == "tr":
                self._rows -= 1
                self._end_row()
            elif tag in ("ul", "ol") and self._lists:
                self._lists.pop()
            if tag in ("li", *_HEADINGS):
                self._mark = ""
            if tag == "table":
                self._in_table = False

    def flush(self) -> None:
        """End the open block; inside a cell, only mark the end, because cells are written with their row."""
        if self._rows:
            self._words.append(2 * _BREAK)
        elif text := self._taken("\n"):
            self._block(self._mark + text)
            self._mark = ""

    def code(self, content: str) -> None:
        """Write a block of code, unchanged except for empty lines around it."""
        if self._rows:
            self.add(content)
            return
        self.flush()
        lines = content.rstrip().removeprefix("\n")
        if lines:
            # The fence must be longer than any inside the code.
            fence = "`" * max([3, *(len(run) + 1 for run in _FENCES.findall(lines))])
            self._block(f"{fence}\n{lines}\n{fence}")

    def _block(self, text: str) -> None:
        self.blocks.append(text)
        self._in_table = False

    def _taken(self, separator: str) -> str:
        """Return the words so far, with `separator` at meaningful breaks, and clear them."""
        text = _lines("".join(self._words), separator)
        self._words.clear()
        return text

    def _end_row(self) -> None:
        if self._rows or self._row is None:
            return
        cells, self._row = self._row, None
        if len(cells) == 1 or any(map(_is_layout, cells)):
            # Pages use tables of one cell, or with whole articles in their cells, for layout.
            for block in chain.from_iterable(cell.split(2 * _BREAK) for cell in cells):
                if text := _lines(block, "\n"):
                    self._block(text)
        elif any(found := [_lines(cell, " ") for cell in cells]):
            row = f"| {' | '.join(found)} |"
            if self._in_table:
                self.blocks[-1] += f"\n{row}"
            else:
                self._block(row)
            self._in_table = True


def _is_layout(cell: str) -> bool:
    """Return whether a cell holds several paragraphs of prose."""
    paragraphs = [words for block in cell.split(2 * _BREAK) if (words := block.split())]
    return len(paragraphs) > 1 and sum(map(len, paragraphs)) > CELL_WORDS


def _lines(text: str, separator: str) -> str:
    """Return a text with single spaces, and with `separator` at meaningful breaks."""
    lines = (" ".join(line.split()) for line in text.split(_BREAK))
    return separator.join(line for line in lines if line)


def _first_number(ordered: _Element) -> int:
    start = ordered.get("start", "")
    return int(start) if re.fullmatch(r"[0-9]{1,9}", start) else 1
