"""Loading of sparse models: settings from `config.json`, a selector's weights from the model's weight files."""

from __future__ import annotations

from typing import Any

from discsum.abstractive.compressed.folder import load_model
from discsum.abstractive.folder import check_model_location, folder_of, load_added, without_report
from discsum.abstractive.sparse.config import SETTINGS, SparseConfig
from discsum.abstractive.sparse.conversion import is_selectors, sparsify
from discsum.errors import WeightsError
from discsum.json_objects import checked_fields, read_object
from discsum.persistence import CONFIG


def load_sparse(name_or_path: str, config: SparseConfig, device: str = "cpu") -> Any:
    """Load a model and its selector from a folder or the hub, with settings that come from `read_config`."""
    with without_report():
        model = load_model(name_or_path, device)
    given = config.to_dict()
    sparsify(model, **given.pop("options"), **given)
    load_added(model, name_or_path, is_selectors, f"the selector {config.selector}")
    return model


def read_config(name_or_path: str) -> SparseConfig | None:
    """Return the settings that a model was saved with, from its folder or the hub; None if it was not sparse.

    Raises:
        WeightsError: No such model, or a damaged file.
    """
    check_model_location(name_or_path)
    folder = folder_of(name_or_path)
    if folder is None:
        return None
    path = folder / CONFIG
    content = read_object(path, WeightsError).get(SETTINGS) if path.is_file() else None
    return None if content is None else checked_fields(SparseConfig, content, path, WeightsError)
