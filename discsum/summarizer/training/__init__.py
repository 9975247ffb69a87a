"""Training of extractive summarizers: recipe, data, task and model card."""
