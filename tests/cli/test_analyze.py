"""`discsum analyze`."""

import json
import sys
from itertools import pairwise

import numpy as np
import pytest
import tiny
import torch
from transformers import AutoTokenizer, T5Config, T5ForConditionalGeneration

from discsum.abstractive.analysis.attention_maps import attention_maps
from discsum.abstractive.analysis.sentences_read import retained_mass
from discsum.abstractive.compressed import compress
from discsum.abstractive.summarizer import AbstractiveSummarizer

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def analyze(discsum, bart_folder, tmp_path):
    def run(kind, *arguments):
        result = discsum("analyze", kind, *arguments, "--model", bart_folder, "-o", tmp_path / "out")
        assert (result.code, result.err) == (0, ""), result.err
        for line in result.out.splitlines():
            if line.endswith(".png"):
                content = (tmp_path / "out" / line.rsplit("/", 1)[1]).read_bytes()
                assert content.startswith(PNG) and len(content) > 5000
        return result, tmp_path / "out"

    return run


def test_attention_to_sentences_and_words(analyze, article, parser_folder):
    result, folder = analyze("attention", article, "--layer", 2, "--max-tokens", 8, "--parser", parser_folder)
    assert len([line for line in result.out.splitlines() if line.endswith((".png", ".svg"))]) == 4
    data = json.loads((folder / "attention-layer-2.json").read_text())
    words, sentences = np.array(data["words"]), np.array(data["by_sentence"])
    assert words.shape == (len(data["written"]), len(data["read"]))
    assert sentences.shape == (len(data["written"]), len(data["sentences"]))
    np.testing.assert_allclose(words.sum(axis=1), 1.0, atol=1e-3)
    np.testing.assert_allclose(sentences.sum(axis=1), 1.0, atol=1e-3)
    owner = np.array(data["owner"])
    np.testing.assert_allclose(sentences[:, 0], words[:, owner == 0].sum(axis=1), atol=1e-3)
    svg = (folder / "attention-layer-2.svg").read_text()
    assert svg.startswith("<?xml")


