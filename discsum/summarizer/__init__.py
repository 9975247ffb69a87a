"""Trained extractive summarizers: model, folder and training."""
