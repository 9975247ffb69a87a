"""Public names that are imported on first use, so that importing a package stays fast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_first_use(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package (PEP 562).

    Set it `if not TYPE_CHECKING`: with it, type checkers would take every misspelt name for one of type Any.

    Args:
        package: Name of the package.
        homes: The module of each public name. For a name of a module itself, the package.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        return import_module(f"{package}.{name}") if home == package else getattr(import_module(home), name)

    return get
