import io
import sys
from dataclasses import dataclass

import pytest
import tiny
import torch
from tokenizers.processors import TemplateProcessing
from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast
from transformers.utils import logging

from discsum.cli import main

# `main` silences transformers by environment variables, which have no effect here: the tests have imported it already.
logging.disable_progress_bar()
logging.set_verbosity_error()


@dataclass(frozen=True)
class Result:
    """Exit code, standard output and standard error of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def discsum(capsysbinary, monkeypatch):
    """Return a function that runs the command line in this process: `discsum("parse", path, stdin=b"...")`."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["discsum", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        captured = capsysbinary.readouterr()
        return Result(code, captured.out.decode(), captured.err.decode())

    return run


@pytest.fixture
def article(tmp_path):
    path = tmp_path / "article.txt"
    path.write_text(tiny.ARTICLE, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def bart_folder(tmp_path_factory):
    """Return the folder of a BART with random weights and a tokenizer."""
    folder = tmp_path_factory.mktemp("models") / "tiny-bart"
    plain = tiny.make_tokenizer()
    begin, end, pad = tiny.special_indices()
    special = [("[CLS]", begin), ("[SEP]", end)]
    plain.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=special)
    names = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]"}
    PreTrainedTokenizerFast(tokenizer_object=plain, **names).save_pretrained(folder)
    torch.manual_seed(1)
    sizes = {name: 2 for name in ("encoder_layers", "decoder_layers", "encoder_attention_heads")}
    config = BartConfig(
        **sizes,
        decoder_attention_heads=2,
        vocab_size=plain.get_vocab_size(),
        d_model=16,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_position_embeddings=600,
        pad_token_id=pad,
        bos_token_id=begin,
        eos_token_id=end,
        decoder_start_token_id=end,
        forced_eos_token_id=end,
        init_std=0.5,
    )
    BartForConditionalGeneration(config).save_pretrained(folder)
    return folder
