"""Abstractive summarizers: what every family shares, and a package for each family."""
