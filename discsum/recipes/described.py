"""Read types, ranges and choices of dataclass fields, and describe them in words."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

_SINGULAR = {str: "a word", int: "a whole number", float: "a number", bool: "true or false", NoneType: "null"}
# By type, or by the title of an annotated one.
_PLURAL = {str: "words", int: "whole numbers", float: "numbers", "a name or path": "names or paths"}
_LIMITS = {"ge": "of at least {:g}", "gt": "above {:g}", "le": "of at most {:g}", "lt": "below {:g}"}


@dataclass(frozen=True)
class FieldHelp:
    """The name, permitted values, current value and help of a field."""

    name: str
    expected: str
    value: str
    help: str


def help_of(made: Any, prefix: str = "") -> list[FieldHelp]:
    """Return the help of all fields of a dataclass instance; fields of nested dataclasses are named `group.field`.

    The help of a group comes before that of its fields.
    """
    found = []
    for name, hint in init_fields(type(made)).items():
        value = getattr(made, name)
        texts = [mark.description for mark in getattr(hint, "__metadata__", ()) if mark.description]
        if is_dataclass(value):
            found.append(FieldHelp(f"{prefix}{name}", "a group of fields", "{...}", " ".join(texts)))
            found += help_of(value, f"{prefix}{name}.")
            continue
        shown = f"[{', '.join(map(_entry, value))}]" if isinstance(value, list | tuple) else str(value)
        found.append(FieldHelp(f"{prefix}{name}", described(hint), "null" if value is None else shown, " ".join(texts)))
    return found


def _entry(value: Any) -> str:
    """Return an entry of a list as YAML; of a dataclass the fields that differ from their defaults."""
    if not is_dataclass(value):
        return str(value)
    from discsum.recipes.yaml_values import flow

    return flow({field.name: own for field in fields(value) if (own := getattr(value, field.name)) != field.default})


def described(hint: Any) -> str:
    """Return the permitted values of a field in words: type, range, choices."""
    limits, choices, bare = unwrapped(hint)
    if choices is not None:
        return f"one of {', '.join(choices)}"
    origin, inner = get_origin(bare), get_args(bare)
    if origin in (tuple, list):
        entry_limits, _, entry = unwrapped(inner[0])
        entries = _PLURAL.get(_title(inner[0]) or entry, "values")
        if is_dataclass(entry):
            names = [*init_fields(entry)]
            entries = f"groups of fields ({', '.join(names)}), such as [{{{names[0]}: ...}}]"
        elif get_origin(entry) is tuple:
            entries = f"lists, each {described(entry)}"
        if origin is tuple and Ellipsis not in inner:
            return f"a list of {len(inner)} {entries}{_range(entry_limits)}"
        return f"{'a non-empty list' if limits else 'a list'} of {entries}{_range(entry_limits)}"
    if is_dataclass(bare) or dict in (bare, origin):
        return "a group of fields"
    if inner:
        return ", or ".join(map(described, inner))
    return (_title(hint) or _SINGULAR.get(bare, "any value")) + _range(limits)


def _title(hint: Any) -> str:
    """Return the title of an annotated type, empty if it has none."""
    return next((mark.title for mark in getattr(hint, "__metadata__", ()) if mark.title), "")


def init_fields(cls: Any) -> dict[str, Any]:
    """Return the constructor fields of a dataclass and their annotated types."""
    return _init_fields(cls)


@cache
def _init_fields(cls: Any) -> dict[str, Any]:
    hints = get_type_hints(cls, include_extras=True)
    for base in cls.__mro__[1:]:
        # A subclass that only changes a field's default inherits its range and help.
        if is_dataclass(base):
            bare, annotated = get_type_hints(base), get_type_hints(base, include_extras=True)
            hints |= {name: annotated[name] for name in annotated if hints[name] == bare[name]}
    return {field.name: hints[field.name] for field in fields(cls) if field.init}


def unwrapped(hint: Any) -> tuple[dict[str, Any], list[str] | None, Any]:
    """Return a type's limits, its choices (None if unrestricted), and the type without its annotations."""
    if get_origin(hint) is not Annotated:
        return {}, None, hint
    bare, *marks = get_args(hint)
    names = (*_LIMITS, "min_length")
    limits = {name: value for mark in marks for name in names if (value := getattr(mark, name)) is not None}
    choices = next((mark.extra["choices"] for mark in marks if mark.extra), None)
    return limits, None if choices is None else list(choices() if callable(choices) else choices), bare


def _range(limits: dict[str, Any]) -> str:
    if len(limits) == 2:
        low, high = limits.values()
        return f" in {'[' if 'ge' in limits else '('}{low:.12g}, {high:.12g}{']' if 'le' in limits else ')'}"
    return "".join(f" {_LIMITS[name].format(value)}" for name, value in limits.items())
