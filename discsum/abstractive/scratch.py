"""A small BART with random weights, and a tokenizer trained for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from torch import Tensor

from discsum.abstractive.vocabulary import BEGIN, END, PAD, UNKNOWN
from discsum.encoder.synthesizer import sinusoids
from discsum.recipes.fields import Checked, Count, Dropout, about

MASK = "<mask>"
# In the order of BART's own vocabulary.
SPECIAL = (BEGIN, PAD, END, UNKNOWN, MASK)
# Fields of a model's configuration by field of a recipe; encoder and decoder have the same sizes.
CONFIG_FIELDS = {
    "width": "d_model",
    "layers": "encoder_layers",
    "heads": "encoder_attention_heads",
    "inner": "encoder_ffn_dim",
    "positions": "max_position_embeddings",
    "dropout": "dropout",
}


@dataclass(frozen=True)
class Scratch(Checked):
    """Sizes of a model with random weights."""

    vocabulary: Annotated[Count, about("Size of the byte-level BPE learned from the training texts.")] = 8000
    width: Annotated[Count, about("Size of a hidden state.")] = 256
    layers: Annotated[Count, about("Number of layers in the encoder, and in the decoder.")] = 3
    heads: Annotated[Count, about("Number of attention heads.")] = 4
    inner: Annotated[Count, about("Size of the feed-forward layers.")] = 1024
    positions: Annotated[Count, about("Maximum number of input tokens, and of output tokens.")] = 1024
    dropout: Annotated[Dropout, about("Dropout of the network.")] = 0.1

    def problems(self) -> list[str]:
        """Return a problem for a width that is not a multiple of the number of heads."""
        if self.heads < 1 or self.width % self.heads == 0:
            return []
        return [f"width: expected a multiple of {self.heads} heads, got {self.width}"]


def make_tokenizer(texts: Iterable[str], vocabulary: int) -> Any:
    """Return a fast tokenizer with BART's special tokens, trained on texts."""
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
        vocab_size=vocabulary, special_tokens=list(SPECIAL), initial_alphabet=ByteLevel.alphabet(), show_progress=False
    )
    plain.train_from_iterator(texts, trainer)
    ends = [(token, SPECIAL.index(token)) for token in (BEGIN, END)]
    plain.post_processor = TemplateProcessing(single=f"{BEGIN} $A {END}", special_tokens=ends)
    names = {"bos_token": BEGIN, "pad_token": PAD, "eos_token": END, "unk_token": UNKNOWN, "mask_token": MASK}
    return fast(tokenizer_object=plain, **names)


def make_model(sizes: Scratch, tokenizer: Any) -> Any:
    """Return a BART of these sizes with random weights."""
    from transformers import BartConfig, BartForConditionalGeneration

    end = SPECIAL.index(END)
    config: Any = BartConfig(
        vocab_size=len(tokenizer),
        **sized(sizes),
        activation_function="gelu",
        bos_token_id=SPECIAL.index(BEGIN),
        pad_token_id=SPECIAL.index(PAD),
        eos_token_id=end,
        decoder_start_token_id=end,
        forced_eos_token_id=end,
    )
    model: Any = BartForConditionalGeneration(config)
    # Instead of the default of 20 tokens.
    model.generation_config.max_length = sizes.positions
    for side in (model.get_encoder(), model.get_decoder()):
        _initialise_positions(side.embed_positions.weight, config.init_std)
    return model


def sized(sizes: Any) -> dict[str, Any]:
    """Return the fields of a BART's configuration for sizes with the fields of `CONFIG_FIELDS`."""
    each = {"layers": sizes.layers, "attention_heads": sizes.heads, "ffn_dim": sizes.inner}
    sides = {f"{side}_{name}": each[name] for side in ("encoder", "decoder") for name in each}
    shared = {"d_model": sizes.width, "max_position_embeddings": sizes.positions, "dropout": sizes.dropout}
    # BART's 0.02 suits a width of 1,024. At smaller widths it would make initial attention too flat to learn from.
    return {**sides, **shared, "init_std": sizes.width**-0.5}


def _initialise_positions(weight: Tensor, scale: float) -> None:
    """Initialise learned position embeddings with sinusoids of standard deviation `scale`.

    The offset to a neighbour is then the same linear map everywhere, so attention to neighbours, which copying needs,
    is learned for all positions together (Vaswani et al. 2017, section 3.5).
    """
    positions, width = weight.shape
    with torch.no_grad():
        weight.copy_(sinusoids(0, positions, width, weight.device) * scale * 2**0.5)
