"""html: one page of a document with its text, its tree to fold and search, and its prior matrices, without a network.

The tree is the drawing of `svg`. Everything that comes from the document is escaped, and the page's content security
policy allows no scripts or styles but its own, and no requests.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from math import isfinite
from typing import TYPE_CHECKING, Any

from discsum.document import Document
from discsum.format_registry import FORMATS, Format
from discsum.formats._erst_notes import erst_notes
from discsum.formats._heat_maps import MOST_EDUS, heat_maps
from discsum.formats._marked_text import LEVELS, displayable, marked_text
from discsum.formats._preview import preview
from discsum.formats.svg import BOUNDARY_HEIGHT, LINE_HEIGHT, Drawing, draw
from discsum.writing import count_words

if TYPE_CHECKING:
    from jinja2 import Environment, Template

    from discsum.summary import Summary

_FOLDER = files("discsum.formats") / "page"
_SCRIPTS = ("current.js", "tree.js", "search.js", "matrices.js")
# A tree of more EDUs is opened folded, so that a browser need not read and lay out all of it at once.
LARGE = 300
# Characters that could end the element of the data or a line of script.
_IN_SCRIPT = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def page(document: Document, summary: Summary | None = None, settings: Sequence[tuple[str, str]] = ()) -> str:
    """Return the page of a document, and of its summary if given: its text, and its units marked and coloured by score.

    Args:
        document: The document.
        summary: A summary of it.
        settings: Names and values to show beside parser and model, such as the signature of the summary's options.
    """
    drawing = draw(document) if document.tree is not None else None
    maps = heat_maps(document)
    provenance = [("parser", document.parser), ("model", summary.model if summary else ""), *settings]
    return _template("page.html").render(
        title=displayable(document.id) or "Document",
        document=document,
        words=count_words(document.text),
        warnings=[displayable(warning) for warning in (document if summary is None else summary).warnings],
        lines=[] if summary is None else _lines(summary),
        summary=summary,
        query=displayable(summary.queried.query) if summary is not None and summary.queried is not None else "",
        scale=range(LEVELS),
        provenance=[(name, displayable(value)) for name, value in provenance if value],
        version=version("discsum"),
        text=marked_text(document, summary),
        drawing=drawing,
        large=len(document.edus) > LARGE,
        maps=maps,
        most_edus=MOST_EDUS,
        data=_data(document, summary, drawing, maps),
    )


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry in a list of pages: the page's file name, and data of its document and summary."""

    name: str
    title: str
    sentences: int
    edus: int
    lines: tuple[str, ...]
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, name: str, summary: Summary) -> Listed:
        """Return the entry for the page of a summary."""
        document = summary.document
        title, warnings = displayable(document.id) or name, tuple(map(displayable, summary.warnings))
        return cls(name, title, len(document.sentences), len(document.edus), _lines(summary), warnings)


def index(pages: Sequence[Listed]) -> str:
    """Return a page that lists pages."""
    return _template("index.html").render(pages=pages, version=version("discsum"))


def _lines(summary: Summary) -> tuple[str, ...]:
    """Return the summary's lines; a tidy summary of EDUs is a single text, since its lines are not tidy."""
    lines = (summary.text,) if summary.tidy and summary.unit == "edu" else summary.lines
    return tuple(map(displayable, lines))


def _data(
    document: Document, summary: Summary | None, drawing: Drawing | None, maps: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the data of the page's script; a place is an EDU, or `edus` plus the index of a constituent."""
    data: dict[str, Any] = {"edus": len(document.edus), "sentences": document.edu_to_sentence.tolist(), "maps": maps}
    if summary is not None:
        scores = [round(score, 5) if isfinite(score) else None for score in summary.scores]
        data["summary"] = {"unit": summary.unit, "scores": scores, "selected": [one.index for one in summary.selected]}
    tree = document.tree
    if drawing is not None and tree is not None:
        relations = sorted({item.relation for item in drawing.inner})
        place = {relation: index for index, relation in enumerate(relations)}
        by_split = sorted((node.split, round(node.probability, 3)) for node in tree.nodes)
        data["tree"] = {
            "relations": [displayable(relation) for relation in relations],
            "nodes": [[place[item.relation], item.nuclearity, item.children] for item in drawing.inner],
            "probabilities": [probability for _, probability in by_split],
            "width": drawing.width,
            "line": LINE_HEIGHT,
            "gap": BOUNDARY_HEIGHT,
            "tops": drawing.tops,
            "lines": [round(line, 1) for line in drawing.lines],
            "notes": {at: [*map(displayable, notes)] for at, notes in erst_notes(document, drawing.inner).items()},
        }
    return data


def _template(name: str) -> Template:
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    style = (_FOLDER / "page.css").read_text(encoding="utf-8")
    script = '"use strict";\n{\n' + "\n".join((_FOLDER / name).read_text(encoding="utf-8") for name in _SCRIPTS) + "}\n"
    environment = Environment(
        loader=FunctionLoader(lambda name: (_FOLDER / name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"style": style, "script": script, "policy": _policy(style, script)}
    environment.filters |= {"data": _as_data, "counted": _counted}
    return environment


def _counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _as_data(value: Any) -> str:
    """Return a value as JSON that can stand in an HTML element."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).translate(_IN_SCRIPT)


def _policy(style: str, script: str) -> str:
    """Return the content security policy that allows only this style and this script, and no network."""
    sums = (b64encode(sha256(content.encode()).digest()).decode("ascii") for content in (style, script))
    rules = (f"style-src 'sha256-{next(sums)}'", f"script-src 'sha256-{next(sums)}'")
    return "; ".join(("default-src 'none'", *rules, "base-uri 'none'", "form-action 'none'"))


FORMATS.register("html", Format(page, preview=preview))
