"""Extras: optional dependencies, installed with `pip install "discsum[NAME]"`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from discsum.errors import MissingExtraError

_REQUIREMENT = re.compile(r"([\w.-]+).*;.*\bextra\s*==\s*[\"']([\w.-]+)[\"']")
# This extra repeats libraries of other extras, for the tests.
_FOR_TESTS = "dev"


@contextmanager
def needs(module: str) -> Iterator[None]:
    """Run the block, which imports a module of an extra.

    Raises:
        MissingExtraError: It is not installed; the message is the command that installs the extra.
    """
    try:
        yield
    except ImportError as error:
        command = f'pip install "discsum[{extra_of(module)}]"'
        raise MissingExtraError(
            f"expected the library {module}, which cannot be imported ({error}); run: {command}"
        ) from error


@cache
def extra_of(module: str) -> str:
    """Return the extra of a module, read from the metadata of the installed package.

    Raises:
        LookupError: No extra has it, which is a bug in discsum.
    """
    from importlib.metadata import requires

    found = [match.groups() for line in requires("discsum") or () if (match := _REQUIREMENT.match(line))]
    library = module.partition(".")[0].replace("_", "-").lower()
    for name, extra in found:
        if name.replace("_", "-").lower() == library and extra != _FOR_TESTS:
            return extra
    raise LookupError(f"{module}: no extra of discsum has it")
