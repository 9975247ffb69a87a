"""What trains, measures and prints: runs, comparisons of models, and the papers' tables."""
