"""Training of the summarizers."""
