"""Extract the text of a Markdown document: CommonMark with tables, strikethrough, footnotes and front matter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from discsum.errors import InputError
from discsum.extras import needs
from discsum.markup.blocks import DROPPED, blocks
from discsum.markup.html import REMEDY, parse

if TYPE_CHECKING:
    from lxml.etree import _Element
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token

# Maximum nesting of blocks; markdown_it silently drops deeper ones.
DEEPEST = 100
# Front matter begins with a key, possibly after comments. Without a key, the `---` may be a thematic break.
_FRONT_MATTER = re.compile(r"---[^\S\n]*\n(?:\s*#.*\n|\s*\n)*+\s*[\w\"'. -]{1,100}:(?:\s|$)")
# Elements that swallow the rest of the document if they are opened but never closed.
_RAW = re.compile(rf"<({'|'.join(sorted(DROPPED - {'embed', 'head'} | {'plaintext'}))})\b", re.IGNORECASE)
_CLOSED = re.compile(r"</([a-z]+)\b", re.IGNORECASE)
# Key of `env` under which `_block_html` caches the last position of each closing tag: (token number, offset in it).
_LAST = "discsum: closing tags"


def from_markdown(document: str) -> str:
    """Return the text of a Markdown document, in the form of `discsum.markup.blocks`.

    Front matter, HTML comments, scripts and styles, and footnote references are removed. HTML blocks become their text,
    and images become their alternative text.

    Raises:
        InputError: Blocks nested more than 100 deep, or HTML elements nested more than 2,000 deep.
        MissingExtraError: The extra `web` is not installed.
    """
    document = document.removeprefix("\ufeff")
    env: dict[str, Any] = {}
    reader = _reader(_FRONT_MATTER.match(document) is not None)
    tokens = reader.parse(document, env)
    if any(token.level >= DEEPEST - 1 for token in tokens):
        raise InputError(f"expected Markdown with blocks nested at most {DEEPEST} deep, got more; {REMEDY}")
    page = reader.renderer.render(tokens, reader.options, env)
    written = blocks(parse(f"<html><body>{page}</body></html>"), _refers_to_note)
    return "\n\n".join(written) + "\n" if written else ""


@cache
def _reader(front_matter: bool) -> MarkdownIt:
    # Installing the plug-ins installs markdown_it too.
    with needs("mdit_py_plugins"):
        from markdown_it import MarkdownIt
        from mdit_py_plugins.footnote import footnote_plugin
        from mdit_py_plugins.front_matter import front_matter_plugin
    reader = MarkdownIt("commonmark", {"maxNesting": DEEPEST}).enable(["table", "strikethrough"])
    reader.use(footnote_plugin)
    if front_matter:
        reader.use(front_matter_plugin)
    reader.add_render_rule("html_inline", _inline_html)
    reader.add_render_rule("html_block", _block_html)
    return reader


def _inline_html(self: RendererHTML, tokens: Sequence[Token], index: int, *_: Any) -> str:
    """Return an inline tag unchanged, or escaped if it is never closed and would swallow what follows."""
    from markdown_it.common.utils import escapeHtml

    tag = tokens[index].content
    opened = _RAW.match(tag)
    if opened is None:
        return tag
    name = re.compile(rf"</?{opened[1]}\b", re.IGNORECASE)
    following = (name.match(token.content) for token in tokens[index + 1 :] if token.type == "html_inline")
    pair = next((match[0] for match in following if match), "")
    return tag if pair.startswith("</") else escapeHtml(tag)


def _block_html(self: RendererHTML, tokens: Sequence[Token], index: int, _: Any, env: dict[str, Any]) -> str:
    """Return an HTML block in which tags are escaped if they are never closed and would swallow what follows."""
    if _LAST not in env:
        env[_LAST] = {
            match[1].lower(): (number, match.start())
            for number, token in enumerate(tokens)
            if token.type == "html_block"
            for match in _CLOSED.finditer(token.content)
        }

    def kept(match: re.Match[str]) -> str:
        closed = env[_LAST].get(match[1].lower(), (-1, -1)) > (index, match.start())
        return match[0] if closed else f"&lt;{match[1]}"

    return _RAW.sub(kept, tokens[index].content)


def _refers_to_note(element: _Element) -> bool:
    return element.get("class") in ("footnote-ref", "footnote-backref")
