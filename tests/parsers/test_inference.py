"""Parsers inside the training loops of others."""

import pytest
import tiny
import torch

import discsum
from discsum.errors import InputError
from discsum.parsers.parser import Parser


def test_vectors_can_be_trained_on(parser_folder):
    encoded = Parser.from_pretrained(parser_folder).encode([tiny.ARTICLE], keep=["edu", "subwords", "states"])[0]
    for vectors in encoded.vectors.values():
        layer = torch.nn.Linear(vectors.shape[1], 1)
        layer(vectors).sum().backward()
        assert layer.weight.grad.abs().sum() > 0 and not vectors.requires_grad


def test_the_autocast_of_a_training_loop_changes_nothing(parser_folder, summarizer_folders):
    options = {"model": summarizer_folders["edu"], "units": 2}
    plain = discsum.summarize(tiny.ARTICLE, **options), discsum.parse(tiny.ARTICLE, parser=parser_folder)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        cast = discsum.summarize(tiny.ARTICLE, **options), discsum.parse(tiny.ARTICLE, parser=parser_folder)
    assert cast == plain


def test_another_default_dtype_is_refused(parser_folder):
    parser = Parser.from_pretrained(parser_folder)
    torch.set_default_dtype(torch.float64)
    try:
        with pytest.raises(InputError, match=r"default dtype float32, got torch\.float64; call"):
            parser.parse(tiny.ARTICLE)
        with pytest.raises(InputError, match="expected torch's default dtype float32"):
            Parser.from_pretrained(parser_folder)
    finally:
        torch.set_default_dtype(torch.float32)


def test_a_single_name_of_vectors_is_told(parser_folder):
    with pytest.raises(TypeError, match="keep: expected several names, got one str 'edu'"):
        Parser.from_pretrained(parser_folder).encode(["It rained."], keep="edu")
