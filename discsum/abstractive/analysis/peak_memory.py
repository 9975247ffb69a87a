"""Peak memory of a computation."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from discsum.memory import trim_heap

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
MEBIBYTE = 2**20


def peak_memory(run: Callable[[], Any], device: torch.device) -> float | None:
    """Return the peak memory of a computation in MiB, beyond what was in use before; None where it is unknown.

    On a GPU it is the memory of tensors. On a CPU it is the memory of this process, which is known on Linux only, with
    an error of some MiB.
    """
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        run()
        return (torch.cuda.max_memory_allocated(device) - before) / MEBIBYTE
    if device.type != "cpu" or not sys.platform.startswith("linux"):
        return None
    gc.collect()
    # If the computation reused freed memory, it would not be counted.
    trim_heap()
    try:
        RESET.write_text("5")
    except OSError:
        # Some kernels and sandboxes have no such file.
        return None
    before = _status("VmRSS")
    run()
    return (_status("VmHWM") - before) / MEBIBYTE


def _status(field: str) -> int:
    """Return a memory figure of this process in bytes."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024
