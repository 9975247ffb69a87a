"""Extractive summarizers that were trained: their model, their folder, and their training."""
