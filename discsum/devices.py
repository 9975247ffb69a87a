"""Devices: checks whether they can be used, and copies to and from them."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from discsum.constants import PRECISIONS
from discsum.errors import InputError

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray


def device_name(device: str | torch.device) -> str:
    """Return the name of a device; raise `TypeError` for anything other than a device or a name."""
    if isinstance(device, str):
        return device
    import torch

    if not isinstance(device, torch.device):
        raise TypeError(f"device: expected str or torch.device, got {device!r}")
    return str(device)


def check_device(device: str | torch.device, *, doubles: bool = False) -> str:
    """Check that torch can compute on a device, with `doubles` also in double precision; return its name.

    Raises:
        TypeError: Neither a name nor a device.
        InputError: Not a device of torch, or not available.
    """
    name = device_name(device)
    if name == "cpu":
        # Always available; processes that only distribute work do not import torch.
        return name
    import torch

    try:
        torch.ones(1, device=name, dtype=torch.float64 if doubles else torch.float32).item()
    except (RuntimeError, AssertionError, ImportError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"device (--device): expected a device that torch can use here, such as cpu, got {name!r} ({reason})"
        ) from error
    return name


def check_none_beside(loaded: str, device: str | torch.device, precision: str) -> None:
    """Raise `InputError` for a device or a precision beside a loaded model or parser, which has its own."""
    if (device_name(device), precision) != ("cpu", "fp32"):
        raise InputError(
            f"device, precision: expected neither with the loaded {loaded}, which has its own, got {device} and "
            f"{precision}; set them in from_pretrained"
        )


def check_precision(name: str, device: str) -> None:
    """Check that an encoder can compute in a precision on an available device.

    Raises:
        InputError: No such precision, or one that the device does not support.
    """
    if name not in PRECISIONS:
        raise InputError(f"precision (--precision): expected one of {', '.join(PRECISIONS)}, got {name!r}")
    if name == "fp32":
        return
    import torch

    kind, reason = getattr(torch, PRECISIONS[name]), ""
    if device.startswith("cuda") and kind is torch.bfloat16:
        with torch.cuda.device(device):
            reason = "" if has_fast_bfloat16(torch.device(device)) else "this GPU has no bfloat16"
    if not reason:
        try:
            values = torch.ones(1, 2, 8, 8, device=device, dtype=kind)
            torch.nn.functional.scaled_dot_product_attention(values, values, values @ values).sum().item()
        except (RuntimeError, NotImplementedError, TypeError) as error:
            reason = str(error).splitlines()[0]
    if reason:
        raise InputError(
            f"precision (--precision): expected one that {device} supports, such as fp32, got {name} ({reason})"
        )


def has_fast_bfloat16(device: torch.device) -> bool:
    """Return whether bfloat16 is fast on a device: processors and GPUs that emulate it are slower than in float32."""
    import torch

    if device.type == "cuda":
        return torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)
    if device.type != "cpu":
        return True
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    if platform.machine().lower() in ("x86_64", "amd64"):
        # oneDNN also takes processors with AVX-512 alone, which emulate bfloat16.
        return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def wait_for(device: torch.device) -> None:
    """Wait until a device has finished all its work, so that it can be timed; other GPUs are not waited for."""
    import torch

    if device.type != "cpu":
        torch.accelerator.synchronize(device)


def to_device(array: NDArray[Any], device: torch.device) -> torch.Tensor:
    """Return an array as a tensor on a device; a GPU continues its work during the copy."""
    import torch

    tensor = torch.from_numpy(array)
    if device.type == "cpu":
        return tensor
    # Only copies from pinned memory are asynchronous.
    return (tensor.pin_memory() if device.type == "cuda" else tensor).to(device, non_blocking=True)


def from_device(values: torch.Tensor) -> Callable[[], NDArray[Any]]:
    """Start copying values from a device; return a function that waits for the copy and returns it.

    It does not wait for work that a GPU received after the copy was started.
    """
    import torch

    if values.device.type != "cuda":
        return lambda: values.cpu().numpy()
    copied = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
    copied.copy_(values, non_blocking=True)
    done = torch.cuda.Event()  # type: ignore[no-untyped-call]
    done.record(torch.cuda.current_stream(values.device))

    def wait() -> NDArray[Any]:
        done.synchronize()
        return copied.numpy()

    return wait
