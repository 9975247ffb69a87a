"""Read JSON objects from untrusted files: bounded in size and depth, with one-line error messages."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NoReturn, TypeVar

from discsum.errors import DiscsumError, InputError, WeightsError
from discsum.files import Readable, read_at_most
from discsum.recipes.fields import convert

Kind = TypeVar("Kind")

# Configurations with a thousand label names take 100 KB.
MOST_BYTES = 16 * 1024**2
DEEPEST = 32
# Advice about the configuration of a model, which nobody writes by hand.
_DAMAGED = "the file is damaged, or from another version of discsum: copy or train the model again"


def read_object(path: Readable, failed: type[DiscsumError], largest: int = MOST_BYTES) -> dict[str, Any]:
    """Return the JSON object in a file.

    Args:
        path: The file.
        failed: The error to raise.
        largest: Largest size of the file in bytes.

    Raises:
        DiscsumError: `failed`, if the file cannot be read, is not UTF-8 or JSON, is larger than `largest` bytes, deeper
            than `DEEPEST` levels, or not an object.
    """
    try:
        content = read_at_most(path, largest)
    except InputError as error:
        raise failed(str(error)) from error
    except OSError as error:
        raise failed(f"{path}: expected a JSON file: {error.strerror or error}") from error
    return parse_object(content, str(path), failed)


def parse_object(content: bytes | str, source: str, failed: type[DiscsumError]) -> dict[str, Any]:
    """Return the JSON object in `content`; errors as in `read_object` name `source`."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8")
        found = json.loads(text, parse_constant=_refuse)
        deep = _deeper(found, DEEPEST)
        if not deep and "\\ud" in text.lower():
            # Fails on lone surrogates, which no later code could write.
            json.dumps(found, ensure_ascii=False).encode()
    except RecursionError:
        found, deep = {}, True
    except ValueError as error:
        said = str(error).partition("\n")[0]
        raise failed(f"{source}: expected JSON in UTF-8, got {said}") from error
    if deep:
        raise failed(f"{source}: expected JSON of at most {DEEPEST} levels, got more")
    if not isinstance(found, dict):
        raise failed(f"{source}: expected a JSON object, got {json_type(found)}")
    return found


def checked_fields(cls: type[Kind], content: Any, path: object, failed: type[DiscsumError]) -> Kind:
    """Return a dataclass filled from an object that was read from `path`.

    Raises:
        DiscsumError: `failed`, naming every field that is wrong; a `WeightsError` also says what to do.
    """
    try:
        return convert(cls, content, str(path))
    except DiscsumError as error:
        raise failed(f"{error}; {_DAMAGED}" if issubclass(failed, WeightsError) else str(error)) from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"the number {constant}")


def _deeper(value: Any, levels: int) -> bool:
    """Return whether lists and objects are nested deeper than `levels`."""
    current = [value]
    for _ in range(levels + 1):
        inner: list[Any] = []
        for one in current:
            children: Iterable[Any] = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
            inner += [child for child in children if isinstance(child, dict | list)]
        if not inner:
            return False
        current = inner
    return True


def json_type(value: object) -> str:
    """Return the name of a JSON value's type, for messages."""
    names = {type(None): "nothing", bool: "true or false", int: "a number", float: "a number", str: "a text"}
    names |= {list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)
