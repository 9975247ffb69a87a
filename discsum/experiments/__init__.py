"""Training runs, comparisons of models, and the papers' tables."""
