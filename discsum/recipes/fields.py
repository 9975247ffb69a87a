"""Dataclasses filled from YAML or JSON: a field's type, range and help stand at the field, and nowhere else.

A field says them as `epochs: Annotated[Count, about("Passes over the documents.")] = 12`. msgspec converts and checks:
importing it takes 0.03 s of processor time, pydantic with its dataclasses 0.19 s (best of seven, Python 3.11), which
every command would pay; and a type that msgspec refuses can be described here in a recipe's own words.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import MISSING, asdict, fields, is_dataclass
from types import NoneType
from typing import Annotated, Any, Self, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from discsum.errors import InputError
from discsum.recipes.described import described, init_fields, suggestion, unwrapped

Count = Annotated[int, Meta(ge=1)]
Natural = Annotated[int, Meta(ge=0)]
Positive = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
# A dropout of 1 would leave nothing.
Dropout = Annotated[float, Meta(ge=0, lt=1)]

Kind = TypeVar("Kind")


def about(text: str) -> Meta:
    """Return the help of a field, to stand in its `Annotated`."""
    return Meta(description=text)


def one_of(choices: Iterable[str] | Callable[[], Iterable[str]], text: str) -> Meta:
    """Return the help of a field that is one of some words; what may still grow is read when a value is checked."""
    return Meta(description=text, extra={"choices": choices})


class Checked:
    """Base of frozen dataclasses that check their fields, from whatever they are made.

    Raises:
        InputError: Values of another type or out of range; all problems at once.
    """

    def __post_init__(self) -> None:
        """Check every field by itself, then together; numbers and lists get the type of their field."""
        reader = _Reader()
        values = {name: getattr(self, name) for name in init_fields(type(self))}
        for name, value in reader.values(type(self), values, "").items():
            object.__setattr__(self, name, value)
        reader.raise_any("", self.problems() if reader.typed else [])

    def problems(self) -> list[str]:
        """Return what is wrong with fields that do not fit together, each as `field: expected ..., got ...`."""
        return []

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return what the content of a YAML or JSON file says; see `convert`."""
        return convert(cls, data)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""
        whole: Any = self
        return asdict(whole)


def convert(cls: type[Kind], data: Any, what: str = "") -> Kind:
    """Return a dataclass with the values of a mapping, as YAML or JSON gives it.

    Groups of fields are dataclasses themselves, also in lists and dictionaries. Whole numbers are taken where numbers
    are meant, and words that are numbers too, as YAML leaves `1e-4`.

    Args:
        cls: The dataclass.
        data: Its fields.
        what: What the fields are of, for the message: a file's path; nothing for a recipe.

    Raises:
        InputError: Fields that are unknown, missing, of another type, out of range, or do not fit together; all
            problems at once.
    """
    reader = _Reader()
    made: Any = reader.group(cls, data, "")
    reader.raise_any(what)
    return made  # type: ignore[no-any-return]


def differences(there: Mapping[str, Any], recipe: Mapping[str, Any]) -> str:
    """Return the fields in which a recipe differs from one read from JSON, with both values; nothing if in none."""
    here = json.loads(json.dumps(recipe))
    return ", ".join(
        f"{key} {there.get(key)!r} there and {here.get(key)!r} here"
        for key in sorted(there.keys() | here.keys())
        if there.get(key) != here.get(key)
    )


