"""Signatures: the settings behind a figure as `key:value` fields, `measure:f|stem:porter|...|version:0.1.0`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from discsum.errors import InputError

VERSION = "version"
# The short form's keys, in the manner of sacrebleu; others stay as they are.
SHORT = {
    "metrics": "m",
    "measure": "me",
    "method": "mt",
    "stem": "st",
    "split": "sp",
    "refs": "#",
    "references": "rh",
    "scorer": "sc",
    "unit": "u",
    "units": "n",
    "words": "w",
    "ratio": "r",
    "dependencies": "dep",
    "block-trigrams": "bt",
    "redundancy": "rd",
    "brevity": "br",
    "layout": "l",
    "parser": "p",
    "oracle": "o",
    "oracle-units": "on",
    "paired-bs": "pbs",
    "sides": "si",
    "edus": "e",
    "key": "k",
    "average": "avg",
    "relations": "rel",
    "same-unit": "su",
    "starts": "s",
    "docs": "d",
    "version": "v",
}
_LONG = {short: long for long, short in SHORT.items()}
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

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Return the signature of a text in the long form, which ends with `version:`, or the short one, with `v:`.

        Raises:
            InputError: A text that is not a signature.
        """
        pairs = [field.partition(":") for field in text.split("|")] if text else []
        if not all(colon for _, colon, _ in pairs):
            raise InputError(f"signature: expected key:value fields joined by |, got {text!r}")
        names = _LONG if pairs and pairs[-1][0] == SHORT[VERSION] else {}
        fields = [(names.get(key, key), value) for key, _, value in pairs]
        if fields and fields[-1][0] == VERSION:
            return cls(tuple(fields[:-1]), fields[-1][1])
        return cls(tuple(fields))

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
        """Return the long form, `key:value` fields joined by `|`."""
        return self._joined({})

    @property
    def short(self) -> str:
        """The short form: the same values under abbreviated keys.

        It is the long form if it could not be read back: without a version, or with the key of a setting elsewhere,
        such as that of a scorer of one's own, that equals an abbreviation.
        """
        readable = self.version and not any(key in _LONG for key, _ in self.fields)
        return self._joined(SHORT if readable else {})

    def _joined(self, keys: dict[str, str]) -> str:
        fields = (*self.fields, (VERSION, self.version)) if self.version else self.fields
        return "|".join(f"{keys.get(key, key)}:{value}" for key, value in fields)


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
