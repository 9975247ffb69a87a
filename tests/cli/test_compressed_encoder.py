"""Models with a compressed encoder on the command line."""

import json
import shutil

import pytest
from small_news import write_table
from transformers import AutoModelForSeq2SeqLM, BartForConditionalGeneration

from discsum.abstractive.compressed import compress
from discsum.abstractive.sparse import sparsify


@pytest.fixture(scope="module")
def compressed_folder(bart_folder, tmp_path_factory):
    """Return a folder of the tiny BART whose encoder is compressed, with blocks at EDU borders."""
    folder = tmp_path_factory.mktemp("models") / "compressed"
    shutil.copytree(bart_folder, folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(bart_folder)
    compress(model, "strided", blocks=4, borders="edus").save_pretrained(folder)
    return folder


def test_it_writes_summaries_and_may_select_sentences(discsum, compressed_folder, parser_folder, article):
    def written(model, *options):
        lengths = ("--min-tokens", 5, "--max-tokens", 12, "--json")
        result = discsum("abstract", article, "--model", model, "--parser", parser_folder, *lengths, *options)
        assert result.code == 0, result.err
        return json.loads(result.out)

    assert written(compressed_folder)["summary"]
    assert written(compressed_folder, "--selector", "mean_key", "--r", 2)["r"] == 2


def test_its_time_beside_its_own_attention(discsum, compressed_folder, bart_folder, tmp_path):
    time = ("analyze", "time", "--mode", "encoder", "--repeats", 1, "-o", tmp_path)
    lengths = ("--input-tokens", 40, "--input-tokens", 20)
    result = discsum(*time, "--model", compressed_folder, *lengths)
    assert result.code == 0, result.err
    data = json.loads((tmp_path / "encoder-time.json").read_text())
    assert [one["tokens"] for one in data["samples"]] == [20, 40]
    assert (tmp_path / "encoder-time.png").is_file()
    result = discsum(*time, "--model", bart_folder, *lengths)
    assert result.code == 1
    assert "--mode encoder: expected a model with a compressed encoder" in result.err
    result = discsum(*time, "--model", compressed_folder, "--input-tokens", 10_000)
    assert (result.code, "--input-tokens: expected at most" in result.err) == (2, True)


@pytest.mark.parametrize("option", [("--selector", "mean_key"), ("--r", 2), ("--output-tokens", 5)])
def test_options_of_decoding_with_an_encoder(discsum, option, compressed_folder, tmp_path):
    result = discsum("analyze", "time", "--model", compressed_folder, "--mode", "encoder", *option, "-o", tmp_path)
    assert (result.code, f"{option[0]} cannot be used with --mode encoder" in result.err) == (2, True)
    assert not list(tmp_path.iterdir())


def test_penalties(discsum, bart_folder, parser_folder, article):
    given = ("abstract", article, "--model", bart_folder, "--parser", parser_folder, "--max-tokens", 12)
    assert discsum(*given, "--length-penalty", 0.9, "--block-trigrams").code == 0
    result = discsum(*given, "--length-penalty", 0.9, "--beams", 1)
    assert result.code == 2
    assert "expected a search with at least 2 beams" in result.err
    result = discsum(*given, "--coverage-penalty", 5)
    assert "expected a model with copy attention" in result.err
    for wrong in (-1, "1e6", "inf", "nan"):
        result = discsum(*given, "--length-penalty", wrong)
        assert (result.code, "Traceback" in result.err) == (2, False)


def test_its_table(discsum, compressed_folder, bart_folder, parser_folder, tmp_path):
    table = write_table(tmp_path / "news.jsonl", 0, 2)
    given = ("--table", "faster-encoders", "--parser", parser_folder, "--max-tokens", 6, "--format", "json")
    result = discsum("evaluate", bart_folder, compressed_folder, table, *given)
    assert result.code == 0, result.err
    stock, compressed = json.loads(result.out)["models"]
    assert stock["perplexity"] != compressed["perplexity"]
    assert list(compressed["rouge"]["rouge1"]) == ["r", "p", "f"]
    assert "|beams:4|max-tokens:6|truncate:yes|selector:all|parser:" in json.loads(result.out)["signature"]
    assert "|selector:all|encoder:strided|blocks:4|borders:edus|parser:" in compressed["signature"]
    blocked = discsum("evaluate", bart_folder, table, *given, "--block-trigrams", "--length-penalty", 0.9)
    assert "|length-penalty:0.9|block-trigrams:yes|" in json.loads(blocked.out)["signature"]
    assert discsum("evaluate", table, *given).code == 2
    # Its layout is used for scores first, and then for a training step.
    learned = tmp_path / "gru"
    shutil.copytree(bart_folder, learned)
    sparsify(BartForConditionalGeneration.from_pretrained(bart_folder), selector="gru", r=2).save_pretrained(learned)
    result = discsum("evaluate", learned, table, *given)
    assert result.code == 0, result.err
