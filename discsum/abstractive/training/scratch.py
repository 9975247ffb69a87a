"""A small BART with random weights and a tokenizer of its own, for when there is no model to begin with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from discsum.errors import InputError

# In the order of BART's own vocabulary.
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
BEGIN, PAD, END = 0, 1, 2


@dataclass(frozen=True)
class Scratch:
    """Sizes of a model that begins with random weights.

    Attributes:
        vocabulary: Tokens, learned from the training texts (byte-level BPE).
        width: Size of a state.
        layers: Of the encoder, and as many of the decoder.
        heads: Of each attention.
        inner: Size of a layer's feed-forward network.
        positions: Tokens that it can read or write, at most.
        dropout: Of the network.
    """

    vocabulary: int = 8000
    width: int = 256
    layers: int = 3
    heads: int = 4
    inner: int = 1024
    positions: int = 1024
    dropout: float = 0.1

    def __post_init__(self) -> None:
        """Check the sizes together."""
        names = ("vocabulary", "width", "layers", "heads", "inner", "positions")
        problems = [f"{name}: expected above 0, got {getattr(self, name)}" for name in names if getattr(self, name) < 1]
        if not problems and self.width % self.heads:
            problems.append(f"width: expected a multiple of {self.heads} heads, got {self.width}")
        if not 0.0 <= self.dropout < 1.0:
            problems.append(f"dropout: expected a number in [0, 1), got {self.dropout}")
        if problems:
            raise InputError("; ".join(f"scratch.{problem}" for problem in problems))


def make_tokenizer(texts: Iterable[str], vocabulary: int) -> Any:
    """Return a fast tokenizer with BART's special tokens, whose other tokens are learned from texts."""
    from tokenizers import Tokenizer
    from tokenizers.decoders import ByteLevel as ByteDecoder
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel
    from tokenizers.processors import TemplateProcessing
    from tokenizers.trainers import BpeTrainer
    from transformers import PreTrainedTokenizerFast

    fast: Any = PreTrainedTokenizerFast
    plain = Tokenizer(BPE())
    plain.pre_tokenizer = ByteLevel(add_prefix_space=False)
    plain.decoder = ByteDecoder()
    trainer = BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(SPECIAL),
        initial_alphabet=ByteLevel.alphabet(),
        show_progress=False,
    )
    plain.train_from_iterator(texts, trainer)
    plain.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", BEGIN), ("</s>", END)])
    names = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    return fast(tokenizer_object=plain, mask_token="<mask>", **names)


def make_model(sizes: Scratch, tokenizer: Any) -> Any:
    """Return a BART of those sizes with random weights."""
    from transformers import BartConfig, BartForConditionalGeneration

    each: dict[str, Any] = {"layers": sizes.layers, "attention_heads": sizes.heads, "ffn_dim": sizes.inner}
    # BART's own .02 is for 1,024 wide states; in narrower ones attention would begin too flat to learn from.
    std = sizes.width**-0.5
    sides: dict[str, Any] = {f"{side}_{name}": each[name] for side in ("encoder", "decoder") for name in each}
    config = BartConfig(
        vocab_size=len(tokenizer),
        d_model=sizes.width,
        **sides,
        max_position_embeddings=sizes.positions,
        dropout=sizes.dropout,
        activation_function="gelu",
        init_std=std,
        bos_token_id=BEGIN,
        pad_token_id=PAD,
        eos_token_id=END,
        decoder_start_token_id=END,
        forced_eos_token_id=END,
    )
    model: Any = BartForConditionalGeneration(config)
    # It writes until it ends or its positions do, and not the 20 tokens of models that say nothing.
    model.generation_config.max_length = sizes.positions
    for side in (model.get_encoder(), model.get_decoder()):
        _begin_positions(side.embed_positions.weight, std)
    return model


def _begin_positions(weight: Tensor, scale: float) -> None:
    """Let the embeddings of positions, which are learned, begin as sinusoids of that standard deviation.

    A step to a neighbour is then the same linear map everywhere, so that attention to neighbours, which copying needs,
    is found at all positions at once (Vaswani et al. 2017, section 3.5).
    """
    positions, width = weight.shape
    rates = 10_000.0 ** (-torch.arange(0, width, 2) / width)
    angles = torch.arange(positions)[:, None] * rates
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :width]
    with torch.no_grad():
        weight.copy_(waves * scale * 2**0.5)
