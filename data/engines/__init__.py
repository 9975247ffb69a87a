"""Engines, which run tasks in workers, by name in `ENGINES`. One file each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from discsum.errors import InputError
from discsum.registry import Registry

if TYPE_CHECKING:
    from discsum.data.engines.base import Engine

# Called with the number of workers and, if the engine has a class of options, an instance of it.
ENGINES: Registry[Callable[..., Engine]] = Registry("engine", "discsum.data.engines", "discsum.engines")
register = ENGINES.register

__all__ = ["ENGINES", "engine_of", "register"]


def engine_of(name: str, workers: int = 1, *, device: str = "cpu", **options: Any) -> Engine:
    """Return an engine with a number of workers.

    Args:
        name: Its name in `ENGINES`, or `NAME:ADDRESS` for an engine with the option `address`.
        workers: Number of workers.
        device: Device of the work, for engines that give each worker its GPUs.
        options: Other options of the engine; None means the engine's default.

    Raises:
        InputError: No such engine, an option that it does not have, or a value that it does not allow.
    """
    name, _, address = name.partition(":")
    entry = ENGINES.entry(name)
    given = {key: value for key, value in options.items() if value is not None}
    if entry.options is not None:
        # Imported here, because an engine without options does not need it.
        from discsum.recipes.described import init_fields
        from discsum.recipes.fields import convert

        given |= {"address": address} if address else {}
        if "device" in init_fields(entry.options):
            given["device"] = device
        return entry.value(workers, convert(entry.options, given, f"engine {name}"))
    if address:
        raise InputError(f"engine {name}: expected its name only, got {name}:{address}; this engine takes no address")
    if given:
        names = ", ".join(f"{key} (--{key.replace('_', '-')})" for key in given)
        raise InputError(f"engine {name}: expected no options, got {names}; leave them out or choose another engine")
    return entry.value(workers)
