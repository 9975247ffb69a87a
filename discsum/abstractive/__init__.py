"""Abstractive summarizers: the code that all model families share, and one package per family."""

from discsum.late_imports import on_first_use

__getattr__ = on_first_use(__name__, {"summarizer": __name__})
