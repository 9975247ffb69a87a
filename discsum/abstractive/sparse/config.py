"""Settings of a sparse model, as stored in `config.json`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from discsum.recipes.fields import Count

# Field of `config.json`.
SETTINGS = "sparse_attention"


@dataclass(frozen=True)
class SparseConfig:
    """Arguments of `sparsify`.

    Attributes:
        selector: Name of the selector.
        r: Number of sentences selected at each step; None for all.
        beta: Initial weight of the discourse prior in training; None without the prior.
        share_beams: Whether the beams of a document read the same sentences.
        dense_where_faster: Whether steps of a single token read all sentences where that is faster than selecting.
        options: Options specific to this selector.
    """

    selector: str
    r: Count | None = None
    beta: float | None = None
    share_beams: bool = True
    dense_where_faster: bool = True
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def arguments(self) -> dict[str, Any]:
        """The settings and options as keyword arguments of `sparsify`."""
        return self.options | {name: value for name, value in vars(self).items() if name != "options"}

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return asdict(self)
