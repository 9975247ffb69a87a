"""Recipe fields: checked against the dataclass that they are to fill, and against an earlier run's."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from contextlib import suppress
from typing import Any, get_args, get_origin, get_type_hints

_KINDS = {str: "a word", int: "a whole number", float: "a number", bool: "true or false", type(None): "nothing"}


def mistaken(kind: type, given: dict[str, Any], prefix: str = "", groups: Container[str] = ()) -> list[str]:
    """Return what is wrong with the fields' names and types; numbers are put into the type of their field.

    Args:
        kind: The dataclass.
        given: Its fields as the recipe has them; changed where a number is written in another way.
        prefix: What stands before a field's name in the recipe, as `network.`.
        groups: Fields of the dataclass that are filled by themselves and are no single values.
    """
    hints = {name: hint for name, hint in get_type_hints(kind).items() if name not in groups}
    problems = []
    for name, value in given.items():
        if name not in hints:
            problems.append(f"{prefix}{name}: expected one of the fields {', '.join(hints)}")
            continue
        if get_origin(hints[name]) is tuple:
            if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
                problems.append(f"{prefix}{name}: expected a list of words, got {value!r}")
            continue
        wanted = get_args(hints[name]) or (hints[name],)
        if float in wanted and isinstance(value, int | str) and not isinstance(value, bool):
            # YAML takes 1e-4, written without a full stop, for a word.
            with suppress(ValueError):
                given[name] = value = float(value)
        if type(value) not in wanted:
            expected = " or ".join(_KINDS[choice] for choice in wanted)
            problems.append(f"{prefix}{name}: expected {expected}, got {value!r}")
    return problems


def differences(there: Mapping[str, Any], recipe: Mapping[str, Any]) -> str:
    """Return the fields in which a recipe differs from one read from JSON, with both values; nothing if in none."""
    here = json.loads(json.dumps(recipe))
    return ", ".join(
        f"{key} {there.get(key)!r} there and {here.get(key)!r} here"
        for key in sorted(there.keys() | here.keys())
        if there.get(key) != here.get(key)
    )
