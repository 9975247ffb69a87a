"""The command line: `discsum parse`, `extract`, `train`, `evaluate`."""

from __future__ import annotations

from discsum.cli.app import main

__all__ = ["main"]
