"""Memory of a computation."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
MEBIBYTE = 2**20


def peak_memory(run: Callable[[], Any], device: torch.device) -> float | None:
    """Return how many MiB a computation took at its most, above what was there; none where that is not known.

    On a GPU it is what tensors took. On a CPU it is what this process took, which Linux alone tells; memory below some
    MiB is then within the error.
    """
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        run()
        return (torch.cuda.max_memory_allocated(device) - before) / MEBIBYTE
    if device.type != "cpu" or not sys.platform.startswith("linux"):
        return None
    gc.collect()
    # Memory that was freed, and kept for later, would not be counted.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    RESET.write_text("5")
    before = _status("VmRSS")
    run()
    return (_status("VmHWM") - before) / MEBIBYTE


def _status(field: str) -> int:
    """Return bytes of this process."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024
