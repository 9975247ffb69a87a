"""The parsers in memory: each folder is loaded once a device, for every command and summarizer that asks for it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from discsum.constants import SHIPPED_PARSER
from discsum.files import sha256
from discsum.parsers.parser import Parser
from discsum.persistence import CONFIG, locate

# Parsers that stay in memory; a comparison of many models does not hold all of theirs.
MOST = 2


def load_parser(name_or_path: str | Path = SHIPPED_PARSER, device: str = "cpu") -> Parser:
    """Return a shipped parser or the one in a folder, the same object whenever the folder is the same.

    It is shared: whoever trains, moves or changes a parser takes one of their own from `Parser.from_pretrained`.

    Raises:
        WeightsError: A folder that is missing or damaged.
    """
    folder = locate(name_or_path).resolve()
    # The configuration names the checksums of the other files: a folder that was written again is another parser.
    return _loaded(str(folder), sha256(folder / CONFIG), device)


@lru_cache(maxsize=MOST)
def _loaded(folder: str, fingerprint: str, device: str) -> Parser:
    return Parser.from_pretrained(folder, device=device)
