"""Check names on the Hugging Face hub within seconds, where its libraries would retry for minutes."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from discsum.constants import HUB
from discsum.errors import InputError, WeightsError

# Timeout for connecting and for each part of the response, in this check only; downloads may take as long as they need.
SECONDS = 4.0
Kind = Literal["model", "dataset"]
_GATED = "expected a {kind} that you have access to, got a gated one; run hf auth login"


def local_only(name: str, kind: Kind = "model", revision: str | None = None, token: str | bool | None = None) -> bool:
    """Return whether a name of the hub is to be read from the cache, because the hub cannot be reached.

    The answer is kept for at most a minute, because loading one model asks several times.

    Args:
        name: The name, with or without `hf:`; a dataset's may be followed by `:CONFIG:SPLIT`.
        kind: What it names.
        revision: Branch, tag or commit; by default the main branch.
        token: Token of a user who has access; by default the one that hf auth login saved.

    Raises:
        WeightsError: The hub has no such model or revision, or does not answer and the cache does not have it; or a
            local folder has the name after `hf:`, which the hub's libraries would read instead.
        InputError: The same for a dataset.
    """
    return _local_only(name, kind, revision, token, int(time.monotonic() // 60))


@lru_cache(maxsize=64)
def _local_only(name: str, kind: Kind, revision: str | None, token: str | bool | None, minute: int) -> bool:
    """Return what `local_only` does, found anew in each minute."""
    from huggingface_hub import HfApi, constants, scan_cache_dir
    from huggingface_hub.errors import (
        CacheNotFound,
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    own = name.removeprefix(HUB).partition(":")[0]
    failed = WeightsError if kind == "model" else InputError
    if name.startswith(HUB) and own and Path(own).is_dir():
        raise failed(
            f"{name}: expected a name that only the hub has, got that of the local folder {own}; leave out {HUB} to "
            "read the folder, or run the command elsewhere to read the hub"
        )
    try:
        HfApi().repo_info(own, revision=revision, repo_type=kind, timeout=SECONDS, token=token)
    except GatedRepoError as error:
        raise failed(f"{name}: {_GATED.format(kind=kind)}") from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise failed(
            f"{name}: expected the name of a {kind} on the hub, or a local folder; the hub has no such {kind}, or "
            "it is private (hf auth login)"
        ) from error
    except RevisionNotFoundError as error:
        raise failed(
            f"{name}: expected a revision of this {kind} on the hub, got {revision!r}; name a branch, tag or commit of "
            f"https://huggingface.co/{own}"
        ) from error
    except Exception as error:
        # What the libraries raise without a network depends on the HTTP library that their version uses.
        try:
            cached = {repo.repo_id: _revisions(repo) for repo in scan_cache_dir().repos if repo.repo_type == kind}
        except CacheNotFound:
            cached = {}
        if (revision or "main") in cached.get(own, ()):
            return True
        said = str(error).partition("\n")[0] or type(error).__name__
        problem = "answers with an error" if isinstance(error, HfHubHTTPError) else "cannot be reached"
        why = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else f"{constants.ENDPOINT} {problem} ({said})"
        raise failed(
            f"{name}: expected a {kind} of the Hugging Face hub, but {why}, and the cache does not have it; name a "
            "local folder, or check the network, HF_ENDPOINT and HF_HUB_OFFLINE"
        ) from error
    return False


def _revisions(repo: Any) -> set[str]:
    """Return the commits of a repository in the cache, and the branches and tags that point to them."""
    return {*repo.refs, *(revision.commit_hash for revision in repo.revisions)}


def downloaded(name: str, **options: Any) -> Path:
    """Return the folder of a model `hf:NAME`, downloaded if the cache does not have it.

    Args:
        name: The name, with `hf:`.
        options: Those of `huggingface_hub.snapshot_download`, such as `revision` and `token`.

    Raises:
        WeightsError: The hub has no such model, or does not answer and the cache does not have it; or a download
            fails.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import GatedRepoError

    if local_only(name, revision=options.get("revision"), token=options.get("token")):
        options["local_files_only"] = True
    try:
        # Users pin `revision`; nothing in a snapshot is run.
        return Path(snapshot_download(name.removeprefix(HUB), **options))  # nosec B615
    except GatedRepoError as error:
        # The hub describes gated models to all.
        raise WeightsError(f"{name}: {_GATED.format(kind='model')}") from error
    except TypeError:
        # An unknown option.
        raise
    except Exception as error:
        # As in `local_only`, the classes depend on the version of the library.
        said = str(error).partition("\n")[0] or type(error).__name__
        raise WeightsError(
            f"{name}: expected to download it or to find all of its files in the cache, got: {said}; check the network "
            "and the space in HF_HOME, then try again"
        ) from error


def upload(model: Any, name: str, **options: Any) -> str:
    """Upload the folder that a model's `save_pretrained` writes, and return the address of the commit.

    Args:
        model: The model.
        name: Name on the hub, such as `me/model`; the repository is created if it does not exist.
        options: Options of `huggingface_hub.ModelHubMixin.push_to_hub`, such as `private`, `branch` and `token`.
    """
    # Imported late: the import takes a tenth of the start-up time of `discsum extract`.
    from huggingface_hub import ModelHubMixin

    # The mixin's method only needs an object with `save_pretrained`.
    address: str = ModelHubMixin.push_to_hub(model, name, **options)
    return address


def hub_files(name: str, *files: str, revision: str = "") -> list[Path | None]:
    """Return files of a model on the hub, downloaded into one folder; None for each that is missing or unreachable.

    Args:
        name: The name, with or without `hf:`.
        files: Their names.
        revision: Commit, by default the newest.

    Raises:
        WeightsError: No such name on the hub, or the hub cannot be reached and the cache does not have it.
    """
    found_locally = local_only(name, revision=revision or None)
    options: dict[str, Any] = {"local_files_only": found_locally, "_raise_exceptions_for_missing_entries": False}
    if revision:
        options["revision"] = revision
    from transformers.utils.hub import cached_file

    try:
        found = [cached_file(name.removeprefix(HUB), file, **options) for file in files]
    except OSError:
        # The network has failed since the check; loading the model itself reports it.
        return [None] * len(files)
    return [None if path is None else Path(path) for path in found]
