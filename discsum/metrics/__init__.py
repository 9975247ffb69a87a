"""ROUGE with signatures, and the significance of means and differences."""

from discsum.late_imports import on_first_use

__getattr__ = on_first_use(__name__, dict.fromkeys(("rouge", "significance"), __name__))
