"""The training loop and what every run shares; it knows no task."""
