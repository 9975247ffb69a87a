"""From raw text to discourse trees: segmenter, tree builder and their training."""
