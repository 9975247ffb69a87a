"""A hub without a network: models by name, in snapshots of links as in the hub's cache."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError

from discsum.hub import _local_only
from discsum.persistence import _known


def pretend(patch: pytest.MonkeyPatch, cache: Path, models: Mapping[str, Path]) -> list[str]:
    """Serve the folders of `models` by name; return a list to which each request and each linked file is added."""
    requests: list[str] = []

    def repo_info(api: Any, name: str, *, revision: str | None = None, **options: Any) -> None:
        requests.append(f"is there {name}")
        if name not in models:
            raise RepositoryNotFoundError("no such model", response=_answer(404))

    def snapshot_download(
        name: str, *, revision: str | None = None, allow_patterns: str = "*", token: str | None = None
    ) -> str:
        requests.append(f"list {' '.join(filter(None, (name, revision, token)))}")
        folder = cache / name / (revision or "main")
        folder.mkdir(parents=True, exist_ok=True)
        for file in sorted(models[name].iterdir()):
            if fnmatchcase(file.name, allow_patterns) and not (folder / file.name).exists():
                requests.append(f"get {name} {file.name}")
                (folder / file.name).symlink_to(file)
        return str(folder)

    def cached_file(name: str, file: str, *, revision: str | None = None, **options: Any) -> str | None:
        path = Path(snapshot_download(name, revision=revision, allow_patterns=file)) / file
        return str(path) if path.exists() else None

    patch.setattr("transformers.utils.hub.cached_file", cached_file)
    patch.setattr("huggingface_hub.HfApi.repo_info", repo_info)
    patch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    for kept in (_local_only, _known):
        kept.cache_clear()
    return requests


def refusal(kind: type[HfHubHTTPError], status: int) -> HfHubHTTPError:
    """Return the error for a request that the hub refuses."""
    return kind("refused", response=_answer(status))


def _answer(status: int) -> Any:
    return SimpleNamespace(status_code=status, headers={}, request=None)
