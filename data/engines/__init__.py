"""Engines: where work is done, by name in `ENGINES`. One file each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from discsum.registry import Registry

if TYPE_CHECKING:
    from discsum.data.engines.base import Engine

# Made with the number of processes.
ENGINES: Registry[Callable[[int], Engine]] = Registry("engine", "discsum.data.engines", "discsum.engines")
register, register_file = ENGINES.register, ENGINES.register_file

__all__ = ["ENGINES", "register", "register_file"]
