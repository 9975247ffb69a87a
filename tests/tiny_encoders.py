"""Tiny encoders of other kinds, with tokenizers like those of BERT, XLM-R and RoBERTa, trained on a few texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    AutoModel,
    DistilBertConfig,
    PreTrainedTokenizerFast,
    RobertaConfig,
    XLMRobertaConfig,
)
from transformers import BertConfig as HFBertConfig

_SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
_ANGLED = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>"}
_ANGLED |= {"unk_token": "<unk>", "pad_token": "<pad>"}
_SQUARE = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]"}


def _word_piece(texts: Sequence[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=400, special_tokens=special))
    return tokenizer


def _unigram(texts: Sequence[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="<unk>")
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def _byte_level(texts: Sequence[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


KINDS = {
    "bert": (_word_piece, _SQUARE, HFBertConfig, _SIZES),
    "distilbert": (
        _word_piece,
        _SQUARE,
        DistilBertConfig,
        {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 64},
    ),
    "xlm-roberta": (_unigram, _ANGLED, XLMRobertaConfig, _SIZES | {"pad_token_id": 1}),
    "roberta": (_byte_level, _ANGLED, RobertaConfig, _SIZES | {"pad_token_id": 1}),
}


def save(folder: Path, kind: str, texts: Sequence[str], positions: int = 66) -> Path:
    """Write an encoder with random weights that reads at most `positions` tokens, two fewer for RoBERTa and XLM-R."""
    train, names, config, sizes = KINDS[kind]
    tokenizer = train(texts)
    torch.manual_seed(3)
    size = tokenizer.get_vocab_size()
    made = AutoModel.from_config(
        config(vocab_size=size, max_position_embeddings=positions, initializer_range=0.3, **sizes)
    )
    made.save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    return folder
