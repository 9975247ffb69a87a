"""Attention heads, which compute the matrix `A` of `A . G(X)`; one file per head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    """Import the base classes on first use, so that listing the heads does not import torch."""
    if name not in ("Head", "HeadConfig", "Prior", "UnitTree"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from discsum.encoder.heads import base

    return getattr(base, name)


__all__ = ["HEADS", "Head", "HeadConfig", "Prior", "UnitTree", "register", "register_file"]
