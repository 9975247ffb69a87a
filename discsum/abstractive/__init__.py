"""Abstractive summarizers: the code that all model families share, and one package per family."""

from typing import TYPE_CHECKING

from discsum.late_imports import on_first_use

if TYPE_CHECKING:
    from discsum.abstractive import summarizer as summarizer

if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, {"summarizer": __name__})
