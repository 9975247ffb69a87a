"""A PEGASUS with copy attention and random weights, and a tokenizer for it."""

import torch
from tiny_bart import SIZES, SPECIAL

from discsum.abstractive.compressed.model import CopyPegasusConfig, CopyPegasusForConditionalGeneration
from discsum.abstractive.vocabulary import make_word_tokenizer


def make_copying(**changes):
    torch.manual_seed(3)
    settings = {**SIZES, **SPECIAL, "forced_eos_token_id": None, "init_std": 0.4, "dropout": 0.0, **changes}
    return CopyPegasusForConditionalGeneration(CopyPegasusConfig(**settings)).eval()


def make_words():
    """Return a tokenizer with a vocabulary of few words."""
    return make_word_tokenizer(["the cat sat on the mat ."] * 2, 12, lowercase=True, merge_numbers=False)
