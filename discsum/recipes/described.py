"""What a dataclass says of its fields: type, range, choices and help, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from msgspec import Meta

_SINGULAR = {str: "a word", int: "a whole number", float: "a number", bool: "true or false", NoneType: "null"}
_PLURAL = {str: "words", int: "whole numbers", float: "numbers"}
_LIMITS = {"ge": "of at least {:g}", "gt": "above {:g}", "le": "of at most {:g}", "lt": "below {:g}"}


@dataclass(frozen=True)
class FieldHelp:
    """One field: its name, what it may be, its value here, and its help."""

    name: str
    expected: str
    value: str
    help: str


def help_of(made: Any, prefix: str = "") -> list[FieldHelp]:
    """Return the fields of a dataclass with their values in it, those of its groups after them by `group.field`."""
    found = []
    for name, hint in init_fields(type(made)).items():
        value = getattr(made, name)
        if is_dataclass(value):
            found += help_of(value, f"{prefix}{name}.")
            continue
        shown = f"[{', '.join(map(str, value))}]" if isinstance(value, list | tuple) else str(value)
        marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        said = " ".join(mark.description for mark in marks if isinstance(mark, Meta) and mark.description)
        found.append(FieldHelp(f"{prefix}{name}", described(hint), "null" if value is None else shown, said))
    return found


def described(hint: Any) -> str:
    """Return in words what a field may be: its type, its range, its choices."""
    limits, choices, bare = unwrapped(hint)
    if choices is not None:
        return f"one of {', '.join(choices)}"
    origin, inner = get_origin(bare), get_args(bare)
    if origin in (tuple, list):
        some = "a non-empty list" if limits.get("min_length") else "a list"
        entry_limits, _, entry = unwrapped(inner[0])
        kind = (
            f"groups of fields ({', '.join(init_fields(entry))})"
            if is_dataclass(entry)
            else _PLURAL.get(entry, "values")
        )
        return " ".join([f"{some} of {kind}", *_ranged(entry_limits)])
    if is_dataclass(bare) or dict in (bare, origin):
        return "a group of fields"
    if inner:
        words = [described(choice) for choice in inner]
        return f"{', '.join(words)}".replace(", null", ", or null") if NoneType in inner else " or ".join(words)
    if {"ge", "gt"} & limits.keys() and {"le", "lt"} & limits.keys():
        low, high = (next(limits[name] for name in names if name in limits) for names in (("ge", "gt"), ("le", "lt")))
        return f"{_SINGULAR[bare]} in {'[' if 'ge' in limits else '('}{low:g}, {high:g}{']' if 'le' in limits else ')'}"
    return " ".join([_SINGULAR.get(bare, "any value"), *_ranged(limits)])


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean ...?` for a word that is nearly a known one, otherwise nothing."""
    near = get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def init_fields(cls: Any) -> dict[str, Any]:
    """Return the fields that a dataclass is made with, and their types with range and help."""
    return _init_fields(cls)


@cache
def _init_fields(cls: Any) -> dict[str, Any]:
    hints = get_type_hints(cls, include_extras=True)
    for base in cls.__mro__[1:]:
        # A subclass with another default says the type again, but neither range nor help.
        if is_dataclass(base):
            bare, whole = get_type_hints(base), get_type_hints(base, include_extras=True)
            hints |= {name: whole[name] for name in whole if hints[name] == bare[name]}
    return {field.name: hints[field.name] for field in fields(cls) if field.init}


def unwrapped(hint: Any) -> tuple[dict[str, Any], list[str] | None, Any]:
    """Return a type's limits, its choices (none where any value will do), and the type without them."""
    if get_origin(hint) is not Annotated:
        return {}, None, hint
    bare, *marks = get_args(hint)
    limits = {
        name: getattr(mark, name)
        for mark in marks
        for name in (*_LIMITS, "min_length")
        if isinstance(mark, Meta) and getattr(mark, name) is not None
    }
    for mark in marks:
        if isinstance(mark, Meta) and mark.extra and "choices" in mark.extra:
            choices = mark.extra["choices"]
            return limits, list(choices() if callable(choices) else choices), bare
    return limits, None, bare


def _ranged(limits: Mapping[str, Any]) -> list[str]:
    return [words.format(limits[name]) for name, words in _LIMITS.items() if name in limits]
