import io
import sys
from dataclasses import dataclass

import pytest
import tiny

from discsum.cli import main


@dataclass(frozen=True)
class Result:
    """What a command left: exit code, standard output and error."""

    code: int
    out: str
    err: str


@pytest.fixture
def discsum(capsysbinary, monkeypatch):
    """Run the command line in this process: `discsum("parse", path, stdin=b"...")`."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["discsum", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        captured = capsysbinary.readouterr()
        return Result(code, captured.out.decode(), captured.err.decode())

    return run


@pytest.fixture
def article(tmp_path):
    path = tmp_path / "article.txt"
    path.write_text(tiny.ARTICLE, encoding="utf-8")
    return path
