"""A full disk: preprocessing that runs out of space reports it in one line, and resumes once there is space.

Mounts a disk in memory, which needs root on Linux.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import tiny
from small_news import write_table

from campaigns.made_files import content

SHARD = 2


@contextmanager
def disk(place: Path) -> Iterator[Path]:
    """Mount a disk in memory at a folder while the block runs."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def resize(place: Path, size: int) -> None:
    """Resize a mounted disk; the size in bytes is a multiple of the page size."""
    subprocess.run(["mount", "-o", f"remount,size={size}", place], check=True)


def can_mount() -> bool:
    """Return whether a disk can be mounted here."""
    with tempfile.TemporaryDirectory() as name:
        try:
            with disk(Path(name) / "disk"):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False


def attack(count: int, seed: int) -> Mapping[str, object]:
    """Fill the disk of `count` runs of `discsum preprocess`, each at a different point."""
    said: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        parser, table = place / "parser", write_table(place / "news.jsonl", 0, 12)
        tiny.make_parser().save_pretrained(parser)
        command = [sys.executable, "-m", "discsum", "preprocess", str(table), "--parser", str(parser)]
        command += ["--shard", str(SHARD)]
        subprocess.run([*command, str(place / "whole")], check=True, capture_output=True)
        wanted = content(place / "whole")
        needed = sum(len(one) for one in wanted.values())
        for number in range(count):
            with disk(place / "disk") as mounted:
                resize(mounted, max(4096, needed * number // count // 4096 * 4096))
                found = subprocess.run([*command, str(mounted / "out")], capture_output=True, text=True)
                assert "Traceback" not in found.stderr, found.stderr
                if found.returncode:
                    line = found.stderr.strip().splitlines()[-1]
                    assert "No space left on device" in line, found.stderr
                    assert str(mounted) in line, f"expected the name of the file, got {line}"
                    said["No space left on device"] = said.get("No space left on device", 0) + 1
                resize(mounted, 16 * 1024**2)
                again = subprocess.run([*command, str(mounted / "out")], capture_output=True, text=True)
                assert again.returncode == 0, again.stderr
                assert content(mounted / "out") == wanted
            shutil.rmtree(place / "disk")
    return {"places": count, **said}
