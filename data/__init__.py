"""Reading and writing documents: inputs of the commands, tables, dataset folders."""

from __future__ import annotations

from typing import Any

__all__ = ["load"]


def __getattr__(name: str) -> Any:
    """Import the reader of dataset folders on first use: it needs `datasets`, readers of tables do not."""
    if name not in __all__:
        raise AttributeError(f"module 'discsum.data' has no attribute {name!r}")
    from discsum.data import dataset

    return getattr(dataset, name)
