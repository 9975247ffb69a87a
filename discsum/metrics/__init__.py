"""ROUGE with signatures, and the significance of means and differences."""

from typing import TYPE_CHECKING

from discsum.late_imports import on_first_use

if TYPE_CHECKING:
    from discsum.metrics import rouge as rouge
    from discsum.metrics import significance as significance

if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, dict.fromkeys(("rouge", "significance"), __name__))
