"""Attention heads, which compute the matrix `A` of `A . G(X)`; one file per head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discsum.late_imports import on_first_use
from discsum.registry import Registry

if TYPE_CHECKING:
    from discsum.encoder.heads.base import Head, HeadConfig, Prior, UnitTree


def _wanted(head: Any) -> str:
    from discsum.encoder.heads.base import Head

    return "" if isinstance(head, type) and issubclass(head, Head) else f"a subclass of {Head.__module__}.Head"


HEADS: Registry[type[Head]] = Registry(
    "head", "discsum.encoder.heads", "discsum.heads", option="--head-file", wanted=_wanted
)
register, register_file = HEADS.register, HEADS.register_file


# Listing the heads does not import torch.
if not TYPE_CHECKING:
    __getattr__ = on_first_use(
        __name__, dict.fromkeys(("Head", "HeadConfig", "Prior", "UnitTree"), "discsum.encoder.heads.base")
    )
__all__ = ["HEADS", "Head", "HeadConfig", "Prior", "UnitTree", "register", "register_file"]
