"""Datasets in and out."""
