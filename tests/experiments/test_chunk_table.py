"""Figures of coarse-to-fine models: the best highlight, perplexity, entropy of attention to chunks."""

import json

import numpy as np
import pytest
import torch
from small_trees import document_of, random_tree

from discsum.abstractive.analysis.chunk_maps import ChunkMaps, chunk_maps
from discsum.abstractive.coarse_to_fine import CoarseToFineConfig, CoarseToFineForConditionalGeneration
from discsum.abstractive.coarse_to_fine.family import CoarseToFineFamily
from discsum.abstractive.generation import Generation
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.abstractive.training.encoding import encode_whole
from discsum.abstractive.vocabulary import make_word_tokenizer
from discsum.data.pairs import Pair
from discsum.errors import InputError, WeightsError
from discsum.experiments.coarse_to_fine import highlights, measure_chunks
from discsum.experiments.teacher_forcing import encoded_pairs, likelihood
from discsum.metrics.rouge import rouge

SENTENCES = [["The old bridge broke."], ["Rain came for a week."], ["Nobody sold bread."]]
REFERENCES = ("Bread was sold.\n\nThe old bridge broke.", "Rain.")


def no_parser():
    raise AssertionError("documents are parsed already")


@pytest.fixture
def pair():
    document = document_of(SENTENCES, random_tree(3, 1), id="a")
    return Pair("a", document.text, REFERENCES, document)


@pytest.fixture
def summarizer(pair):
    tokenizer = make_word_tokenizer([pair.text], 60, lowercase=True)
    torch.manual_seed(2)
    sizes = {"embedding_size": 6, "hidden_size": 8, "filters": 8, "filter_width": 2, "init_range": 1.0}
    special = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    config = CoarseToFineConfig(variant="c2f", chunks="sentences", vocab_size=len(tokenizer), **special, **sizes)
    return AbstractiveSummarizer(CoarseToFineFamily(CoarseToFineForConditionalGeneration(config), tokenizer, "tiny"))


def test_the_best_highlight_counts(pair, parser):
    """`lead`, the paper's FIRST, selects the first sentence, which is the second highlight."""
    assert highlights(pair) == ["Bread was sold.", "The old bridge broke.", "Rain."]
    found = measure_chunks(["lead"], [pair], lambda: parser, Generation())
    [row] = found.rows
    assert (row.rouge1, row.rouge2, row.rougeLsum, row.words) == (100.0, 100.0, 100.0, 4.0)
    # With all highlights as one reference, the score would be lower.
    assert rouge(["The old bridge broke."], [REFERENCES[0]]).mean["rouge1"] < 0.8
    assert (row.perplexity, row.entropy, row.padding, row.encoded) == (None, None, None, None)


def test_the_program_selects_units_of_several_sentences(pair, parser):
    found = measure_chunks(["lead", "ilp"], [pair], lambda: parser, Generation())
    assert found.rows[1].words > found.rows[0].words
    assert [line.split()[0] for line in found.report("table").splitlines()[2:4]] == ["lead", "ilp"]
    assert "| lead |  | 100.00 |" in found.report("markdown")
    first, second = map(str, found.signatures)
    assert "|reference:highlight|" in first and f"|parser:{parser.name}@" in first
    assert "|unit:sentence|units:1|" in first and "|unit:edu|units:6|" in second
    printed = [line.split(": ")[0] for line in found.report("table").splitlines() if line.startswith("signature")]
    assert printed == ["signature of lead", "signature of ilp"]
    rows = json.loads(found.report("json"))["models"]
    assert [row["signature"] for row in rows] == [first, second]


def test_every_document_has_its_summary(pair, parser):
    """There is one object per document and model, with the ROUGE whose mean is in the table."""
    other = Pair("b", pair.text, ("Rain came.",), pair.document)
    found = measure_chunks(["lead", "random"], [pair, other], lambda: parser, Generation())
    assert [(one["model"], one["id"]) for one in found.summaries] == [
        (name, id) for name in ("lead", "random") for id in "ab"
    ]
    assert found.summaries[0]["summary"] == "The old bridge broke."
    assert found.rows[0].rouge2 == pytest.approx(50 * sum(one["rouge2"] for one in found.summaries[:2]))
    assert not any({"nats", "tokens"} & one.keys() for one in found.summaries)


