"""Recipes: training runs as YAML files in the package."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from discsum.errors import InputError


def names() -> list[str]:
    """Return the names of the shipped recipes."""
    folder = Path(str(files("discsum") / "recipes"))
    return sorted(path.stem for path in folder.glob("*.yaml"))


def read_recipe(name_or_path: str, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Return the content of a recipe, with `key=value` overrides (`network.design=top_down`) in place.

    Raises:
        InputError: No such recipe, a file that is no YAML mapping, or an override that is no `key=value`.
    """
    path = Path(name_or_path)
    if not path.is_file():
        path = Path(str(files("discsum") / "recipes" / f"{name_or_path}.yaml"))
    if not path.is_file():
        raise InputError(f"expected a recipe's file or one of {', '.join(names())}, got {name_or_path!r}")
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise InputError(f"{path}: expected YAML: {error}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path}: expected a mapping of fields, got {type(content).__name__}")
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals or not key:
            raise InputError(f"expected key=value, got {override!r}")
        *parents, last = key.split(".")
        place = content
        for parent in parents:
            place = place.setdefault(parent, {})
            if not isinstance(place, dict):
                raise InputError(f"{override}: expected {parent} to be a group of fields")
        try:
            place[last] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise InputError(f"{override}: expected a YAML value after the equals sign") from error
    return content
