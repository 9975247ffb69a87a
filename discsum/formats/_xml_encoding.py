"""Decode XML files in the encoding that they declare.

Expat itself reads UTF-8, UTF-16 and single-byte encodings only, and its errors say neither which byte is wrong nor what
to do.
"""

from __future__ import annotations

import codecs
import re

from discsum.byte_order_marks import marked_encoding
from discsum.errors import FormatError, FormatWarning, warn_caller
from discsum.format_registry import NAME_ENCODING, decode_tree

# First bytes of UTF-16 without a byte order mark.
_UTF_16 = {b"<\0": "utf-16-le", b"\0<": "utf-16-be"}
_DECLARATION = re.compile(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)["']""")
# RSTTool writes the encoding of its texts into the header.
_HEADER = re.compile(rb"""<encoding\s+name\s*=\s*["']([\w.:-]+)["']""")


def decode_xml(content: bytes, source: str) -> str:
    """Decode an XML file: by its first bytes, its declaration, as UTF-8, or by RSTTool's header, in this order.

    Raises:
        FormatError: An unknown encoding, or bytes that the encoding does not allow.
    """
    if marked_encoding(content) or content[:2] in _UTF_16:
        return decode_tree(content, _UTF_16.get(content[:2], "utf-8"), source)
    declaration = _DECLARATION.match(content)
    if declaration:
        name = declaration[1].decode("ascii")
        codec = _codec(name)
        if not codec:
            message = f"expected an encoding that Python knows, but the file declares {name!r}; {NAME_ENCODING}"
            raise FormatError(message, source=source, line=1)
        if codec.startswith(("utf-16", "utf-32")):
            # The declaration was found in single bytes, so it is wrong: the file was converted, the declaration kept.
            message = (
                f"declares {name}, but its bytes are not in that encoding; read as UTF-8 (--encoding names another)"
            )
            warn_caller(FormatWarning(message, source=source, line=1))
            name = "utf-8"
        return decode_tree(content, name, source)
    header = _HEADER.search(content)
    try:
        return decode_tree(content, "utf-8", source)
    except FormatError:
        if not header or not _codec(header[1].decode("ascii")):
            raise
        return decode_tree(content, header[1].decode("ascii"), source)


def _codec(name: str) -> str:
    """Return Python's name of a text encoding, or an empty string if it has none."""
    try:
        b"<".decode(name)
    except UnicodeDecodeError:
        # An encoding with several bytes per character.
        pass
    except (LookupError, UnicodeError):
        return ""
    return codecs.lookup(name).name
