"""How networks compute outside of training: without gradients, and in the precision that they were loaded with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
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

    Its tensors are ordinary ones, which a caller may train on, unless the caller is in `torch.inference_mode`. The
    errors of `own_defaults` are raised.
    """

    @wraps(method)
    def alone(self: Self, /, *args: Arguments.args, **options: Arguments.kwargs) -> Result:
        kind = self.device.type
        casts = torch.is_autocast_enabled(kind)
        with own_defaults(), torch.no_grad(), torch.autocast(kind, enabled=False) if casts else nullcontext():
            return method(self, *args, **options)

    return alone


@contextmanager
def own_defaults() -> Iterator[None]:
    """Let torch make tensors on the CPU by default inside the block, whatever device the caller has set.

    Raises:
        InputError: Torch does not make float32 tensors by default, as the networks expect. All threads share this
            setting.
    """
    found = torch.get_default_dtype()
    if found != torch.float32:
        raise InputError(
            f"expected torch's default dtype float32, got {found}; call torch.set_default_dtype(torch.float32) before, "
            "and wait for threads that load models of transformers, which change it meanwhile"
        )
    with nullcontext() if torch.get_default_device().type == "cpu" else torch.device("cpu"):
        yield
