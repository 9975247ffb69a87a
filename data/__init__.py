"""Reading and writing documents: inputs of the commands, tables, dataset folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discsum.late_imports import on_first_use

if TYPE_CHECKING:
    from discsum.data.dataset import load

__all__ = ["load"]

# The reader of dataset folders needs `datasets`, readers of tables do not.
if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, {"load": "discsum.data.dataset"})
