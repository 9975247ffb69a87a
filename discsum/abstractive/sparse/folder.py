"""Sparse models in folders of transformers: settings in `config.json`, a selector's weights beside the model's."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import Tensor

from discsum.abstractive.folder import check_place, load_model
from discsum.abstractive.sparse.config import SETTINGS, SparseConfig
from discsum.abstractive.sparse.conversion import is_selectors, sparsify
from discsum.constants import HUB
from discsum.errors import WeightsError
from discsum.hub import hub_files
from discsum.json_objects import checked_fields, read_object
from discsum.persistence import CONFIG, check_finite

# Of folders that were written before settings were in `config.json`.
FORMER = "selector.json"


def from_pretrained(name_or_path: str | Path, *, device: str = "cpu") -> Any:
    """Return the sparse model that its `save_pretrained` wrote to a folder, or `hf:NAME` of the hub.

    Raises:
        WeightsError: No such model, one that is not sparse, or damaged files.
        InputError: A device that is not here.
    """
    config = read_config(str(name_or_path))
    if config is None:
        raise WeightsError(
            f"{name_or_path}: expected a model that was sparse when it was saved, got one with its own "
            "cross-attention; load it with transformers, then sparsify it"
        )
    return load_sparse(str(name_or_path), config, device)


def load_sparse(name_or_path: str, config: SparseConfig, device: str = "cpu") -> Any:
    """Return the model of a folder or the hub with its selector, of the settings `config` that `read_config` found."""
    with _without_report():
        model = load_model(name_or_path, device)
    given = config.to_dict()
    sparsify(model, **given.pop("options"), **given)
    wanted = {name: value.shape for name, value in model.state_dict().items() if is_selectors(name)}
    found = dict(_selector_weights(name_or_path)) if wanted else {}
    others = wanted.items() ^ {(name, value.shape) for name, value in found.items()}
    if others:
        raise WeightsError(
            f"{name_or_path}: expected the weights of the selector {config.selector}, got others by name or size: "
            f"{', '.join(sorted({name for name, _ in others}))}"
        )
    check_finite(found.items(), name_or_path)
    model.load_state_dict(found, strict=False)
    return model


def read_config(name_or_path: str) -> SparseConfig | None:
    """Return the settings that a model was saved with, from its folder or the hub; none if it was not sparse.

    Raises:
        WeightsError: No such model, or a file that is damaged or of an earlier version.
    """
    check_place(name_or_path)
    folder = _folder(name_or_path)
    if folder is None:
        return None
    if (folder / FORMER).is_file():
        raise WeightsError(f"{folder / FORMER}: expected settings in {CONFIG}, got the format of an earlier version")
    path = folder / CONFIG
    content = read_object(path, WeightsError).get(SETTINGS) if path.is_file() else None
    return None if content is None else checked_fields(SparseConfig, content, path, WeightsError)


def _folder(name_or_path: str) -> Path | None:
    if not name_or_path.startswith(HUB):
        return Path(name_or_path)
    path = hub_files(name_or_path, CONFIG)[0]
    return None if path is None else path.parent


def _selector_weights(name_or_path: str) -> Iterator[tuple[str, Tensor]]:
    """Yield the selector's weights from the safetensors files of a model, of which there are several for large ones."""
    from safetensors import SafetensorError, safe_open

    folder = _folder(name_or_path)
    for path in sorted(folder.glob("model*.safetensors")) if folder is not None else []:
        try:
            with safe_open(path, framework="pt") as tensors:
                for name in filter(is_selectors, tensors.keys()):
                    yield name, tensors.get_tensor(name)
        except (SafetensorError, OSError) as error:
            raise WeightsError(f"{path}: expected safetensors, got {error}") from error


@contextmanager
def _without_report() -> Iterator[None]:
    """Keep transformers from reporting a selector's weights as unexpected ones."""
    logger = logging.getLogger("transformers.modeling_utils")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
