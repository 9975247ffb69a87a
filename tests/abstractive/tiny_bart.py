"""A BART with random weights, and inputs for it."""

import torch
from transformers import BartConfig, BartForConditionalGeneration

from discsum.abstractive.sentence_layout import SentenceLayout

SIZES = {
    "vocab_size": 60,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": 64,
}
SPECIAL = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2}


def make_bart(**changes):
    """Return a BART with random weights whose cross-attention is far from flat."""
    torch.manual_seed(3)
    config = BartConfig(**{**SIZES, **SPECIAL, "forced_eos_token_id": 2, "init_std": 0.4, "dropout": 0.0, **changes})
    return BartForConditionalGeneration(config).eval()


class Inputs:
    """Two documents, the second of them shorter, with their sentences."""

    owner = torch.tensor([[0] * 5 + [1] * 3 + [2] * 7 + [3] * 1 + [4] * 6, [0] * 4 + [1] * 6 + [2] * 5 + [-1] * 7])

    def __init__(self):
        generator = torch.Generator().manual_seed(5)
        self.mask = (self.owner >= 0).long()
        self.ids = torch.randint(3, 60, self.owner.shape, generator=generator).masked_fill(self.mask == 0, 1)
        self.layout = SentenceLayout.from_owner(self.owner)
        self.decoder = torch.randint(3, 60, (2, 6), generator=generator)
        self.decoder[:, 0] = SPECIAL["decoder_start_token_id"]
        self.forward = {"input_ids": self.ids, "attention_mask": self.mask, "decoder_input_ids": self.decoder}
        self.generate = {"input_ids": self.ids, "attention_mask": self.mask}


def generated(model, inputs, **options):
    """Return the tokens that a model generates, 6 to 9 new ones, with a fixed seed."""
    torch.manual_seed(11)
    found = model.generate(**inputs.generate, max_new_tokens=9, min_new_tokens=6, **options)
    return found.tolist()
