"""From raw text to discourse trees: segmenter, tree builder, their training, and tree formats."""
