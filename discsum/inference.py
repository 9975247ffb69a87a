"""How networks compute outside of training: without gradients, and in the precision that they were loaded with."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

import torch

from discsum.errors import InputError


class OnDevice(Protocol):
    """An object whose methods compute on a device."""

    @property
    def device(self) -> torch.device:
        """The device."""


Self = TypeVar("Self", bound=OnDevice)
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def inference(
    method: Callable[Concatenate[Self, Arguments], Result],
) -> Callable[Concatenate[Self, Arguments], Result]:
    """Let a method compute without gradients, and without the autocast of a caller's training loop.

    Its tensors are ordinary ones, which a caller may train on, unless the caller is in `torch.inference_mode`.
    """

    @wraps(method)
    def alone(self: Self, /, *args: Arguments.args, **options: Arguments.kwargs) -> Result:
        check_default_dtype()
        kind = self.device.type
        casts = torch.is_autocast_enabled(kind)
        with torch.no_grad(), torch.autocast(kind, enabled=False) if casts else nullcontext():
            return method(self, *args, **options)

    return alone


def check_default_dtype() -> None:
    """Raise `InputError` unless torch makes float32 tensors by default, as the networks expect."""
    found = torch.get_default_dtype()
    if found != torch.float32:
        raise InputError(
            f"expected torch's default dtype float32, got {found}; call torch.set_default_dtype(torch.float32) before"
        )
