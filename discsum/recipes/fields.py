"""Dataclasses filled from YAML or JSON; the annotation of a field declares its type, range and help.

For example `epochs: Annotated[Count, about("Passes over the documents.")] = 12`. msgspec converts and checks the values
because importing it takes 0.03 s of processor time, and pydantic 0.19 s.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from typing import Annotated, Any, Self, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from discsum.errors import InputError
from discsum.recipes.described import described, init_fields, unwrapped
from discsum.registry import suggestion

Count = Annotated[int, Meta(ge=1)]
Natural = Annotated[int, Meta(ge=0)]
# What every random generator takes.
Seed = Annotated[int, Meta(ge=0, le=2**32 - 1)]
Positive = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
# Excludes 1, which would drop everything.
Dropout = Annotated[float, Meta(ge=0, lt=1)]
# What messages and help call a string that is no word.
FilePath = Annotated[str, Meta(title="a path")]
ModelName = Annotated[str, Meta(title="a name or path")]

# Maximum number of characters of a value in messages.
LONGEST = 120
# End of the message about a missing field.
_MISSING = "got nothing"
Kind = TypeVar("Kind")


class _FieldsError(InputError):
    def __init__(self, problems: list[str], *, typed: bool) -> None:
        super().__init__("; ".join(problems))
        self.problems, self.typed = problems, typed


def shown(value: Any) -> str:
    """Return a value's representation for messages, shortened to `LONGEST` characters; constants as in YAML."""
    text = {"None": "null", "True": "true", "False": "false"}.get(repr(value), repr(value))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def about(text: str) -> Meta:
    """Return the help of a field, to be placed in its `Annotated`."""
    return Meta(description=text)


def one_of(choices: Iterable[str] | Callable[[], Iterable[str]], text: str) -> Meta:
    """Return the choices and help of a field; pass a registry or a function for choices that may still grow."""
    return Meta(description=text, extra={"choices": choices})


class Checked:
    """Base class of frozen dataclasses that check their fields, also when they are built in Python.

    Raises:
        InputError: Values of the wrong type or out of range; all problems at once.
    """

    # How to list the fields, for classes with too many fields to list in a message.
    listed_by = ""

    def __post_init__(self) -> None:
        """Check each field, then their combination; numbers and lists are converted to the field's type."""
        wrong: list[str] = []
        values = {name: getattr(self, name) for name in init_fields(type(self))}
        for name, value in _values(type(self), values, "", wrong).items():
            object.__setattr__(self, name, value)
        # If all types are right, the combination is checked even if some values are out of range.
        typed = not wrong or _typed(self)
        wrong += self.problems() if typed else []
        if wrong:
            raise _FieldsError(wrong, typed=typed)

    def problems(self) -> list[str]:
        """Return the problems of the combination of fields, each as `field: expected ..., got ...`."""
        return []

    def unused(self, *names: str, why: str) -> list[str]:
        """Return a line for each of these fields that differs from its default, which has no effect, and why."""
        defaults = {field.name: field.default for field in fields(self)}  # type: ignore[arg-type]
        return [
            f"{name}: {shown(getattr(self, name))} has no effect {why}"
            for name in names
            if getattr(self, name) != defaults[name]
        ]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build an instance from the content of a YAML or JSON file; see `convert`."""
        return convert(cls, data)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""
        instance: Any = self
        return asdict(instance)


def convert(cls: type[Kind], data: Any, source: str = "") -> Kind:
    """Build a dataclass from a mapping that was read from YAML or JSON.

    Fields may be dataclasses, or lists or dictionaries of dataclasses. A float field also accepts whole numbers, and
    strings that are numbers, because YAML reads `1e-4` as a string.

    Args:
        cls: The dataclass.
        data: Its fields.
        source: Path of the file, for messages, which advise to add a missing field only if there is none: to a recipe.

    Raises:
        InputError: Fields that are unknown, missing, of the wrong type, out of range, or in conflict; all problems at
            once.
    """
    wrong: list[str] = []
    made: Any = _instance(cls, data, "", wrong)
    if wrong and source:
        raise InputError(f"{source}: {'; '.join(wrong)}")
    if wrong:
        raise InputError("; ".join(f"{one}; add it" if one.endswith(_MISSING) else one for one in wrong))
    return made  # type: ignore[no-any-return]


def convert_value(hint: Any, value: Any, name: str) -> Any:
    """Return a value converted to the type `hint` as a recipe's field is; errors as in `check_value`."""
    wrong: list[str] = []
    found = _value(hint, value, name, wrong)
    if wrong:
        raise InputError("; ".join(wrong))
    return found


