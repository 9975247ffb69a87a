"""The check of devices."""

from __future__ import annotations

from discsum.errors import InputError


def check_device(name: str) -> None:
    """Check that work can be done on a device.

    Raises:
        TypeError: The name is no string.
        InputError: Not a device of torch, or not available.
    """
    if not isinstance(name, str):
        raise TypeError(f"device: expected str, got {name!r}")
    if name == "cpu":
        # Always available; processes that only hand out work do not import torch.
        return
    import torch

    try:
        torch.ones(1, device=name).item()
    except (RuntimeError, AssertionError, ImportError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"device (--device): expected a device that torch can use here, as cpu or cuda, got {name!r} ({reason})"
        ) from error
