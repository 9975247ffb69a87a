"""The training loop and everything else that all tasks share."""
