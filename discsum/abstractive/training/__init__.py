"""Training of sparse decoders."""
