"""Loading of models with a compressed encoder: settings from `config.json`, convolutions from the weight files."""

from __future__ import annotations

from typing import Any

from discsum.abstractive import folder as stock
from discsum.abstractive.compressed.config import SETTINGS, CompressionConfig
from discsum.abstractive.compressed.conversion import compress, is_convolution


def load_model(name_or_path: str, device: str = "cpu") -> Any:
    """Load a model from a folder or the hub, with a compressed encoder if it was saved with one.

    Raises:
        WeightsError: No such model, or damaged files.
        InputError: An unavailable device.
    """
    # This import registers the family's own model class.
    import discsum.abstractive.compressed.model  # noqa: F401

    config = read_config(name_or_path)
    if config is None:
        return stock.load_model(name_or_path, device)
    with stock.without_report():
        model = stock.load_model(name_or_path, device)
    compress(model, **config.to_dict())
    stock.load_added(model, name_or_path, is_convolution, f"the encoder's variant {config.variant}")
    return model


def read_config(name_or_path: str) -> CompressionConfig | None:
    """Return the settings that an encoder was saved with, from its folder or the hub; None if it was not compressed.

    Raises:
        WeightsError: No such model, or a damaged file.
    """
    return stock.saved_settings(name_or_path, SETTINGS, CompressionConfig)
