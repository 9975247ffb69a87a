"""Training of the segmenter and tree builder."""
