"""Abstractive summarizers: the code that all model families share, and one package per family."""
