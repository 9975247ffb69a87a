"""Cache of loaded parsers: commands and summarizers share one parser per folder, device and precision."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from threading import RLock

import torch

from discsum.constants import PARSER_KIND, SHIPPED_PARSER
from discsum.devices import check_none_beside, device_name
from discsum.files import sha256
from discsum.parsers.parser import Parser
from discsum.persistence import CONFIG, locate

# Parsers that stay in memory; a comparison of many models must not keep all their parsers.
MOST = 2
_lock = RLock()


def loading_lock() -> RLock:
    """Return the lock that a thread holds while it loads a model, so that others wait instead of loading it again."""
    return _lock


def _renew() -> None:
    global _lock
    _lock = RLock()


if hasattr(os, "register_at_fork"):
    # In a forked child, the thread that may hold the lock does not exist.
    os.register_at_fork(after_in_child=_renew)


def load_parser(
    given: str | Path | Parser = SHIPPED_PARSER, device: str | torch.device = "cpu", precision: str = "fp32"
) -> Parser:
    """Return a shipped parser or the one in a folder; repeated calls return the same object.

    A parser that is already loaded is returned as it is. To train, move or change a parser, load a separate one with
    `Parser.from_pretrained`.

    Raises:
        TypeError: Neither a name, nor a folder, nor a parser.
        InputError: A device that is not available, or cannot compute in that precision; or either beside a loaded
            parser.
        WeightsError: A folder that is missing or damaged.
    """
    if isinstance(given, Parser):
        check_none_beside(f"parser {given.name}", device, precision)
        return given
    if not isinstance(given, (str, Path)):
        raise TypeError(f"parser: expected a name, a folder or a Parser, got {given!r}")
    folder = locate(given, PARSER_KIND).resolve()
    # The configuration has the checksums of the other files, so a folder that was rewritten is loaded again.
    with loading_lock():
        return _loaded(str(folder), sha256(folder / CONFIG), device_name(device), precision)


@lru_cache(maxsize=MOST)
def _loaded(folder: str, fingerprint: str, device: str, precision: str) -> Parser:
    return Parser.from_pretrained(folder, device=device, precision=precision)
