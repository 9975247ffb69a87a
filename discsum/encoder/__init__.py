"""The document encoder: unit vectors, attention heads, the Synthesizer."""
