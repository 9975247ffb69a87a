"""Checkpoints of a training run: safetensors and JSON, whole or absent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from discsum.errors import WeightsError
from discsum.files import replacing


def save_checkpoint(
    path: Path,
    network: nn.Module,
    average: dict[str, Tensor],
    optimizer: torch.optim.Optimizer,
    state: dict[str, Any],
) -> None:
    """Write everything that training goes on from to one file; `state` is what JSON can hold."""
    tensors = {f"network.{key}": value for key, value in network.state_dict().items()}
    tensors |= {f"average.{key}": value for key, value in average.items()}
    for index, slots in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": torch.as_tensor(value) for name, value in slots.items()}
    with replacing(path) as partial:
        save_file(
            {key: value.clone().contiguous() for key, value in tensors.items()}, partial, {"state": json.dumps(state)}
        )


def read_state(path: Path) -> dict[str, Any]:
    """Return the `state` that a checkpoint was saved with.

    Raises:
        WeightsError: A file that is no checkpoint.
    """
    try:
        with safe_open(path, framework="pt") as file:
            state: dict[str, Any] = json.loads(file.metadata()["state"])
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise WeightsError(f"{path}: expected a checkpoint, got {error}; delete it to start anew") from error
    return state


def load_checkpoint(
    path: Path, network: nn.Module, average: dict[str, Tensor], optimizer: torch.optim.Optimizer
) -> None:
    """Put a checkpoint's values in place.

    Raises:
        WeightsError: A checkpoint of another network.
    """
    with safe_open(path, framework="pt") as file:
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a mapping)
    parts: dict[str, dict[str, Tensor]] = {"network": {}, "average": {}, "optimizer": {}}
    for key, value in tensors.items():
        part, name = key.split(".", 1)
        parts[part][name] = value
    try:
        network.load_state_dict(parts["network"])
    except RuntimeError as error:
        raise WeightsError(f"{path}: expected a checkpoint of this recipe's network: {error}") from error
    for key, value in parts["average"].items():
        average[key].copy_(value)
    slots: dict[int, dict[str, Tensor]] = {}
    for key, value in parts["optimizer"].items():
        index, name = key.split(".", 1)
        slots.setdefault(int(index), {})[name] = value
    optimizer.load_state_dict({"state": slots, "param_groups": optimizer.state_dict()["param_groups"]})
