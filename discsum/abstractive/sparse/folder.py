"""Loading of sparse models: settings from `config.json`, a selector's weights from the model's weight files."""

from __future__ import annotations

from typing import Any

from discsum.abstractive.compressed.folder import load_model
from discsum.abstractive.folder import load_added, saved_settings, without_report
from discsum.abstractive.sparse.config import SETTINGS, SparseConfig
from discsum.abstractive.sparse.conversion import is_selectors, sparsify


def load_sparse(name_or_path: str, config: SparseConfig, device: str = "cpu") -> Any:
    """Load a model and its selector from a folder or the hub, with settings that come from `read_config`."""
    with without_report():
        model = load_model(name_or_path, device)
    sparsify(model, **config.arguments)
    load_added(model, name_or_path, is_selectors, f"the selector {config.selector}")
    return model


def read_config(name_or_path: str) -> SparseConfig | None:
    """Return the settings that a model was saved with, from its folder or the hub; None if it was not sparse.

    Raises:
        WeightsError: No such model, or a damaged file.
    """
    return saved_settings(name_or_path, SETTINGS, SparseConfig)
