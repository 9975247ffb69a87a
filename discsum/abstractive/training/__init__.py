"""Training of abstractive summarizers of every family."""
