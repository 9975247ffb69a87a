"""ROUGE with signatures, and how sure a mean or a difference is."""
