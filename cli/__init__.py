"""The command line, `discsum`."""

from __future__ import annotations

from discsum.cli.app import main

__all__ = ["main"]
