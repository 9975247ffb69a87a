"""HTML previews of documents, trees and summaries for notebooks; large ones are truncated and say so."""

from __future__ import annotations

from base64 import b64encode

from discsum.document import Document, Span
from discsum.formats._marked_text import escaped, marked_text
from discsum.formats.svg import dumps as to_svg
from discsum.summary import Summary
from discsum.tree import RSTTree

# Most EDUs of a drawing, and characters of a text: a notebook stores its outputs in its file.
MOST_EDUS, MOST_CHARACTERS = 200, 50_000
_BOX = "max-height:40em;overflow:auto;border:1px solid #8884;border-radius:6px;padding:.6em .9em"


def preview(value: Document | RSTTree | Summary) -> str:
    """Return the tree as a picture, or the summary's document with its units marked."""
    if isinstance(value, Summary):
        return _summary(value)
    if isinstance(value, RSTTree):
        texts = [f"EDU {edu + 1}" for edu in range(min(value.edus, MOST_EDUS))]
        document = Document.from_edu_texts(texts, value.section(0, len(texts) - 1))
        return _picture(document, value.edus, repr(value), "")
    if value.tree is None:
        shown = value if len(value.text) <= MOST_CHARACTERS else _beginning(value, MOST_CHARACTERS)
        return _text(shown, None, repr(value), len(value.text))
    cut = value if len(value.edus) <= MOST_EDUS else _beginning(value, value.edus[MOST_EDUS - 1].end)
    return _picture(cut, len(value.edus), repr(value), "; <code>to_html()</code> has all")


def _picture(document: Document, edus: int, name: str, remedy: str) -> str:
    # An image, because the style of an inline drawing would apply to the whole notebook.
    image = b64encode(to_svg(document).encode("utf-8", "replace")).decode("ascii")
    cut = f": the tree of the first {len(document.edus)} EDUs{remedy}" if len(document.edus) < edus else ""
    alternative = f"Discourse tree of {edus} EDUs"
    return (
        f'<div class="tex2jax_ignore mathjax_ignore"><div><code>{escaped(name)}</code>{cut}</div>'
        f'<div style="{_BOX}"><img alt="{alternative}" style="max-width:none" '
        f'src="data:image/svg+xml;base64,{image}"></div></div>'
    )


def _summary(summary: Summary) -> str:
    document, length, name = summary.document, len(summary.document.text), repr(summary)
    if length > MOST_CHARACTERS:
        document = _beginning(document, MOST_CHARACTERS)
        units = document.units(summary.unit)
        selected = tuple(unit for unit in summary.selected if unit.index < len(units))
        summary = Summary(document, summary.unit, summary.model, summary.scores[: len(units)], selected, summary.tidy)
    return _text(document, summary, name, length)


def _text(document: Document, summary: Summary | None, name: str, length: int) -> str:
    cut = f": the first {len(document.text):,} of {length:,} characters" if len(document.text) < length else ""
    return (
        f'<div class="tex2jax_ignore mathjax_ignore"><div><code>{escaped(name)}</code>{cut}</div>'
        f'<div style="{_BOX};white-space:pre-wrap">{marked_text(document, summary)}</div></div>'
    )


def _beginning(document: Document, end: int) -> Document:
    """Return the document of the first characters, up to the end of an EDU if there is one, else of a sentence."""
    spans = document.edus or document.sentences
    # A first unit that is longer stays whole.
    count = max(1, sum(span.end <= end for span in spans)) if spans else 0
    end = spans[count - 1].end if spans else end
    sentences = [Span(one.start, min(one.end, end)) for one in document.sentences if one.start < end]
    edus = document.edus[:count] if document.edus else ()
    tree = document.tree.section(0, count - 1) if document.tree is not None else None
    return Document(document.text[:end], tuple(sentences), edus, tree, document.id, document.parser)
