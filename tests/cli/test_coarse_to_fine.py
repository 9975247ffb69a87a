"""Coarse-to-fine models on the command line: abstract, evaluate, analyze, train --fields."""

import json

import pytest
import tiny
import torch
from small_news import pairs, write_table

from discsum.abstractive.coarse_to_fine import CoarseToFineConfig, CoarseToFineForConditionalGeneration
from discsum.abstractive.coarse_to_fine.family import CoarseToFineFamily
from discsum.abstractive.vocabulary import make_word_tokenizer

SIZES = {"embedding_size": 8, "hidden_size": 12, "filters": 8, "filter_width": 3, "init_range": 1.0}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return folders of models with random weights by variant, all with the same tokenizer."""
    tokenizer = make_word_tokenizer([tiny.ARTICLE, *(pair.text for pair in pairs(0, 8))], 200, lowercase=True)
    made = {}
    for variant in ("standard", "hier", "c2f"):
        torch.manual_seed(5)
        special = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
        config = CoarseToFineConfig(variant=variant, chunks="6x20", vocab_size=len(tokenizer), **special, **SIZES)
        made[variant] = tmp_path_factory.mktemp("models") / variant
        model = CoarseToFineForConditionalGeneration(config)
        CoarseToFineFamily(model, tokenizer, variant).save(made[variant])
    return made


@pytest.fixture
def table(tmp_path):
    path = write_table(tmp_path / "news.jsonl", 0, 4)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row["summary"] += "\nThe old bridge."
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_text_to_its_summary(discsum, folders, parser_folder, article):
    options = ("--parser", parser_folder, "--max-tokens", 8, "--truncate", "--json")
    result = discsum("abstract", article, "--model", folders["c2f"], *options)
    assert (result.code, result.err) == (0, "")
    data = json.loads(result.out)
    assert list(data) == ["id", "summary", "model", "variant", "chunks", "encoded", "tokens", "truncated"]
    assert 1 <= data["encoded"] <= data["chunks"] == -(-data["tokens"] // 20)
    soft = json.loads(discsum("abstract", article, "--model", folders["c2f"], *options, "--option", "variant=hier").out)
    assert (soft["variant"], soft["encoded"]) == ("hier", soft["chunks"])


@pytest.mark.parametrize("family", ["coarse_to_fine", "sparse"])
def test_a_text_without_words_has_an_empty_summary(
    discsum, family, folders, bart_folder, parser_folder, article, tmp_path
):
    model = folders["c2f"] if family == "coarse_to_fine" else bart_folder
    empty = tmp_path / "empty.txt"
    empty.write_text(" \n")
    options = (
        "--model",
        model,
        "--parser",
        parser_folder,
        "--min-tokens",
        5,
        "--max-tokens",
        8,
        "--truncate",
        "--json",
    )
    result = discsum("abstract", empty, article, *options)
    first, second = map(json.loads, result.out.splitlines())
    assert (result.code, first["summary"], first["tokens"], bool(second["summary"])) == (0, "", 0, True)
    assert "empty: expected some text, got none; its result is empty" in result.err
    result = discsum("analyze", "attention", empty, "--model", model, "--parser", parser_folder, "-o", tmp_path)
    assert (result.code, "Traceback" in result.err) == (1, False)


def test_what_it_cannot_do(discsum, folders, parser_folder, article, tmp_path):
    def err(*arguments):
        result = discsum("abstract", *arguments, "--model", folders["c2f"], "--parser", parser_folder)
        assert result.code in (1, 3)
        return result.err

    assert "expected only variant and samples, the options of a coarse-to-fine model, got selector" in err(
        article, "--selector", "mean_key"
    )
    text = tmp_path / "long.txt"
    text.write_text("The mill broke. " * 60)
    assert "long: expected at most 120 tokens" in err(text)


def test_the_table(discsum, folders, parser_folder, table, tmp_path):
    models = ("lead", *folders.values())
    command = ("evaluate", *models, table, "--table", "coarse-to-fine", "--parser", parser_folder, "--max-tokens", 6)
    result = discsum(*command, "--format", "json", "-o", tmp_path / "written.jsonl")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    written = list(map(json.loads, (tmp_path / "written.jsonl").read_text().splitlines()))
    assert [one["model"] for one in written] == [str(model) for model in models for _ in range(4)]
    assert list(written[0]) == ["id", "model", "rouge1", "rouge2", "rougeLsum", "summary"]
    lead, standard, hier, c2f = found["models"]
    assert (found["data"], found["documents"]) == (str(table), 4) and "|reference:highlight" in found["signature"]
    assert (lead["perplexity"], lead["entropy"], lead["encoded"]) == (None, None, None)
    for row in (standard, hier, c2f):
        assert row["perplexity"] > 1 and 0 <= row["entropy"] <= 1.80
        assert row["encoded"] <= row["chunks"]
    assert standard["encoded"] == hier["encoded"] == hier["chunks"]
    shown = discsum(*command).out.splitlines()
    columns = ["model", "PPL", "R-1", "R-2", "R-Lsum", "entropy", "padding", "encoded", "chunks", "words"]
    assert shown[1].split() == columns
    assert [line.split()[:3] for line in shown[8:11]] == [[str(model), "minus", "lead"] for model in models[1:]]
    assert shown[11:13] == ["", "intervals and p-values are too small: a bootstrap needs 20 documents or more, got 4"]
    signatures = [line.split("|") for line in shown[14:]]
    assert [line[0] for line in signatures] == [
        f"signature of {model}: metrics:rouge1+rouge2+rougeLsum" for model in models
    ]
    for variant, line in zip(folders, signatures[1:], strict=True):
        assert {f"variant:{variant}", "chunks:6x20", "max-tokens:6"} <= set(line)


def test_tables_that_are_none(discsum, folders, table, bart_folder, parser_folder):
    result = discsum("evaluate", table, "--table", "coarse-to-fine")
    assert (result.code, "expected models before DATA" in " ".join(result.err.split())) == (2, True)
    result = discsum("evaluate", "lead", table, "--table", "coarse-to-fine", "--setting", "default")
    assert (result.code, "--setting cannot be used with --table coarse-to-fine" in result.err) == (2, True)
    result = discsum("evaluate", table, "--table", "4")
    assert result.code == 2
    result = discsum("evaluate", bart_folder, table, "--table", "coarse-to-fine", "--parser", parser_folder)
    assert (result.code, "expected a coarse-to-fine model, got one of the family sparse" in result.err) == (1, True)


def test_the_usual_comparison_takes_them_too(discsum, folders, parser_folder, table):
    command = ("evaluate", folders["c2f"], table, "--parser", parser_folder, "--max-tokens", 6, "--format", "json")
    result = discsum(*command)
    assert result.code == 0, result.err
    assert "|variant:c2f|chunks:6x20" in json.loads(result.out)["signature"]


@pytest.mark.parametrize("variant", ["standard", "c2f"])
def test_heat_maps_of_chunks(discsum, folders, parser_folder, article, tmp_path, variant):
    pytest.importorskip("matplotlib")
    command = ("analyze", "attention", article, "--model", folders[variant], "--parser", parser_folder)
    result = discsum(*command, "-o", tmp_path / "maps", "--max-tokens", 6)
    assert result.code == 0, result.err
    data = json.loads((tmp_path / "maps" / "attention-chunks.json").read_text())
    assert len(data["coarse"]) == len(data["written"]) and len(data["coarse"][0]) == len(data["chunks"]) == 6
    assert all(sum(row) == pytest.approx(1, abs=1e-4) for row in data["coarse"])
    assert " ".join(data["chunks"]).split() == data["read"]
    for name in ("attention-chunks.png", "attention-chunks.svg", "attention-chunks-words.png"):
        assert (tmp_path / "maps" / name).stat().st_size > 1000
    result = discsum(*command, "--layer", 1)
    said = "--layer cannot be used with a coarse-to-fine model"
    assert (result.code, said in result.err) == (2, True)


def test_a_document_without_sentences_is_completed(discsum, folders, parser_folder, article, tmp_path, monkeypatch):
    monkeypatch.setattr("discsum.abstractive.analysis.pictures.heatmap", lambda *_: [])
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps({"id": "bare", "text": article.read_text(), "sentences": [], "edus": []}))
    maps = []
    for text in (article, bare):
        command = ("analyze", "attention", text, "--model", folders["standard"], "--parser", parser_folder)
        assert discsum(*command, "-o", tmp_path / "maps", "--max-tokens", 3).code == 0
        maps.append(json.loads((tmp_path / "maps" / "attention-chunks.json").read_text()))
    assert maps[0]["read"] == maps[1]["read"] != []


def test_a_text_with_more_words_than_the_chunks_hold(discsum, folders, parser_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("discsum.abstractive.analysis.pictures.heatmap", lambda *_: [])
    text = tmp_path / "long.txt"
    text.write_text("Rain fell. " * 41)
    command = ("analyze", "attention", text, "--model", folders["standard"], "--parser", parser_folder)
    result = discsum(*command, "-o", tmp_path / "maps", "--max-tokens", 3)
    assert (result.code, "truncated 1 of 1 texts to 120 tokens, its longest input" in result.err) == (0, True)


def test_analyses_of_sentences_do_not_take_them(discsum, folders, table):
    for command in (("sparsity", table), ("time",)):
        result = discsum("analyze", *command, "--model", folders["c2f"])
        assert result.code == 1
        assert "expected a model with cross-attention to sentences, got one of the family coarse_to_fine" in result.err


def test_fields_of_a_recipe(discsum):
    out = discsum("train", "coarse-to-fine/c2f-multi2", "--fields").out
    assert "family=coarse_to_fine\n    one of sparse, coarse_to_fine" in out
    assert "network.samples=2" in out and "reinforce.discount=0.5" in out and "coarse_learning_rate=0.1" in out
