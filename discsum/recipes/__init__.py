"""Recipes: training runs described by YAML files in the package."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from discsum.errors import InputError
from discsum.recipes.rows import FILE, FOLDER, recipe_name, row_table
from discsum.registry import suggestion

# Fields of the model card that describe the recipe's own training data.
_CLAIMS = ("notes", "license")
# Fields of which one gives the length of a run.
_LENGTHS = ("epochs", "steps")
_FOLDER = Path(str(files("discsum") / "recipes"))


def names() -> list[str]:
    """Return the names of the shipped recipes."""
    return sorted([*_files(), *row_table().recipes()])


def summaries() -> dict[str, dict[str, str]]:
    """Return the first comment line of every shipped recipe, by folder (may be empty) and name.

    The rows of `xiao2020` are grouped into one entry.
    """
    found: dict[str, dict[str, str]] = {}
    for name, path in sorted(_files().items()):
        found.setdefault(name.rpartition("/")[0], {})[name] = _first_comment(path)
    table = row_table()
    parts = [{row[place]: None for row in table} for place in range(3)]
    pattern = recipe_name(*("{" + ",".join(part) + "}" for part in parts))
    found.setdefault(FOLDER, {})[pattern] = _first_comment(_FOLDER / FOLDER / FILE)
    return found


def read_recipe(name_or_path: str, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Return the content of a recipe after applying `key=value` overrides such as `network.design=top_down`.

    A recipe with the field `base` inherits the fields of another recipe, given by name or by path relative to its own
    file. Groups of fields, as in `network={design: top_down}`, are merged field by field; null resets one to its
    defaults. `notes` and `license` describe the training data, so overrides and files of users that change `train` do
    not inherit them. Of `epochs` and `steps`, one that a file or the overrides set replaces the other that the base
    has.

    Raises:
        InputError: Unknown recipe, a file without a YAML mapping, or an override that is not `key=value`.
    """
    # Imported late because parsers, which check their configurations with `discsum.recipes.fields`, need no YAML.
    from discsum.recipes.yaml_values import parse_yaml

    content, given = _read(name_or_path, ()), dict[str, Any]()
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
        given[key] = parse_yaml(value, override)
        _merge(place, last, given[key])
    _drop_other_length(content, given)
    _drop_claims(content, {override.partition("=")[0] for override in overrides})
    return content


def _drop_claims(content: dict[str, Any], changed: Collection[str]) -> None:
    """Remove the fields that describe training data, in place, if the data were changed and the fields were not."""
    if "train" in changed:
        for field in _CLAIMS:
            if field not in changed:
                content.pop(field, None)


def _drop_other_length(content: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """Remove the other field of the length of a run, in place, if the changes set only one of them."""
    given = [field for field in _LENGTHS if changes.get(field) is not None]
    if len(given) == 1:
        content.pop(next(field for field in _LENGTHS if field not in given), None)


def common_fields(content: dict[str, Any]) -> tuple[Path, str, str]:
    """Remove the fields that all recipes share from the content; return data, name, and notes for the model card.

    Raises:
        InputError: A recipe without data or name.
    """
    missing = [field for field in ("data", "name") if content.get(field) is None]
    if missing:
        given = " ".join(f"{field}=..." for field in missing)
        raise InputError(f"expected {' and '.join(missing)} in the recipe, got none; add {given}")
    if "://" in str(content["data"]):
        raise InputError(
            f"data: expected a folder on this machine, got the URL {content['data']}; name tables and dataset folders "
            "elsewhere one by one, as in train=[{path: 's3://bucket/train'}]"
        )
    content.pop("kind", None)
    # YAML reads a folder named 2 as a number.
    return Path(str(content.pop("data"))), str(content.pop("name")), str(content.pop("notes", None) or "")


def _files() -> dict[str, Path]:
    """Return the recipe files by name."""
    paths = (path for path in _FOLDER.rglob("*.yaml") if path.name != FILE)
    return {path.relative_to(_FOLDER).with_suffix("").as_posix(): path for path in paths}


def _first_comment(path: Path) -> str:
    with path.open(encoding="utf-8") as lines:
        return next(lines).lstrip("# ").strip()


def _content(path: Path) -> dict[str, Any]:
    from discsum.recipes.fields import shown
    from discsum.recipes.yaml_values import read_yaml

    content = read_yaml(path)
    if not isinstance(content, dict):
        got = "an empty file" if content is None else shown(content)
        raise InputError(f"{path}: expected the fields of a recipe, such as 'base: parser-gum-first', got {got}")
    return content


def _read(name_or_path: str, above: tuple[str, ...]) -> dict[str, Any]:
    path = Path(name_or_path)
    if not path.is_file():
        path = _files().get(name_or_path, _FOLDER / FOLDER / FILE)
    table = path == _FOLDER / FOLDER / FILE
    content = row_table().recipes().get(name_or_path) if table else _content(path)
    if content is None:
        near = suggestion(name_or_path, names())
        shown = ", ".join(dict.fromkeys(name if "/" not in name else f"{name.split('/')[0]}/..." for name in names()))
        raise InputError(f"expected a recipe's file or one of {shown}, got {name_or_path!r}{near}")
    base = content.pop("base", None)
    if base is None:
        return content
    if str(path) in above:
        raise InputError(f"{path}: expected a recipe without a cycle of bases, got {' > '.join([*above, str(path)])}")
    neighbour = path.parent / str(base)
    try:
        inherited = _read(str(neighbour if neighbour.is_file() else base), (*above, str(path)))
    except InputError as error:
        raise InputError(f"{path}: base: {error}") from error
    if not path.is_relative_to(_FOLDER):
        _drop_claims(inherited, content.keys())
    _drop_other_length(inherited, content)
    return _merged(inherited, content)


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the base with the changes applied; groups are merged field by field."""
    merged = dict(base)
    for key, value in changes.items():
        _merge(merged, key, value)
    return merged


def _merge(fields: dict[str, Any], key: str, value: Any) -> None:
    """Set a field, or some fields of a group, in place; null removes a group, whose fields then have their defaults."""
    group = isinstance(fields.get(key), dict)
    if value is None and group:
        del fields[key]
    else:
        fields[key] = _merged(fields[key], value) if group and isinstance(value, dict) else value
