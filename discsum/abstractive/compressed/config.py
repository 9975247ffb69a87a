"""Settings of a compressed encoder, as in recipes and `config.json`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from discsum.constants import BORDERS
from discsum.recipes.fields import Checked, Count, about, one_of

# Field of `config.json`.
SETTINGS = "compressed_encoder"
VARIANTS = ("conv", "conv_pool", "strided", "strided_conv")


@dataclass(frozen=True)
class CompressionConfig(Checked):
    """Arguments of `compress`.

    Raises:
        InputError: Settings that are unknown or do not fit together.
    """

    variant: Annotated[
        str,
        one_of(
            VARIANTS,
            "`conv`: keys and values are convolved, with a stride as wide as the kernel; `conv_pool`: with a stride of "
            "1, then max pooling as wide as the kernel; `strided`: overlapping blocks; `strided_conv`: blocks whose "
            "keys and values are convolved.",
        ),
    ]
    blocks: Annotated[Annotated[int, Meta(ge=2)], about("Blocks per document, for the strided variants.")] = 3
    kernel: Annotated[Count, about("Width of the convolution in tokens.")] = 3
    groups: Annotated[Count, about("Groups of channels that are convolved separately.")] = 1
    borders: Annotated[
        str | None,
        one_of(BORDERS, "Units at whose borders blocks begin and end; none to cut anywhere."),
    ] = None

    @property
    def strides(self) -> bool:
        """Whether documents are split into blocks."""
        return self.variant.startswith("strided")

    @property
    def convolves(self) -> bool:
        """Whether keys and values are convolved."""
        return "conv" in self.variant

    def problems(self) -> list[str]:
        """Return a problem for each setting that the variant does not use, unless it has its default."""
        unused = [] if self.strides else [("blocks", "has no blocks"), ("borders", "has no blocks")]
        unused += [] if self.convolves else [("kernel", "convolves nothing"), ("groups", "convolves nothing")]
        return [
            f"{name}: expected none for the variant {self.variant}, which {why}, got {getattr(self, name)!r}"
            for name, why in unused
            if getattr(self, name) != getattr(CompressionConfig, name)
        ]
