"""Checkpoints of a training run: one safetensors file with JSON metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from discsum.errors import InputError, WeightsError
from discsum.files import replacing
from discsum.json_objects import parse_object
from discsum.recipes.fields import differences

LAST = "last.safetensors"
# Fields that change the model card but not the run.
CARD_ONLY = ("license",)


def save_checkpoint(
    folder: Path,
    network: nn.Module,
    average: dict[str, Tensor],
    optimizer: torch.optim.Optimizer,
    state: dict[str, Any],
    task: Mapping[str, Any],
) -> None:
    """Write everything that a run needs to resume to one file in its folder.

    `average` is the running average of the network's weights. `state` and `task` have JSON values; `task` may also have
    tensors.
    """
    tensors = {f"network.{key}": value for key, value in network.state_dict().items()}
    tensors |= {f"average.{key}": value for key, value in average.items()}
    for index, slots in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": torch.as_tensor(value) for name, value in slots.items()}
    tensors |= {f"task.{key}": value for key, value in task.items() if isinstance(value, Tensor)}
    values = {key: value for key, value in task.items() if not isinstance(value, Tensor)}
    whole = {key: value.detach().cpu().clone().contiguous() for key, value in tensors.items()}
    content = json.dumps(state | {"task": values})
    with replacing(folder / LAST) as partial:
        # Not `save_file`, which leaves temporary files behind if it is killed. The state is a single metadata field
        # because safetensors writes several in arbitrary order.
        partial.write_bytes(save(whole, {"state": f"{_digest(whole, content)} {content}"}))


def _digest(tensors: Mapping[str, Tensor], state: str) -> str:
    """Return the SHA-256 of a checkpoint's tensors and state; a file cannot contain its own digest."""
    found = sha256(state.encode())
    for name, value in sorted(tensors.items()):
        found.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        found.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()


def _parts(metadata: Mapping[str, str]) -> tuple[str, str]:
    """Return the digest and the JSON object."""
    digest, _, state = metadata["state"].partition(" ")
    return digest, state


def earlier_state(folder: Path, recipe: dict[str, Any]) -> dict[str, Any] | None:
    """Return the saved `state` of the run in a folder, with the task's values as `task`; None if there is no run yet.

    Raises:
        InputError: The folder has a run of another recipe; the message names the fields that differ.
            Those of `CARD_ONLY` may differ.
        WeightsError: The file is not a checkpoint.
    """
    path = folder / LAST
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            state = parse_object(_parts(file.metadata())[1], "its state", WeightsError)
            there: dict[str, Any] = state["recipe"]
    except (SafetensorError, WeightsError, KeyError, TypeError, ValueError) as error:
        raise WeightsError(f"{path}: expected a checkpoint, got {error}; delete it to start again") from error
    if not state.keys() >= {"data", "log", "task"}:
        raise WeightsError(f"{path}: expected a checkpoint of this version, got an older one; delete it to start again")
    kept, given = ({key: value for key, value in one.items() if key not in CARD_ONLY} for one in (there, recipe))
    changed = differences(kept, given)
    if changed:
        raise InputError(
            f"{folder}: expected a run of this recipe, found one of another recipe ({changed}); choose another folder"
        )
    return state


def load_checkpoint(
    folder: Path, network: nn.Module, average: dict[str, Tensor], optimizer: torch.optim.Optimizer
) -> dict[str, Tensor]:
    """Restore network, average and optimizer from a run's checkpoint; return the task's tensors.

    Raises:
        WeightsError: A checkpoint that is damaged, or of another network.
    """
    path = folder / LAST
    with safe_open(path, framework="pt") as file:
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a mapping)
        expected, state = _parts(file.metadata())
    if expected != _digest(tensors, state):
        raise WeightsError(
            f"{path}: expected the content that was written, sha256 {expected}, got different content; the file "
            "is altered; delete it to start again"
        )
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
