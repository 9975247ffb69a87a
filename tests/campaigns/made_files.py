"""The files that a run made, to compare runs byte by byte."""

from __future__ import annotations

from pathlib import Path

# Files that may differ: locks, and TensorBoard logs, which contain times.
OTHER = (".lock", "tensorboard")


def content(folder: Path) -> dict[str, bytes]:
    """Return the content of a run's files by path, without files that may differ."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(name in path.as_posix() for name in OTHER)
    }
