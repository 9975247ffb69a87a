"""Parsers inside the training loops of others."""

import os
import subprocess
import sys

import pytest
import tiny
import torch

import discsum
from discsum.document import Span
from discsum.errors import InputError
from discsum.parsers.parser import Parser
from discsum.scoring import ParsedDocument


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


def test_another_default_device_changes_nothing(parser_folder, summarizer_folders):
    options = {"model": summarizer_folders["edu"], "units": 2, "query": "the mill"}
    plain = discsum.summarize(tiny.ARTICLE, **options), Parser.from_pretrained(parser_folder).parse(tiny.ARTICLE)
    torch.set_default_device("meta")
    try:
        model = discsum.ExtractiveSummarizer.from_pretrained(summarizer_folders["edu"])
        found = discsum.summarize(tiny.ARTICLE, **(options | {"model": model}))
        assert (found, Parser.from_pretrained(parser_folder).parse(tiny.ARTICLE)) == plain
    finally:
        torch.set_default_device(None)


def test_arguments_may_be_generators(parser_folder, summarizer_folders):
    parser = Parser.from_pretrained(parser_folder)
    document = parser.parse(tiny.ARTICLE)
    assert "edu" in parser.vectors((one for one in [document]), (name for name in ["edu"]))[0].vectors
    edus = ([Span(edu.start, edu.end) for edu in one.edus] for one in [document])
    (found,) = parser.encode([tiny.ARTICLE], edus=edus, keep=(name for name in ["edu"]))
    assert (found.document.edus, "edu" in found.vectors) == (document.edus, True)
    model = discsum.ExtractiveSummarizer.from_pretrained(summarizer_folders["edu"])
    assert len(model.scores((ParsedDocument(one) for one in [document]), "edu")) == 1


def test_options_are_checked_before_a_text_is_read(parser_folder):
    texts = iter(["It rained."])
    parser = Parser.from_pretrained(parser_folder)
    for wrong, told in (({"batch_size": 0}, "batch_size: expected"), ({"sentences": "foo"}, "one of model, nltk")):
        for function in (discsum.parse_many, discsum.summarize_many):
            given = {"parser": parser_folder, **({} if function is discsum.parse_many else {"model": "lead"})}
            with pytest.raises(InputError, match=told):
                function(texts, **given, **wrong)
        with pytest.raises(InputError, match=told):
            parser.parse_many(texts, **wrong)
    assert [document.text for document in parser.parse_many(texts)] == ["It rained."]


LOADING = """
import os, sys, threading
from discsum.parsers.loading import load_parser, loading_lock

holds, parser = threading.Event(), sys.argv[1]
def hold():
    with loading_lock():
        holds.set()
        threading.Event().wait()
threading.Thread(target=hold, daemon=True).start()
holds.wait()
child = os.fork()
if child == 0:
    load_parser(parser)
    os._exit(7)
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX")
def test_a_child_forked_while_another_thread_loads(parser_folder):
    command = [sys.executable, "-W", "ignore", "-c", LOADING, str(parser_folder)]
    assert subprocess.run(command, timeout=120, check=False).returncode == 7


def test_a_single_name_of_vectors_is_told(parser_folder):
    with pytest.raises(TypeError, match="keep: expected several names, got one str 'edu'"):
        Parser.from_pretrained(parser_folder).encode(["It rained."], keep="edu")
