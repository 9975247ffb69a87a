"""Attention modules of the model families of transformers: where they are, the names of their parts, their outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from discsum.errors import InputError

# Called with the result, the attention weights and the arguments of the stock forward pass.
Outputs = Callable[[Tensor, Tensor | None, Mapping[str, Any]], tuple[Any, ...]]


def decoder_cache(given: Mapping[str, Any]) -> Any:
    """Return the decoder's cache from the arguments of a forward pass; transformers 5.24 renamed the argument."""
    return given.get("cache", given.get("past_key_values"))


def _plain(result: Tensor, weights: Tensor | None, given: Mapping[str, Any]) -> tuple[Any, ...]:
    return result, weights


def _with_cache(result: Tensor, weights: Tensor | None, given: Mapping[str, Any]) -> tuple[Any, ...]:
    return result, weights, decoder_cache(given)


def _with_bias(result: Tensor, weights: Tensor | None, given: Mapping[str, Any]) -> tuple[Any, ...]:
    return result, given.get("position_bias"), weights


@dataclass(frozen=True)
class Names:
    """Names in a family's attention: its parts and the arguments of its forward pass.

    Attributes:
        outputs: Builds the return value of the forward pass.
    """

    query: str = "q_proj"
    key: str = "k_proj"
    value: str = "v_proj"
    output: str = "out_proj"
    heads: str = "num_heads"
    head_size: str = "head_dim"
    states: str = "key_value_states"
    mask: str = "attention_mask"
    outputs: Outputs = _plain


BART = Names()
LED = Names(outputs=_with_cache)
T5 = Names("q", "k", "v", "o", "n_heads", "key_value_proj_dim", mask="mask", outputs=_with_bias)
UMT5 = Names("q", "k", "v", "o", "n_heads", "key_value_proj_dim", states="encoder_hidden_states")

# By the class of the attention module.
PROJECTIONS = {
    "BartAttention": BART,
    "BigBirdPegasusDecoderAttention": BART,
    "BlenderbotAttention": BART,
    "BlenderbotSmallAttention": BART,
    "LEDDecoderAttention": LED,
    "LongT5Attention": T5,
    "M2M100Attention": BART,
    "MBartAttention": BART,
    "MT5Attention": T5,
    "MarianAttention": BART,
    "PLBartAttention": BART,
    "PegasusAttention": BART,
    "PegasusXAttention": BART,
    "T5Attention": T5,
    "UMT5Attention": UMT5,
}
LED_GLOBAL = ("query_global", "key_global", "value_global")
EXPECTED = (
    "expected a sequence-to-sequence model of transformers with the cross-attention of BART, mBART, PLBart, PEGASUS, "
    "PEGASUS-X, BigBird-Pegasus, LED, Marian, M2M100, Blenderbot, BlenderbotSmall, T5, mT5, UMT5 or LongT5"
)

EXPECTED_ENCODER = (
    "expected a sequence-to-sequence model of transformers whose encoder has plain attention of all tokens to all, "
    "such as that of BART, mBART, PLBart, PEGASUS, Marian, M2M100, Blenderbot and BlenderbotSmall (T5's has a position "
    "bias; those of LongT5, LED, BigBird-Pegasus and PEGASUS-X are local)"
)


@dataclass(frozen=True, eq=False)
class Projections:
    """Access to the parts of an attention module by the same names for every family."""

    module: Any
    names: Names

    @property
    def query(self) -> Any:
        """Projection from states to queries; in cross-attention, from the decoder's states."""
        return getattr(self.module, self.names.query)

    @property
    def key(self) -> Any:
        """Projection from the encoder's states to keys."""
        return getattr(self.module, self.names.key)

    @property
    def value(self) -> Any:
        """Projection from the encoder's states to values."""
        return getattr(self.module, self.names.value)

    @property
    def output(self) -> Any:
        """Projection from the heads' outputs to states."""
        return getattr(self.module, self.names.output)

    @property
    def heads(self) -> int:
        """Number of heads."""
        return int(getattr(self.module, self.names.heads))

    @property
    def head_size(self) -> int:
        """Width of a head."""
        return int(getattr(self.module, self.names.head_size))

    @property
    def scaling(self) -> float:
        """Factor of the query-key products; 1 for T5, whose weights include it."""
        return float(getattr(self.module, "scaling", 1.0))


def cross_attentions(model: Any) -> list[Projections]:
    """Return the cross-attention of each decoder layer of a model.

    Raises:
        InputError: A model of another family.
    """
    try:
        found = [_of_layer(layer) for layer in decoder_layers(model)]
        return [Projections(module, PROJECTIONS[type(module).__name__]) for module in found]
    except (AttributeError, KeyError, IndexError) as error:
        raise InputError(f"{EXPECTED}, got {type(model).__name__}") from error


def decoder_layers(model: Any) -> list[Any]:
    """Return the layers of a model's decoder."""
    decoder = model.get_decoder()
    return list(decoder.block if hasattr(decoder, "block") else decoder.layers)


def _of_layer(layer: Any) -> Any:
    return layer.encoder_attn if hasattr(layer, "encoder_attn") else layer.layer[1].EncDecAttention


def encoder_attentions(model: Any) -> list[Projections]:
    """Return the self-attention of each encoder layer of a model.

    Raises:
        InputError: A model of another family, or one whose encoder attention is not full attention without position
            bias.
    """
    try:
        found = [layer.self_attn for layer in encoder_layers(model)]
    except (AttributeError, IndexError) as error:
        raise InputError(f"{EXPECTED_ENCODER}, got {type(model).__name__}") from error
    names = [PROJECTIONS.get(type(module).__name__) for module in found]
    if any(one is not BART for one in names):
        raise InputError(f"{EXPECTED_ENCODER}, got {type(model).__name__}")
    return [Projections(module, BART) for module in found]


def encoder_layers(model: Any) -> list[Any]:
    """Return the layers of a model's encoder."""
    return list(model.get_encoder().layers)


def fixed_parameters(model: Any) -> set[int]:
    """Return the ids of parameters that are never trained.

    These are sinusoidal positions, which a saved Marian does not have, and LED's projections for global attention,
    which get no gradient without global tokens.
    """
    found: set[int] = set()
    for module in model.modules():
        parts = [module] if "Sinusoidal" in type(module).__name__ else []
        parts += [part for name in LED_GLOBAL if (part := getattr(module, name, None)) is not None]
        found.update(id(parameter) for part in parts for parameter in part.parameters())
    return found
