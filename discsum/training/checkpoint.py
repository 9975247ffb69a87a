"""Checkpoints of a training run: safetensors and JSON, whole or absent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from discsum.errors import DiscsumError, InputError, WeightsError
from discsum.files import replacing
from discsum.recipes.fields import differences

LAST = "last.safetensors"


def save_checkpoint(
    folder: Path,
    network: nn.Module,
    average: dict[str, Tensor],
    optimizer: torch.optim.Optimizer,
    state: dict[str, Any],
    task: Mapping[str, Any],
) -> None:
    """Write everything that training goes on from to one file in a run's folder.

    Args:
        folder: The run's.
        network: What is learned.
        average: The running average of its weights.
        optimizer: With its moments.
        state: What JSON can hold.
        task: What the task keeps: tensors, and what JSON can hold.
    """
    tensors = {f"network.{key}": value for key, value in network.state_dict().items()}
    tensors |= {f"average.{key}": value for key, value in average.items()}
    for index, slots in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": torch.as_tensor(value) for name, value in slots.items()}
    tensors |= {f"task.{key}": value for key, value in task.items() if isinstance(value, Tensor)}
    values = {key: value for key, value in task.items() if not isinstance(value, Tensor)}
    whole = {key: value.clone().contiguous() for key, value in tensors.items()}
    try:
        with replacing(folder / LAST) as partial:
            save_file(whole, partial, {"state": json.dumps(state | {"task": values})})
    except SafetensorError as error:
        raise DiscsumError(f"{folder / LAST}: expected to write a checkpoint, got {error}") from error


def earlier_state(folder: Path, recipe: dict[str, Any]) -> dict[str, Any] | None:
    """Return the `state` of the run in the folder, with the task's values as `task`; none where there is no run yet.

    Raises:
        InputError: The folder holds a run of another recipe; the message names the fields that differ.
        WeightsError: A file that is no checkpoint.
    """
    path = folder / LAST
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            state: dict[str, Any] = json.loads(file.metadata()["state"])
            there: dict[str, Any] = state["recipe"]
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise WeightsError(f"{path}: expected a checkpoint, got {error}; delete it to start anew") from error
    if "task" not in state:
        raise WeightsError(f"{path}: expected a checkpoint of this version, got an older one; delete it to start anew")
    changed = differences(there, recipe)
    if changed:
        raise InputError(f"{folder}: expected a run of this recipe, found another's ({changed}); choose another folder")
    return state


def check_data(folder: Path, state: dict[str, Any], data: str) -> None:
    """Check that a run goes on with the data that it began with, told by a digest.

    Raises:
        InputError: With other data.
    """
    if state["data"] != data:
        raise InputError(
            f"{folder}: expected the data that the run began with (documents, their parses, what teachers say), found "
            "other data; choose another folder"
        )


def load_checkpoint(
    folder: Path, network: nn.Module, average: dict[str, Tensor], optimizer: torch.optim.Optimizer
) -> dict[str, Tensor]:
    """Put the values of a run's checkpoint in place; return the task's own tensors.

    Raises:
        WeightsError: A checkpoint of another network.
    """
    path = folder / LAST
    with safe_open(path, framework="pt") as file:
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a mapping)
    parts: dict[str, dict[str, Tensor]] = {"network": {}, "average": {}, "optimizer": {}, "task": {}}
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
    return parts["task"]