def test_differences_are_between_documents(pair, parser):
    other = Pair("b", pair.text, ("Rain came for a week.",), pair.document)
    found = measure_chunks(["lead", "ilp", "random"], [pair, other], lambda: parser, Generation())
    assert [(one.model, one.against) for one in found.differences] == [
        ("ilp", "lead"),
        ("random", "lead"),
        ("random", "ilp"),
    ]
    rows = {row.model: row for row in found.rows}
    for one in found.differences:
        for metric, paired in one.figures.items():
            expected = getattr(rows[one.model], metric) - getattr(rows[one.against], metric)
            assert paired.difference == pytest.approx(expected), (one, metric)
    # A printed table has only the differences from its first row.
    assert "ilp minus lead" in found.report("table") and "random minus ilp" not in found.report("table")
    whole = json.loads(found.report("json"))
    assert whole["differences"][2]["rouge2"]["p"] == found.differences[2].figures["rouge2"].p_value
    assert "docs:2" in whole["differences"][2]["rouge2"]["signature"]


def test_rows_that_cannot_be_measured(pair):
    with pytest.raises(InputError, match="expected texts with reference summaries, got none"):
        measure_chunks(["lead"], [], no_parser, Generation())
    with pytest.raises(InputError, match="a: expected a reference with a line of text, got none"):
        measure_chunks(["lead"], [Pair("a", pair.text, ("\n",), pair.document)], no_parser, Generation())


def test_wrong_systems_are_told_before_any_is_measured(summarizer, pair, parser, tmp_path):
    summarizer.save_pretrained(tmp_path / "model")
    name, done = str(tmp_path / "model"), []

    def measure(models, parser=no_parser, **generation):
        measure_chunks(models, [pair], parser, Generation(2, max_tokens=4, **generation), done.append)

    with pytest.raises(WeightsError, match="gone: expected a model's folder"):
        measure([name, "gone"])
    shape = CoarseToFineConfig(**summarizer.model.config.to_dict() | {"chunks": "2x3"})
    other = CoarseToFineFamily(CoarseToFineForConditionalGeneration(shape), summarizer.tokenizer, "short")
    other.save(tmp_path / "short")
    with pytest.raises(InputError, match="a: expected at most 6 tokens"):
        measure(["lead", name, str(tmp_path / "short")], lambda: parser)
    with pytest.raises(InputError, match="expected a model with copy attention"):
        measure(["lead", name], lambda: parser, coverage_penalty=1.0)
    assert done == []


def likelihood_of(summarizer, documents, targets):
    return likelihood(summarizer.model, encoded_pairs(summarizer, documents, targets))


def test_the_likelihood_by_its_definition(summarizer, pair):
    target = "the bridge broke"
    nats, tokens, accuracy = likelihood_of(summarizer, [pair.document] * 2, [target, "rain"])
    for place, text in enumerate((target, "rain")):
        encoding = summarizer.tokenizer(summarizer.family.texts([pair.document]), return_tensors="pt")
        inputs = summarizer.family.inputs([pair.document], encoding)
        labels = summarizer.tokenizer([text], return_tensors="pt")["input_ids"]
        start = torch.tensor([[1, *labels[0, :-1].tolist()]])
        output = summarizer.model(encoding["input_ids"], decoder_input_ids=start, **inputs)
        logs = output.logits[0].log_softmax(1).gather(1, labels[0][:, None])[:, 0]
        assert nats[place] == pytest.approx(-logs.mean().item(), rel=1e-5)
        assert tokens[place] == len(logs)
        assert accuracy[place] == pytest.approx((output.logits[0].argmax(1) == labels[0]).float().mean().item())


def test_a_text_of_one_mark_is_read_to_its_end(summarizer):
    """With the end token, it has more tokens than characters."""
    document = document_of([["!"]], id="a")
    batch = encode_whole(summarizer.family, document, "a b")
    assert batch.inputs["input_ids"].tolist() == [summarizer.tokenizer("! </s>")["input_ids"][:2]]
    assert summarizer.tokenizer.decode(batch.inputs["labels"][0]).endswith("</s>")