def test_attention_takes_the_input_options_of_other_commands(analyze, discsum, bart_folder, parser_folder, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("corps,text\n<p>The café closed because the river rose. It rained.</p>,\n", encoding="latin-1")
    options = ("--encoding", "latin-1", "--text-column", "corps", "--input", "html", "--max-tokens", 3)
    _, folder = analyze("attention", table, *options, "--parser", parser_folder)
    read = " ".join(json.loads((folder / "attention-layer-1.json").read_text())["sentences"])
    assert "café" in read and "<p>" not in read
    trees = tmp_path / "two.rs3"
    trees.write_text("<rst><body><segment id='1'>It rained.</segment><segment id='2'>Rain fell.</segment></body></rst>")
    command = ("analyze", "attention", "--model", bart_folder, "-o", tmp_path / "none")
    result = discsum(*command, trees, "--roots", "error")
    assert (result.code, "expected one root, got 2" in result.err) == (1, True)
    result = discsum(*command, trees, "--max-document-bytes", 9)
    assert (result.code, "expected at most 9 bytes" in result.err) == (1, True)


def test_attention_of_a_sparse_model(analyze, article, parser_folder):
    _, folder = analyze(
        "attention", article, "--selector", "ideal", "--r", 2, "--max-tokens", 8, "--parser", parser_folder
    )
    data = json.loads((folder / "attention-layer-1.json").read_text())
    sentences = np.array(data["by_sentence"])
    assert data["layer"] == 1
    assert ((sentences > 1e-6).sum(axis=1) <= 2).all()


def write_table(path):
    rows = [{"text": tiny.ARTICLE, "summary": "The mill broke."}, {"text": "It rained. She left.", "summary": "Rain."}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_sparsity(analyze, parser_folder, tmp_path):
    _, folder = analyze("sparsity", write_table(tmp_path / "t.jsonl"), "--most", 6, "--parser", parser_folder)
    data = json.loads((folder / "sparsity.json").read_text())
    assert (data["documents"], list(data["curves"])) == (2, ["layer 1", "layer 2"])
    for curve in data["curves"].values():
        assert len(curve) == 6
        assert all(low <= high + 1e-6 for low, high in pairwise(curve))
        assert 0 < curve[0] < curve[-1] <= 1 + 1e-6


@pytest.fixture(scope="module")
def t5_folder(bart_folder, tmp_path_factory):
    """Return the folder of a T5 with random weights and the tokenizer of the tiny BART."""
    folder = tmp_path_factory.mktemp("models") / "tiny-t5"
    begin, end, pad = tiny.special_indices()
    tokenizer = AutoTokenizer.from_pretrained(bart_folder)
    tokenizer.save_pretrained(folder)
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 2, "num_heads": 2, "vocab_size": len(tokenizer)}
    special = {"pad_token_id": pad, "eos_token_id": end, "decoder_start_token_id": begin}
    torch.manual_seed(1)
    T5ForConditionalGeneration(T5Config(**sizes, **special)).save_pretrained(folder)
    return folder


def test_models_that_name_their_layers_differently(discsum, t5_folder, parser_folder, article, tmp_path):
    options = ("--model", t5_folder, "--parser", parser_folder, "-o", tmp_path / "out")
    result = discsum("analyze", "attention", article, "--layer", 2, "--max-tokens", 5, *options)
    assert result.code == 0, result.err
    result = discsum("analyze", "sparsity", write_table(tmp_path / "t.jsonl"), "--most", 3, *options)
    assert result.code == 0, result.err
    assert list(json.loads((tmp_path / "out" / "sparsity.json").read_text())["curves"]) == ["layer 1", "layer 2"]


def test_attention_of_an_encoder_whose_blocks_have_borders(bart_folder, parser):
    summarizer = AbstractiveSummarizer.from_pretrained(str(bart_folder), selector="ideal", r=2)
    compress(summarizer.model, "strided", blocks=2, borders="sentences")
    maps = attention_maps(summarizer, parser.parse(tiny.ARTICLE), max_new_tokens=5)
    assert ((maps.by_sentence > 1e-6).sum(axis=-1) <= 2).all()


def test_time(analyze):
    lengths = [option for length in (5, 10, 20, 30) for option in ("--output-tokens", length)]
    # A repeated value is measured once.
    result, folder = analyze("time", *lengths, "--input-tokens", 50, "--input-tokens", 50, "--repeats", 1)
    data = json.loads((folder / "time.json").read_text())
    assert [one["output"] for one in data["samples"]] == [5, 10, 20, 30]
    assert [one["term"] for one in data["fit"]["terms"]] == ["1", "M", "M^2"]
    rows = [line.split() for line in result.out.partition("R squared")[2].splitlines()[1:]]
    assert [row[0] for row in rows] == ["term", "1", "M", "M^2"]
    first = data["fit"]["terms"][0]
    assert rows[1] == ["1", *(f"{first[name]:.3e}" for name in ("seconds", "low", "high")), "1.000e+00"]
    both = [option for tokens in (50, 100, 200) for option in ("--input-tokens", tokens)]
    analyze("time", *lengths, *both, "--repeats", 1)
    assert len(json.loads((folder / "time.json").read_text())["fit"]["terms"]) == 6


def test_corpus(analyze, parser_folder, tmp_path):
    result, folder = analyze("corpus", write_table(tmp_path / "t.jsonl"), "--parser", parser_folder)
    data = json.loads((folder / "corpus.json").read_text())
    assert data["documents"] == 2
    assert data["ratio"] > 1
    rows = [line.rpartition("  ") for line in result.out.splitlines()[1:]]
    shown = {name.strip(): float(value) for name, _, value in rows}
    assert (shown["documents"], shown["tokens, N"]) == (2, pytest.approx(data["tokens"], abs=0.01))


def test_corpus_without_a_tokenizer(discsum, parser_folder, tmp_path):
    table = write_table(tmp_path / "t.jsonl")
    result = discsum("analyze", "corpus", table, "--parser", parser_folder, "-o", tmp_path / "out")
    data = json.loads((tmp_path / "out" / "corpus.json").read_text())
    assert (result.code, result.err, data["model"], data["tokens"], "N / M" in result.out) == (0, "", None, None, False)
    # "The mill broke." and "Rain.", one word each time that is in the text, or all three.
    assert (data["summary_words"], data["oracle_sentences"] >= 0.5) == (2, True)


def test_columns_of_a_table(discsum, bart_folder, parser_folder, tmp_path):
    table = tmp_path / "t.jsonl"
    table.write_text(json.dumps({"body": tiny.ARTICLE, "lead": "The mill broke.", "text": "", "summary": ""}) + "\n")
    columns = ("--text-column", "body", "--summary-column", "lead")
    for command in (
        ("corpus",),
        ("sparsity", "--model", bart_folder),
        ("rouge", "--system", f"{bart_folder}", "--max-tokens", 3),
    ):
        given = ("analyze", *command, table, "--parser", parser_folder, "-o", tmp_path / "out")
        assert discsum(*given).code == 1
        result = discsum(*given, *columns)
        assert (result.code, result.err) == (0, ""), result.err
        assert discsum(*given, "--text-column", "gone").err.count("use --text-column") == 1
    numbers = json.loads((tmp_path / "out" / "corpus.json").read_text())
    assert (numbers["documents"], numbers["summary_words"]) == (1, 3)


def test_columns_of_a_dataset_folder_are_refused(discsum, parser_folder, tmp_path):
    made = tmp_path / "made"
    table = write_table(tmp_path / "t.jsonl")
    assert discsum("preprocess", table, made, "--parser", parser_folder).code == 0
    given = ("analyze", "corpus", made, "--parser", parser_folder, "-o", tmp_path / "out")
    assert discsum(*given).code == 0
    result = discsum(*given, "--text-column", "text")
    assert (result.code, "expected neither with a dataset folder" in result.err) == (2, True)


def test_trees_of_files_and_texts(discsum, parser_folder, tmp_path):
    folder = tmp_path / "trees"
    folder.mkdir()
    text = tmp_path / "article.txt"
    text.write_text(tiny.ARTICLE)
    (folder / "empty.txt").write_text("\n")
    for name in ("one", "two"):
        assert discsum("parse", text, "--parser", parser_folder, "-f", "rs3", "-o", folder / f"{name}.rs3").code == 0
    result = discsum("analyze", "trees", folder, text, "--parser", parser_folder, "-o", tmp_path / "out")
    data = json.loads((tmp_path / "out" / "trees.json").read_text())
    assert (result.code, data["documents"]) == (0, 3)
    assert result.err == "discsum: empty: expected some text, got none; its result is empty\n"
    assert sum(sum(counts.values()) for counts in data["relations"].values()) == data["edus"] - 3
    assert data["edus"] % 3 == data["depth"] % 3 == 0
    rows = result.out.partition("relation ")[2].splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["all", *data["relations"]]
    nothing = discsum("analyze", "trees", folder / "empty.txt", "--parser", parser_folder, "-o", tmp_path / "none")
    assert (nothing.code, "empty.txt: expected trees or texts, got none" in nothing.err) == (1, True)
    assert not (tmp_path / "none").exists()


def test_rows_that_cannot_be_used_are_named(discsum, bart_folder, parser_folder, tmp_path):
    table = write_table(tmp_path / "t.jsonl")
    table.write_text('{"text": "", "summary": "Rain."}\n' + table.read_text() + "no JSON\n")
    options = ("--model", bart_folder, "--parser", parser_folder, "-o", tmp_path / "out")
    result = discsum("analyze", "corpus", table, *options)
    assert (result.code, "tokens, N " in result.out) == (3, True)
    assert [line.partition(": expected")[0] for line in result.err.splitlines()] == [
        f"discsum: {table}:1",
        f"discsum: {table}:4",
        "discsum: 2 failed, 2 done",
    ]
    # Rows after those that are used are not read.
    assert ":4" not in discsum("analyze", "sparsity", table, *options, "--documents", 2).err


def test_truncated_texts_are_counted(discsum, bart_folder, parser_folder, tmp_path, monkeypatch):
    for kind in ("heatmap", "curves"):
        monkeypatch.setattr(f"discsum.abstractive.analysis.pictures.{kind}", lambda *_, **__: [])
    table, text = write_table(tmp_path / "t.jsonl"), tmp_path / "long.txt"
    text.write_text(tiny.ARTICLE * 9)
    row = {"text": text.read_text(), "summary": "The mill broke."}
    table.write_text(json.dumps(row) + "\n" + table.read_text())
    for counted, command in (
        ("1 of 1", ("attention", text, "--model", bart_folder, "--max-tokens", 3)),
        ("1 of 3", ("sparsity", table, "--model", bart_folder, "--most", 3)),
        ("1 of 3", ("rouge", table, "--system", bart_folder, "--max-tokens", 3)),
    ):
        result = discsum("analyze", *command, "--parser", parser_folder, "-o", tmp_path / "out")
        told = f"discsum: {bart_folder}: truncated {counted} texts to 600 tokens, its longest input\n"
        assert (result.code, result.err.endswith(told), result.err.count("truncated")) == (0, True, 1), result.err


def test_attention_is_recorded_for_the_target_of_training(bart_folder, parser, monkeypatch):
    summarizer = AbstractiveSummarizer.from_pretrained(str(bart_folder))
    document = parser.parse(tiny.ARTICLE)
    expected, other = (
        retained_mass(summarizer, [(document, reference)], 3) for reference in ("The mill broke.", "Rain fell.")
    )
    assert not np.array_equal(expected, other)
    monkeypatch.setattr(type(summarizer.family), "target", lambda family, reference: "The mill broke.")
    np.testing.assert_array_equal(retained_mass(summarizer, [(document, "Rain fell.")], 3), expected)


def test_what_cannot_be_analyzed(discsum, bart_folder, article, tmp_path):
    result = discsum("analyze", "attention", article, "--model", bart_folder, "--layer", 3, "-o", tmp_path)
    assert result.code == 2
    assert "--layer: expected a layer from 1 to 2, got 3" in result.err
    table = write_table(tmp_path / "t.jsonl")
    result = discsum("analyze", "sparsity", table, "--model", bart_folder, "--layer", 1, "--layer", 99, "-o", tmp_path)
    assert (result.code, "--layer: expected a layer from 1 to 2, got 99" in result.err) == (2, True)
    assert "read by" not in result.err
    result = discsum("analyze", "sparsity", tmp_path / "gone.jsonl", "--model", bart_folder)
    assert result.code == 1


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("attention", "TABLE", "--model", "BART", "--device", "gpu5"), "gpu5"),
        (("sparsity", "TABLE", "--model", "BART", "--device", "gpu5"), "gpu5"),
        (("time", "--model", "BART", "--mode", "encoder", "--device", "gpu5"), "gpu5"),
        (("rouge", "TABLE", "--system", "BART", "--device", "gpu5"), "gpu5"),
        (("rouge", "TABLE", "--system", "BART", "--min-tokens", 9, "--max-tokens", 8), "--max-tokens"),
        (("rouge", "TABLE", "--system", "BART", "--beams", 1, "--length-penalty", 2), "beams"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_read(discsum, bart_folder, tmp_path, command, message):
    given = {"BART": bart_folder, "TABLE": tmp_path / "gone.jsonl"}
    result = discsum("analyze", *(given.get(part, part) for part in command), "-o", tmp_path)
    assert (result.code, message in result.err, "gone.jsonl" in result.err) == (2, True, False), result.err


def test_lengths_are_checked_before_anything_is_loaded(discsum, bart_folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "discsum.abstractive.analysis.decoding_time", None)
    result = discsum("analyze", "time", "--model", bart_folder, "--input-tokens", 50, "--input-tokens", 100)
    assert result.code == 2
    assert (
        "expected at least four values of --output-tokens with one of --input-tokens, or at least three of each, "
        "got 6 and 2" in result.err
    )


def test_rouge_by_sentences_read(discsum, bart_folder, parser_folder, tmp_path):
    table = write_table(tmp_path / "t.jsonl")
    systems = [str(bart_folder), f"{bart_folder},ideal", f"{bart_folder},random"]
    options = ("--r", 3, "--r", 1, "--r", 99, "--max-tokens", 8, "--parser", parser_folder, "-o", tmp_path / "out")
    options += ("--against", systems[2], "--length-penalty", 2, "--block-trigrams")
    named = [option for system in systems for option in ("--system", system)]
    result = discsum("analyze", "rouge", table, *named, *options)
    assert result.code == 0
    # Of two systems that select.
    assert result.err == "discsum: r = 99: all sentences are read, because no document has more than r\n"
    written = json.loads((tmp_path / "out" / "rouge.json").read_text())
    assert all("|length-penalty:2|block-trigrams:yes|" in one for one in written["signatures"].values())
    data = written["systems"]
    assert [[entry["r"] for entry in data[system]] for system in systems] == [[None], [1, 3, 99], [1, 3, 99]]
    (whole,), ideal, random = (data[system] for system in systems)
    # Reading all sentences is full attention: same summaries, and all attention is read.
    for entry in (ideal[-1], random[-1]):
        assert entry["documents"] == whole["documents"]
        assert entry["mass"] == pytest.approx(1.0, abs=1e-5)
    assert 0 < random[0]["mass"] < ideal[0]["mass"] < ideal[1]["mass"] <= 1 + 1e-6
    assert (tmp_path / "out" / "rouge-rouge1.png").read_bytes().startswith(PNG)
    assert (tmp_path / "out" / "rouge-rouge1-difference.svg").read_text().startswith("<?xml")
    assert "attention read" in result.out
    result = discsum("analyze", "rouge", table, *named, "--against", "another")
    assert result.code == 2
    assert "--against: expected one of at least two systems, got another with " in result.err
