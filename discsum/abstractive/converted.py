"""Loading of converted models: sparse ones, ones with a compressed encoder, or both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from discsum.abstractive.compressed import folder as compressed
from discsum.abstractive.sparse import folder as sparse
from discsum.devices import device_name
from discsum.errors import WeightsError


def from_pretrained(name_or_path: str | Path, *, device: str | torch.device = "cpu") -> Any:
    """Load a converted model from a folder that its `save_pretrained` wrote, or `hf:NAME` from the hub.

    Raises:
        WeightsError: No such model, one that was not converted, or damaged files.
        InputError: An unavailable device.
    """
    name = str(name_or_path)
    config = sparse.read_config(name)
    if config is not None:
        return sparse.load_sparse(name, config, device_name(device))
    if compressed.read_config(name) is None:
        raise WeightsError(
            f"{name}: expected a model saved with sparse cross-attention or a compressed encoder, got a plain model of "
            "transformers; load it with transformers, then sparsify or compress it"
        )
    return compressed.load_model(name, device_name(device))
