"""Figures of faster encoders: accuracy, perplexity, speeds, ROUGE recall, precision and F1."""

import json

import pytest
import torch
from small_trees import document_of, random_tree

from discsum.abstractive.coarse_to_fine import CoarseToFineConfig, CoarseToFineForConditionalGeneration
from discsum.abstractive.coarse_to_fine.family import CoarseToFineFamily
from discsum.abstractive.compressed import compress
from discsum.abstractive.compressed.family import CompressedFamily
from discsum.abstractive.compressed.model import CopyPegasusConfig, CopyPegasusForConditionalGeneration
from discsum.abstractive.families import family_class
from discsum.abstractive.generation import Generation
from discsum.abstractive.scratch import Scratch, make_model
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.abstractive.vocabulary import make_word_tokenizer
from discsum.data.pairs import Pair
from discsum.errors import InputError
from discsum.experiments.faster_encoders import measure_encoders
from discsum.metrics.rouge import rouge

SENTENCES = [["The old bridge broke."], ["Rain came for a week."], ["Nobody sold bread."]]


@pytest.fixture
def pairs():
    document = document_of(SENTENCES, random_tree(3, 1), id="a")
    return [Pair("a", document.text, ("The bridge broke.\nNobody sold bread.",), document)]


@pytest.fixture
def folder(pairs, tmp_path):
    """Return the folder of a model with random weights."""
    tokenizer = make_word_tokenizer([pairs[0].text], 60, lowercase=True, merge_numbers=False)
    torch.manual_seed(2)
    sizes = {"d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8}
    sizes |= {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "max_position_embeddings": 40}
    special = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    config = CopyPegasusConfig(vocab_size=len(tokenizer), **special, **sizes, init_std=0.5, dropout=0.0)
    model = compress(CopyPegasusForConditionalGeneration(config), "strided", borders="sentences")
    CompressedFamily(model, tokenizer, "tiny").save(tmp_path / "model")
    return str(tmp_path / "model")


def test_figures_are_their_definitions(pairs, folder, parser):
    found = measure_encoders([folder], pairs, lambda: parser, Generation(3, max_tokens=8))
    (row,) = found.rows
    summarizer = AbstractiveSummarizer.from_pretrained(folder)
    summary = summarizer.summarize(pairs[0].document, num_beams=3, max_new_tokens=8)
    words = summarizer.tokenizer("The bridge broke. Nobody sold bread.")["input_ids"]
    encoding = summarizer.tokenizer([pairs[0].text], return_tensors="pt")
    inputs = summarizer.family.inputs([pairs[0].document], encoding)
    with torch.no_grad():
        scores = summarizer.model(
            input_ids=encoding["input_ids"], decoder_input_ids=torch.tensor([[1, *words[:-1]]]), **inputs
        ).logits[0]
    chosen = scores[range(len(words)), words]
    assert row.perplexity == pytest.approx(float((-chosen.mean()).exp()), rel=1e-4)
    assert row.accuracy == pytest.approx(100 * float((scores.argmax(-1) == torch.tensor(words)).float().mean()))
    assert row.training > 0 and row.writing > 0
    assert "|encoder:strided|blocks:3|borders:sentences|parser:" in str(found.signatures[0])
    assert [one["summary"] for one in found.summaries] == [summary.text]
    assert found.summaries[0]["nats"] == pytest.approx(float(-chosen.mean()), rel=1e-4)
    assert found.summaries[0]["tokens"] == len(words)
    lines = ["\n".join(parser.parse(summary.text).sentence_texts)] if summary.text else [""]
    for measure in "rpf":
        expected = rouge(lines, [pairs[0].references], measure=measure).mean
        assert {metric: row.rouge[metric][measure] / 100 for metric in expected} == pytest.approx(expected)
    assert json.loads(found.report("json"))["models"][0]["model"] == folder
    table = found.report("table")
    assert "R-2 P" in table and "train tok/s" in table


@pytest.mark.parametrize("family", ["compressed", "coarse_to_fine", "sparse"])
def test_the_time_of_training_is_that_of_the_loss_that_is_trained(family, pairs, folder, parser, tmp_path, monkeypatch):
    """In every family, each reference is learned once, after one pass to warm up."""
    tokenizer = AbstractiveSummarizer.from_pretrained(folder).tokenizer
    torch.manual_seed(3)
    if family == "coarse_to_fine":
        config = CoarseToFineConfig(vocab_size=len(tokenizer), chunks="sentences", hidden_size=8, filters=8)
        CoarseToFineFamily(CoarseToFineForConditionalGeneration(config), tokenizer, "c2f").save(tmp_path / "other")
    elif family == "sparse":
        model = make_model(Scratch(width=16, layers=1, heads=2, inner=16, positions=64), tokenizer)
        model.save_pretrained(tmp_path / "other")
        tokenizer.save_pretrained(tmp_path / "other")
    name, losses = folder if family == "compressed" else str(tmp_path / "other"), []
    kind = family_class(family)
    own = kind.loss

    def loss(self, *arguments):
        assert self.model.training and torch.is_grad_enabled()
        losses.append(own(self, *arguments))
        return losses[-1]

    monkeypatch.setattr(kind, "loss", loss)
    (row,) = measure_encoders([name], pairs * 2, lambda: parser, Generation(2, max_tokens=4)).rows
    assert row.training > 0 and len(losses) == 3
    assert all(found["loss"].isfinite() and found["loss"].requires_grad for found in losses)


def test_what_is_no_row_of_it(pairs, folder, parser):
    with pytest.raises(InputError, match="lead: expected the folder of a sequence-to-sequence model"):
        measure_encoders(["lead"], pairs, lambda: parser, Generation())
    done = []
    with pytest.raises(InputError, match="lead: expected the folder of a sequence-to-sequence model"):
        measure_encoders([folder, "lead"], pairs, lambda: parser, Generation(), done.append)
    assert done == []
    with pytest.raises(InputError, match="expected texts with reference summaries, got none"):
        measure_encoders([folder], [], lambda: parser, Generation())
    empty = [Pair("a", pairs[0].text, (" ",), pairs[0].document)]
    with pytest.raises(InputError, match="a: expected a reference summary, got an empty one"):
        measure_encoders([folder], empty, lambda: parser, Generation())
