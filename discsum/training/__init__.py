"""The training loop and what every run shares, whatever the task."""
