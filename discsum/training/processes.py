"""Training in several processes, started by `accelerate launch` or `torchrun`."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import torch

from discsum.devices import has_fast_bfloat16
from discsum.errors import InputError
from discsum.extras import needs

if TYPE_CHECKING:
    from accelerate import Accelerator, PartialState


def is_main_process() -> bool:
    """Return whether this is the first process of the run.

    Raises:
        MissingExtraError: The library accelerate is not installed.
    """
    main: bool = _state().is_main_process
    return main


@contextmanager
def local_main_first() -> Iterator[None]:
    """Run the block in each machine's first process before the others, so that they find the files that it writes.

    Raises:
        MissingExtraError: The library accelerate is not installed.
    """
    with _state().local_main_process_first():
        yield


def accelerator(bf16: bool, *, unused_parameters: bool = False) -> Accelerator:
    """Return the accelerator that distributes a network over processes and devices.

    With `bf16`, training is in bfloat16 on a GPU that has it, and elsewhere as the launcher says. Without, it is in
    float32. Set `unused_parameters` if some parameters have no gradient in some steps.

    Raises:
        InputError: This process has trained in another precision before.
        MissingExtraError: The library accelerate is not installed.
    """
    with needs("accelerate"):
        from accelerate import Accelerator, DistributedDataParallelKwargs
    # Not of any GPU there is: the launcher may have chosen the CPU.
    device = _state().device
    able = bf16 and device.type == "cuda" and has_fast_bfloat16(device)
    # None leaves the choice to `accelerate launch --mixed_precision`, which also helps on some CPUs.
    precision = "bf16" if able else None if bf16 else "no"
    handler = DistributedDataParallelKwargs(find_unused_parameters=unused_parameters)
    try:
        return Accelerator(cpu=_cpu(), mixed_precision=precision, kwargs_handlers=[handler])
    except ValueError as error:
        raise InputError(
            f"bf16: expected the precision of this process's earlier training, got {bf16}: {error}"
        ) from error


def leave_group() -> None:
    """Destroy the process group, if there is one; this process cannot train in it again.

    The group's threads might otherwise outlive the interpreter and abort the process. They end with the last reference
    to the group.
    """
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        # Frees distributed networks in reference cycles, which still refer to the group.
        gc.collect()
        torch.distributed.destroy_process_group()


def _state() -> PartialState:
    """Return the state of this process in the group, which the first call joins."""
    with needs("accelerate"):
        from accelerate import PartialState
    _import_before_group()
    # A long timeout: one process may parse a corpus or validate for hours while the others wait.
    return PartialState(cpu=_cpu(), timeout=timedelta(days=2))


def _import_before_group() -> None:
    """Import `torch.distributed.nn` before there is a process group.

    Its functions take the current group as the default of an argument. If it were imported later, as `accelerate` does,
    it would refer to the group forever.
    """
    if torch.distributed.is_available():
        from torch.distributed import nn  # noqa: F401


def _cpu() -> bool:
    # Without `cpu=True`, accelerate treats several processes without a GPU as separate runs. GPUs of Apple cannot
    # compute in double precision.
    return not torch.accelerator.is_available() or str(torch.accelerator.current_accelerator()).startswith("mps")
