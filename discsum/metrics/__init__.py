"""ROUGE with signatures, and the significance of means and differences."""