class _Reader:
    """Fills dataclasses and collects what is wrong on the way.

    Attributes:
        problems: What is wrong.
        typed: Whether all values have the types of their fields, so that they can be checked together.
    """

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.typed = True

    def raise_any(self, what: str, more: Iterable[str] = ()) -> None:
        found = list(dict.fromkeys([*self.problems, *more]))
        if found:
            raise InputError(": ".join(filter(None, [what, "; ".join(found)])))

    def refuse(self, problem: str) -> None:
        self.problems.append(problem)
        self.typed = False

    def group(self, cls: type, data: Any, name: str) -> Any:
        """Return a dataclass filled from a mapping; None where its values have other types."""
        prefix = f"{name}." if name else ""
        if not isinstance(data, Mapping):
            self.refuse(": ".join(filter(None, [name, f"expected a group of fields, got {data!r}"])))
            return None
        known = init_fields(cls)
        before = len(self.problems)
        for key in data:
            if key not in known:
                near = suggestion(str(key), known)
                self.problems.append(f"{prefix}{key}: expected one of the fields {', '.join(known)}{near}")
        of_this = _Reader()
        values = of_this.values(cls, {key: value for key, value in data.items() if key in known}, prefix)
        for field in fields(cls):
            missing = field.init and field.name not in values
            if missing and field.default is MISSING and field.default_factory is MISSING:
                of_this.refuse(f"{prefix}{field.name}: expected {described(known[field.name])}, got nothing; add it")
        self.problems += of_this.problems
        self.typed &= of_this.typed
        if not of_this.typed:
            return None
        made: Any = _unchecked(cls, values)
        if isinstance(made, Checked):
            self.problems += [f"{prefix}{problem}" for problem in made.problems()]
        return made if len(self.problems) > before else cls(**values)

    def values(self, cls: type, given: Mapping[str, Any], prefix: str) -> dict[str, Any]:
        """Return the values of some fields of a dataclass in their types."""
        hints = init_fields(cls)
        return {name: self.value(hints[name], value, f"{prefix}{name}") for name, value in given.items()}

    def value(self, hint: Any, value: Any, name: str) -> Any:
        """Return one value in the type of its field; as it came where that cannot be."""
        _, choices, bare = unwrapped(hint)
        choice = next((kind for kind in (bare, *get_args(bare)) if is_dataclass(kind)), None)
        origin = get_origin(bare)
        if isinstance(choice, type):
            if origin in (tuple, list):
                return self.entries(hint, choice, value, name)
            if origin is dict and isinstance(value, Mapping):
                return {key: self.value(choice, entry, f"{name}.{key}") for key, entry in value.items()}
            empty = value is None and NoneType in get_args(bare)
            return value if empty or isinstance(value, choice) else self.group(choice, value, name)
        plain = _number(bare, value)
        try:
            found = msgspec.convert(plain, hint)
        except msgspec.ValidationError:
            self.problems.append(f"{name}: expected {described(hint)}, got {value!r}")
            try:
                return msgspec.convert(plain, _stripped(bare))
            except msgspec.ValidationError:
                self.typed = False
                return value
        if choices is not None and found not in choices and found is not None:
            near = suggestion(str(found), choices)
            self.problems.append(f"{name}: expected {described(hint)}, got {value!r}{near}")
        elif isinstance(found, float) and not math.isfinite(found):
            self.problems.append(f"{name}: expected {described(hint)}, got {value!r}")
        return found

    def entries(self, hint: Any, kind: type, value: Any, name: str) -> Any:
        """Return a list of dataclasses."""
        limits, _, bare = unwrapped(hint)
        if not isinstance(value, list | tuple):
            return self.refuse(f"{name}: expected {described(hint)}, got {value!r}")
        if len(value) < limits.get("min_length", 0):
            self.problems.append(f"{name}: expected {described(hint)}, got {value!r}")
        collection: Any = get_origin(bare)
        return collection(self.value(kind, entry, f"{name}[{place}]") for place, entry in enumerate(value))


def _stripped(hint: Any) -> Any:
    """Return a type without the ranges inside of it."""
    holder = type("Holder", (), {"__annotations__": {"hint": hint}})
    return get_type_hints(holder)["hint"]


def _number(hint: Any, value: Any) -> Any:
    """Return a word as the number that it is where numbers are meant: YAML takes 1e-4 for a word."""
    kinds = [unwrapped(kind)[2] for kind in get_args(hint) or (hint,)]
    if float not in kinds or str in kinds:
        return value
    if isinstance(value, list | tuple):
        return [_number(float, entry) for entry in value]
    if isinstance(value, str):
        with suppress(ValueError):
            return float(value)
    return value


def _unchecked(cls: type, values: Mapping[str, Any]) -> Any:
    """Return a dataclass whose `__post_init__` has not run."""
    made: Any = object.__new__(cls)
    defaults = {
        field.name: field.default if field.default_factory is MISSING else field.default_factory()
        for field in fields(cls)
    }
    for name, value in {**defaults, **values}.items():
        object.__setattr__(made, name, value)
    return made
