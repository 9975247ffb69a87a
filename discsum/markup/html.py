"""Extract the article of an HTML page, without navigation, advertisements, comments and cookie banners."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Any

from discsum.byte_order_marks import marked_encoding
from discsum.errors import InputError
from discsum.extras import needs
from discsum.markup.blocks import blocks

if TYPE_CHECKING:
    from lxml.etree import _Element
    from lxml.html import HtmlElement

# Advice in messages about input that is not markup.
REMEDY = 'read it with --input text (Python: input="text")'
_DECLARED = re.compile(
    rb"<(?:\?xml\b[^>]{0,200}?\bencoding|meta\b[^>]{0,500}?\bcharset)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE
)
# Declared encodings and what pages mean by them, as in browsers (WHATWG Encoding Standard, section 4.2). Pages often
# use a larger encoding than declared, such as Windows-1252. A declaration that is readable as ASCII cannot be in
# UTF-16.
_BROWSER_ENCODINGS = {
    **dict.fromkeys(("iso8859-1", "ascii"), "cp1252"),
    **dict.fromkeys(("utf-16", "utf-16-le", "utf-16-be"), "utf-8"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-9": "cp1254",
}
_TAG = re.compile(r"<[!?/]?[A-Za-z]")
# Replaced by spaces; libxml2 for example stops reading at a null character.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
# Ids and classes of banners, which are removed with navigation and dialogs before the extraction: on a short page,
# trafilatura takes everything that is left. An element that holds the article is kept whatever its role and class.
_BANNER = (
    r"\s(cookies?[-_]?(banner|bar|consent|law|message|notice|popup)|consent[-_]?(banner|manager|popup)|onetrust|cookiebot|"
    r"gdpr[-_]?(banner|notice))"
)
_BOILERPLATE = f"""
    .//body//*[
        (
            self::nav or self::dialog or @role = 'navigation' or @role = 'dialog' or @role = 'alertdialog'
            or (re:test(concat(' ', @id, ' ', @class), '{_BANNER}', 'i') and not(descendant::h1))
        )
        and not(descendant-or-self::article or descendant::main)
    ]
"""
_REGULAR_EXPRESSIONS = {"re": "http://exslt.org/regular-expressions"}
# HTML names of elements in trafilatura's tree. Headings, lists and code need more than the name, see `_as_html`.
_NAMES = {"item": "li", "row": "tr", "cell": "td", "lb": "br", "graphic": "img", "hi": "span", "ref": "span"}
# Elements whose content is inline.
_INLINE_CONTEXTS = {"p", "li", "td", "span", "del", "h1", "h2", "h3", "h4", "h5", "h6"}
_WORD = re.compile(r"\w+")


def declared_encoding(content: bytes) -> str:
    """Return the encoding that a page declares by a byte order mark, in XML or in HTML; UTF-8 if it declares none.

    Raises:
        InputError: The declared encoding is unknown, or is not a text encoding.
    """
    if marked := marked_encoding(content):
        return marked
    declared = _DECLARED.search(content[:4096])
    if declared is None:
        return "utf-8"
    name = declared[1].decode("latin-1")
    try:
        # Test by encoding: Python has codecs that are not for text, such as hex, and `undefined`, which always fails.
        " ".encode(name)
        known = codecs.lookup(name).name
    except (LookupError, UnicodeError) as error:
        raise InputError(
            f"expected a known encoding, but the page declares {name!r}; name it with --encoding"
        ) from error
    return _BROWSER_ENCODINGS.get(known, known)


def from_html(page: str) -> str:
    """Return the text of an HTML page's article, as trafilatura finds it, in the form of `discsum.markup.blocks`.

    The page's title becomes the first heading unless the text begins with a top-level heading or with the title itself.
    Nothing is fetched from the network.

    Raises:
        InputError: A page without tags or without an article, or with elements nested more than about 2,000 deep.
        MissingExtraError: The extra `web` is not installed.
    """
    if not _TAG.search(page):
        raise InputError(f"expected HTML, got a text without tags; {REMEDY}")
    tree = parse(page)
    for element in tree.xpath(_BOILERPLATE, namespaces=_REGULAR_EXPRESSIONS):
        element.drop_tree()
    with needs("trafilatura"):
        from trafilatura import bare_extraction
    try:
        found: Any = bare_extraction(tree, include_comments=False, include_formatting=True, with_metadata=True)
    except Exception as error:
        # A third-party library on an arbitrary page: any exception must only fail this page, not the batch.
        raise InputError(f"expected HTML that trafilatura can read, but it failed with {error!r}; {REMEDY}") from error
    written = blocks(_as_html(found.body)) if found is not None and found.body is not None else []
    if not written:
        raise InputError(f"expected HTML with an article, found none; {REMEDY}")
    title = " ".join((found.title or "").split())
    if title and not written[0].startswith("# ") and _WORD.findall(title) != _WORD.findall(written[0]):
        written.insert(0, f"# {title}")
    return "\n\n".join(written) + "\n"


def parse(page: str) -> HtmlElement:
    """Return the element tree of a page, without following any entity or address in it.

    Raises:
        InputError: A page that is empty, or too deeply nested for the parser to read to its end.
    """
    with needs("lxml"):
        from lxml.etree import ErrorTypes, ParserError
        from lxml.html import HTMLParser, document_fromstring
    # Overrides the declared encoding, which was already applied when the page was read.
    parser = HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, remove_comments=True, remove_pis=True)
    content = _CONTROL.sub(" ", page).encode("utf-8", "replace")
    try:
        tree: HtmlElement = document_fromstring(content, parser=parser, ensure_head_body=True)
    except ParserError as error:
        raise InputError(f"expected HTML, got an empty page; {REMEDY}") from error
    if any(entry.type == ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log):
        raise InputError(f"expected HTML with elements nested at most 2,000 deep, got more; {REMEDY}")
    return tree


def _as_html(body: _Element) -> _Element:
    """Rename the elements of trafilatura's tree to HTML, such as `head` to `h2` and non-inline `code` to `pre`."""
    for element in list(body.iter("*")):
        # Parents come before their children, so they are already renamed.
        parent = element.getparent()
        around = parent.tag if parent is not None else ""
        if element.tag == "head":
            level = (element.get("rend") or "h2")[1:]
            element.tag = f"h{level}" if level in set("123456") else "h2"
        elif element.tag == "list":
            element.tag = element.get("rend") if element.get("rend") in ("ol", "dl") else "ul"
        elif element.tag == "item" and (element.get("rend") or "")[:2] in ("dt", "dd"):
            element.tag = "dd"
        elif element.tag == "code":
            element.tag = "pre" if around not in _INLINE_CONTEXTS or "\n" in "".join(element.itertext()) else "span"
        elif element.tag == "quote":
            element.tag = "q" if around == "p" else "blockquote"
        else:
            element.tag = _NAMES.get(element.tag, element.tag)
    return body