def check_value(hint: Any, value: Any, name: str) -> None:
    """Raise `InputError` for a value that is not of the type `hint` or out of range; strings are not numbers here."""
    if isinstance(convert_value(hint, value, name), float) and isinstance(value, str):
        raise InputError(f"{name}: expected {described(hint)}, got {shown(value)}")


def differences(there: Mapping[str, Any], recipe: Mapping[str, Any]) -> str:
    """Describe the fields in which a recipe differs from one read from JSON, with both values; empty if none do."""
    return both_values(differing(there, recipe))


def both_values(differing: Mapping[str, tuple[Any, Any]]) -> str:
    """Describe fields that differ, each with both values."""
    return ", ".join(f"{key} {there!r} there and {here!r} here" for key, (there, here) in differing.items())


def differing(there: Mapping[str, Any], recipe: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the fields in which a recipe differs from one read from JSON, by name, with both values."""
    here = json.loads(json.dumps(recipe))
    return {
        key: (there.get(key), here.get(key))
        for key in sorted(there.keys() | here.keys())
        if there.get(key) != here.get(key)
    }


def _instance(cls: type, data: Any, name: str, wrong: list[str]) -> Any:
    """Return a dataclass filled from a mapping, or None after adding its problems to `wrong`."""
    if not isinstance(data, Mapping):
        wrong.append(": ".join(filter(None, [name, f"expected a group of fields, got {shown(data)}"])))
        return None
    prefix = f"{name}." if name else ""
    known = init_fields(cls)
    for key in data:
        if key not in known:
            near, listed_by = suggestion(key, list(known)), getattr(cls, "listed_by", "")
            fields_of = f"recipe{near}; {listed_by}" if listed_by else f"{', '.join(known)}{near}"
            wrong.append(f"{prefix}{key}: expected one of the fields {'of the ' if listed_by else ''}{fields_of}")
    given = {key: value for key, value in data.items() if key in known}
    required = [field.name for field in fields(cls) if field.default is MISSING and field.default_factory is MISSING]
    missing = [field for field in required if field in known and field not in given]
    if not missing and issubclass(cls, Checked):
        made = object.__new__(cls)
        try:
            cls.__init__(made, **given)
        except _FieldsError as error:
            wrong += [f"{prefix}{problem}" for problem in error.problems]
            # Values of the right type, even out of range, still allow checking the enclosing fields.
            return made if error.typed else None
        return made
    before = len(wrong)
    values = _values(cls, given, prefix, wrong)
    wrong += [f"{prefix}{field}: expected {described(known[field])}, {_MISSING}" for field in missing]
    return cls(**values) if len(wrong) == before else None


def _typed(made: Any) -> bool:
    """Return whether all fields have the right type, ignoring ranges."""
    hints = get_type_hints(type(made))
    try:
        for name in init_fields(type(made)):
            msgspec.convert(getattr(made, name), hints[name])
    except msgspec.ValidationError:
        return False
    return True


def _values(cls: type, given: Mapping[str, Any], prefix: str, wrong: list[str]) -> dict[str, Any]:
    hints = init_fields(cls)
    return {name: _value(hints[name], value, f"{prefix}{name}", wrong) for name, value in given.items()}


def _value(hint: Any, value: Any, name: str, wrong: list[str]) -> Any:
    """Return a value converted to the type of its field; problems are added to `wrong`."""
    _, choices, bare = unwrapped(hint)
    kinds = [unwrapped(kind)[2] for kind in (bare, *get_args(bare))]
    group = next((kind for kind in kinds if is_dataclass(kind)), None)
    before = len(wrong)
    if isinstance(group, type):
        collection = get_origin(bare)
        if collection in (list, tuple):
            if isinstance(value, list | tuple):
                value = [_value(group, entry, f"{name}[{place}]", wrong) for place, entry in enumerate(value)]
        elif collection is dict and isinstance(value, Mapping):
            value = {key: _value(group, entry, f"{name}.{key}", wrong) for key, entry in value.items()}
        elif isinstance(value, Mapping):
            value = _instance(group, value, name, wrong)
    if len(wrong) > before:
        return value
    try:
        # Lax conversion turns strings into numbers, because YAML reads 1e-4 as a string.
        found = msgspec.convert(value, hint, strict=float not in kinds or str in kinds)
        valid = choices is None or found in choices or found is None
        valid &= not isinstance(found, float) or math.isfinite(found)
    except msgspec.ValidationError:
        found, valid = value, False
    if not valid:
        near = suggestion(value, choices or [])
        wrong.append(f"{name}: expected {described(hint)}, got {shown(value)}{near}")
    return found
