"""Documents in and out: inputs of the commands, tables, dataset folders."""

from __future__ import annotations

from typing import Any

__all__ = ["load"]


def __getattr__(name: str) -> Any:
    """Import `load` on first use: it needs torch, and readers of tables do not."""
    if name != "load":
        raise AttributeError(f"module 'discsum.data' has no attribute {name!r}")
    from discsum.data.dataset import load

    return load
