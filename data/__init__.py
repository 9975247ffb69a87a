"""Reading and writing documents: inputs of the commands, tables, dataset folders."""

from __future__ import annotations

from discsum.late_imports import on_first_use

__all__ = ["load"]

# The reader of dataset folders needs `datasets`, readers of tables do not.
__getattr__ = on_first_use(__name__, {"load": "discsum.data.dataset"})
