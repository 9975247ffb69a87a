"""Code blocks of the README and of docs/, with the outputs that they show."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
# A block, and the output that is shown right after it.
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its content, and its output if the page shows it."""

    language: str
    content: str
    output: str | None


@dataclass(frozen=True)
class Line:
    """A line of a console: the command without its comment, and its output if the page shows it."""

    command: str
    output: str


def blocks(path: Path, language: str) -> list[Block]:
    """Return a document's blocks of a language."""
    found = (Block(*match.groups()) for match in _BLOCK.finditer(path.read_text(encoding="utf-8")))
    return [block for block in found if block.language == language]


def console_lines(path: Path) -> list[Line]:
    """Return the lines of a document's consoles."""
    found = []
    for block in blocks(path, "console"):
        for part in re.split(r"^\$ ", block.content, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append(Line(re.sub(r"\s{2,}#.*", "", command), output))
    return found
