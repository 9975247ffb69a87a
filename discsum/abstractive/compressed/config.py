"""Settings that compress an encoder, as `config.json` keeps them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from discsum.errors import InputError

# Field of `config.json`.
SETTINGS = "compressed_encoder"
VARIANTS = ("conv", "conv_pool", "strided", "strided_conv")
BORDERS = ("sentences", "edus")


@dataclass(frozen=True)
class CompressionConfig:
    """Arguments of `compress`.

    Attributes:
        variant: One of `VARIANTS`. `conv`: keys and values are convolved, with a stride as wide as the kernel.
            `conv_pool`: with a stride of 1, then max pooling as wide as the kernel. `strided`: overlapping blocks.
            `strided_conv`: blocks whose keys and values are convolved.
        blocks: Blocks of a document, of the strided variants.
        kernel: Width of the convolution in tokens, of the others.
        groups: Groups of channels that are convolved separately.
        borders: Units, one of `BORDERS`, at whose borders blocks begin and end; none to cut anywhere.
    """

    variant: str
    blocks: int = 3
    kernel: int = 3
    groups: int = 1
    borders: str | None = None

    @property
    def strides(self) -> bool:
        """Whether there are blocks."""
        return self.variant.startswith("strided")

    @property
    def convolves(self) -> bool:
        """Whether keys and values are convolved."""
        return "conv" in self.variant

    def check(self) -> None:
        """Check the settings, all of them at once.

        Raises:
            InputError: Settings that are unknown or do not fit together.
        """
        problems = []
        if self.variant not in VARIANTS:
            problems.append(f"variant: expected one of {', '.join(VARIANTS)}, got {self.variant!r}")
        if self.blocks < 2:
            problems.append(f"blocks: expected at least 2, got {self.blocks}")
        if self.kernel < 1:
            problems.append(f"kernel: expected at least 1 token, got {self.kernel}")
        if self.groups < 1:
            problems.append(f"groups: expected at least 1, got {self.groups}")
        if self.borders is not None and self.borders not in BORDERS:
            problems.append(f"borders: expected one of {', '.join(BORDERS)}, or none, got {self.borders!r}")
        elif self.borders is not None and not self.strides:
            problems.append(f"borders: expected none for the variant {self.variant}, which has no blocks")
        if problems:
            raise InputError("; ".join(problems))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return asdict(self)
