"""Training on several processes beside each other, as `accelerate launch` and `torchrun` start them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import torch

from discsum.extras import needs

if TYPE_CHECKING:
    from accelerate import Accelerator


@contextmanager
def local_main_first() -> Iterator[bool]:
    """Run the block in each machine's first process and then in its others; yield whether this is the very first.

    What the first one leaves on the disk, the others find there.

    Raises:
        MissingExtraError: The library accelerate is not installed.
    """
    with needs("accelerate"):
        from accelerate import PartialState
    _import_what_takes_the_group()
    # Parsing a corpus, and validating, take one process hours while the others wait.
    state = PartialState(cpu=_cpu(), timeout=timedelta(days=2))
    with state.local_main_process_first():
        yield state.is_main_process


def accelerator(bf16: bool, *, unused_parameters: bool = False) -> Accelerator:
    """Return what spreads a network over the processes and devices there are.

    Args:
        bf16: Whether to compute in bfloat16 where a GPU can, whatever the launcher says.
        unused_parameters: Whether some parameters get no gradient in some steps.

    Raises:
        MissingExtraError: The library accelerate is not installed.
    """
    with needs("accelerate"):
        from accelerate import Accelerator, DistributedDataParallelKwargs
    _import_what_takes_the_group()
    able = bf16 and torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    # Otherwise as `accelerate launch --mixed_precision` says, which some CPUs profit from too.
    handler = DistributedDataParallelKwargs(find_unused_parameters=unused_parameters)
    return Accelerator(cpu=_cpu(), mixed_precision="bf16" if able else None, kwargs_handlers=[handler])


def leave_group() -> None:
    """End the group of processes, if there is one; nothing in this process can train in it again.

    Left to the interpreter's end, its threads outlive what they stand on, and now and then abort the process. They end
    with the last that holds the group.
    """
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        # Networks spread over the group that are held by circles of references.
        gc.collect()
        torch.distributed.destroy_process_group()


def _import_what_takes_the_group() -> None:
    """Import, while there is no group yet, the module whose functions have the group of then as their default.

    Imported later, as `accelerate` does in time, it would hold the group for good.
    """
    if torch.distributed.is_available():
        from torch.distributed import nn  # noqa: F401


def _cpu() -> bool:
    # Unless told, accelerate takes several processes without a GPU for one each.
    return not torch.accelerator.is_available()