def test_models_that_write_are_compared_by_their_losses(summarizer, pair, parser, tmp_path):
    other = Pair("b", pair.text, ("Rain came for a week.",), pair.document)
    folders = [str(tmp_path / name) for name in ("one", "two")]
    for number, folder in enumerate(folders):
        torch.manual_seed(number)
        torch.nn.init.normal_(summarizer.model.decoder.embeddings.weight)
        summarizer.save_pretrained(folder)
    found = measure_chunks([folders[0], "lead", folders[1]], [pair, other], lambda: parser, Generation(1, max_tokens=4))
    lead, two, apart = found.differences
    assert "nats" not in lead.figures and "nats" not in apart.figures
    targets = [highlights(pair)[0], highlights(other)[0]]
    (own, tokens, _), (against, *_) = (
        likelihood_of(AbstractiveSummarizer.from_pretrained(folder), [pair.document] * 2, targets)
        for folder in (folders[1], folders[0])
    )
    assert tokens[0] != tokens[1]
    assert two.figures["nats"].difference == pytest.approx(np.average(own - against, weights=tokens), rel=1e-5)
    assert found.rows[2].perplexity == pytest.approx(np.exp((own * tokens).sum() / tokens.sum()), rel=1e-5)
    last = [one for one in found.summaries if one["model"] == found.rows[2].model]
    assert [one["nats"] for one in last] == pytest.approx(own.tolist(), rel=1e-5)
    assert [one["tokens"] for one in last] == tokens.tolist()
    assert {one["vocabulary"] for one in last} != {""}
    # The difference is the logarithm of the ratio of the perplexities in the column.
    ratio = found.rows[2].perplexity / found.rows[0].perplexity
    assert two.figures["nats"].difference == pytest.approx(np.log(ratio), rel=1e-6)
    shown = found.report("table").splitlines()
    (place,) = (number for number, line in enumerate(shown) if line.startswith("paired bootstrap"))
    header, first, second = shown[place : place + 3]
    assert header.split()[2:] == ["nats", "R-1", "R-2", "R-Lsum"]
    assert len(first.split()) == len(second.split()) - 2


def test_maps_are_those_of_the_summary(summarizer, pair):
    maps = chunk_maps(summarizer, pair.document, num_beams=1, max_new_tokens=6)
    assert maps.coarse.shape == (len(maps.written), 3) and maps.words.shape == (len(maps.written), len(maps.read))
    assert maps.chunks == ["the old bridge broke . </s>", "rain came for a week . </s>", "nobody sold bread . </s>"]
    # Only words of the chunk with the most attention are read.
    owners = np.repeat([0, 1, 2], [6, 7, 5])
    for coarse, words in zip(maps.coarse, maps.words, strict=True):
        assert set(owners[words > 0]) == {int(coarse.argmax())}
    assert 1 <= maps.encoded <= maps.filled == 3
    # With sentences as chunks, no attention falls on padding.
    assert maps.padding == pytest.approx([0.0] * len(maps.written), abs=1e-5)


def test_attention_to_padding_is_what_words_leave(summarizer, pair):
    config = CoarseToFineConfig(**summarizer.model.config.to_dict() | {"variant": "hier", "chunks": "4x10"})
    model = CoarseToFineForConditionalGeneration(config)
    padded = AbstractiveSummarizer(CoarseToFineFamily(model, summarizer.tokenizer, "padded"))
    maps = chunk_maps(padded, pair.document, num_beams=1, max_new_tokens=6)
    assert (maps.padding > 0.05).all()
    assert maps.padding + maps.words.sum(axis=1) == pytest.approx(np.ones(len(maps.written)), abs=1e-5)


def test_entropies_are_natural():
    coarse = np.array([[0.1] * 10, [1.0] + [0.0] * 9], dtype=np.float32)
    maps = ChunkMaps("", ["a", "b"], [""] * 10, [], coarse, np.zeros((2, 0)), np.zeros(2), 10, 1)
    # Uniform attention to the paper's ten chunks has an entropy of 2.30.
    assert maps.entropies == pytest.approx([np.log(10), 0.0], abs=1e-6)
