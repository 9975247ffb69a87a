"""Signatures: the settings behind a figure as `key:value` fields, `measure:f|stem:porter|...|version:0.1.0`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from discsum.errors import InputError

VERSION = "version"
_KEY = re.compile(r"[A-Za-z0-9_-]+")
# Separators of fields, values and table columns.
_RESERVED = re.compile(r"[\s,|]")


@dataclass(frozen=True)
class Signature:
    """The settings that change a figure, in order; the version of discsum is last.

    Attributes:
        fields: Keys and values, without the version. Values have no spaces, commas or `|`.
        version: The version of discsum; may be empty.

    Raises:
        InputError: Invalid or repeated keys, or values with separators; all problems at once.
    """

    fields: tuple[tuple[str, str], ...] = ()
    version: str = ""

    def __post_init__(self) -> None:
        """Check that programs can split the text into its fields."""
        keys = [key for key, _ in self.fields]
        problems = [f"{key}: expected a key of letters, digits and hyphens" for key in keys if not _KEY.fullmatch(key)]
        problems += [
            f"{key}: expected each key once, {VERSION} last"
            for place, key in enumerate(keys)
            if key == VERSION or key in keys[:place]
        ]
        problems += [
            f"{key}: expected a value without spaces, commas and |, got {value!r}"
            for key, value in (*self.fields, (VERSION, self.version or "none"))
            if not value or _RESERVED.search(value)
        ]
        if problems:
            raise InputError(f"signature: {'; '.join(problems)}")

    @classmethod
    def of(cls, **values: Any) -> Signature:
        """Return a signature of this version of discsum; values as in `with_`."""
        return cls(version=version("discsum")).with_(**values)

    def with_(self, **values: Any) -> Signature:
        """Return the signature with more fields before the version.

        `_` in keys becomes `-`. Lists are joined by `+`, true and false become yes and no; reserved characters are
        percent-encoded, as `%20` for a space.
        """
        more = tuple((key.replace("_", "-"), _text(value)) for key, value in values.items())
        return Signature(self.fields + more, self.version)

    def __add__(self, other: Signature) -> Signature:
        """Return the fields of both; equal fields are kept once.

        Raises:
            InputError: Two values of one key, or two versions.
        """
        if self.version and other.version and self.version != other.version:
            raise InputError(f"signature: expected one version of discsum, got {self.version} and {other.version}")
        more = tuple(field for field in other.fields if field not in self.fields)
        return Signature(self.fields + more, self.version or other.version)

    def __str__(self) -> str:
        """Return the text, `key:value` fields joined by `|`."""
        fields = (*self.fields, (VERSION, self.version)) if self.version else self.fields
        return "|".join(f"{key}:{value}" for key, value in fields)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        # All digits, so that different values differ.
        return repr(float(value)).removesuffix(".0")
    if isinstance(value, list | tuple):
        return "+".join(map(_text, value))
    text = str(value)
    return re.sub(r"[\s,|%]", lambda found: quote(found[0]), text)
