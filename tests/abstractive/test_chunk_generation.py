"""`generate` of coarse-to-fine models: against loops written by hand, and exhaustive search."""

import itertools

import pytest
import torch
from small_coarse_to_fine import Texts, make_model
from transformers import AutoConfig, AutoModelForSeq2SeqLM

from discsum.abstractive.coarse_to_fine import CoarseToFineConfig, CoarseToFineForConditionalGeneration
from discsum.abstractive.coarse_to_fine.cache import RecurrentCache
from discsum.abstractive.coarse_to_fine.memory import Record
from discsum.errors import InputError

KINDS = [
    {"variant": "standard"},
    {"variant": "hier", "coarse": "bow"},
    {"variant": "c2f"},
    {"variant": "c2f", "samples": 2, "positions": True, "chunks": "sentences"},
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind.values())))
END, PAD = 2, 0


def greedy(model, texts, row, most):
    """Return what greedy search writes for one text, in a loop without `generate` and without a cache."""
    given = {name: value[row : row + 1] for name, value in texts.of(model).items()}
    written = [model.config.decoder_start_token_id]
    while len(written) <= most and written[-1] != END:
        logits = model(**given, decoder_input_ids=torch.tensor([written])).logits
        written.append(int(logits[0, -1].argmax()))
    return written


@every_kind
def test_greedy_search_is_the_loop(kind):
    texts, model = Texts(), make_model(**kind)
    found = model.generate(**texts.of(model), num_beams=1, do_sample=False, max_new_tokens=7).tolist()
    for row in range(3):
        expected = greedy(model, texts, row, 7)
        assert found[row][: len(expected)] == expected
        assert set(found[row][len(expected) :]) <= {PAD}


@every_kind
@pytest.mark.parametrize("beams", [1, 3])
def test_the_cache_changes_nothing(kind, beams):
    texts, model = Texts(), make_model(**kind)
    options = {"num_beams": beams, "max_new_tokens": 8, "min_new_tokens": 4}
    with_it, without = (model.generate(**texts.of(model), use_cache=use, **options) for use in (True, False))
    assert torch.equal(with_it, without)


@pytest.mark.parametrize("kind", [*KINDS, {"variant": "standard", "chunks": "sentences"}], ids=lambda kind: str(kind))
def test_attentions_may_be_asked_for(kind):
    texts, model = Texts(), make_model(**kind)
    options = {"num_beams": 2, "max_new_tokens": 4, "return_dict_in_generate": True}
    found, plain = (model.generate(**texts.of(model), output_attentions=asked, **options) for asked in (True, False))
    assert torch.equal(found.sequences, plain.sequences)


def test_a_call_without_a_text():
    model = make_model()
    with pytest.raises(InputError, match="expected input_ids or encoder_outputs, got neither"):
        model(labels=torch.ones(1, 2, dtype=torch.long))
    with pytest.raises(InputError, match="expected labels or decoder_input_ids, got neither"):
        model(torch.ones(1, 2, dtype=torch.long))


def test_outputs_begin_with_the_loss():
    texts, model = Texts(), make_model("c2f")
    given = texts.of(model) | {"labels": texts.labels}
    found = model(**given, output_attentions=True)
    assert list(found)[:2] == ["loss", "logits"] and torch.equal(found[0], found.loss)
    rows = model(**given, output_attentions=True, return_dict=False)
    assert type(rows) is tuple and len(rows) == len(found)
    assert torch.equal(rows[0], found.loss) and torch.equal(rows[1], found.logits)
    assert {"coarse_attentions", "word_attentions", "padding_attentions", "cache"} <= set(found)
    without = model(**texts.of(model), decoder_input_ids=texts.labels, use_cache=False)
    assert next(iter(without)) == "logits" and not {"loss", "cache", "word_attentions"} & set(without)


def exhaustive(model, texts, row, words, most):
    """Return the best score for one text and its sequence; a score is the mean log probability of the tokens."""
    given = {name: value[row : row + 1] for name, value in texts.of(model).items()}
    encoded = model.encoder(**given, whole=True)
    best = (float("-inf"), [])
    for length in range(1, most + 1):
        for start in itertools.product([word for word in range(words) if word != END], repeat=length - 1):
            lasts = [END] if length < most else range(words)
            tokens = torch.tensor([[model.config.decoder_start_token_id, *start]])
            logs = model(encoder_outputs=encoded, decoder_input_ids=tokens).logits[0].log_softmax(1)
            total = sum(logs[place, word].item() for place, word in enumerate(start))
            for last in lasts:
                score = (total + logs[-1, last].item()) / length
                best = max(best, (score, [*tokens[0].tolist(), last]))
    return best


@pytest.mark.parametrize("kind", [{"variant": "hier"}, {"variant": "c2f", "samples": 2}], ids=["hier", "c2f"])
def test_many_beams_are_exhaustive_search(kind):
    words, most = 5, 3
    texts = Texts()
    texts.ids = texts.ids % (words - 1) + (texts.ids > 0)
    model = make_model(**kind, vocab_size=words)
    options = {"num_beams": words**most, "max_new_tokens": most, "length_penalty": 1.0, "early_stopping": False}
    found = model.generate(**texts.of(model), **options, output_scores=True, return_dict_in_generate=True)
    for row in range(3):
        score, tokens = exhaustive(model, texts, row, words, most)
        assert [one for one in found.sequences[row].tolist() if one != PAD or one in tokens][: len(tokens)] == tokens
        assert found.sequences_scores[row].item() == pytest.approx(score, abs=1e-5)


def test_beams_share_what_is_encoded():
    texts, model, record = Texts(), make_model("c2f", samples=2), Record()
    model.generate(**texts.of(model), record=record, num_beams=4, max_new_tokens=6)
    assert record.memory.grid.words.shape[0] == 3
    assert (record.memory.encoded <= (record.memory.grid.counts > 0).sum(1)).all()
    # The last text has a single chunk.
    assert record.memory.encoded.tolist()[2] == 1


def test_only_chunks_that_are_chosen_are_encoded():
    texts, model, record = Texts(1), make_model("c2f", "12x1"), Record()
    written = model.generate(**texts.of(model), record=record, num_beams=1, max_new_tokens=6)
    chosen = set(model(**texts.of(model), decoder_input_ids=written[:, :-1]).choices.flatten().tolist())
    assert chosen < set(range(12))
    # The last chunk is always encoded, because its state initialises the decoder.
    assert record.memory.encoded.tolist() == [len(chosen | {11})]


def test_the_cache_follows_its_beams():
    cache = RecurrentCache(torch.randn(2, 3, 4), torch.randn(2, 3, 4), torch.randn(3, 4), 5)
    hidden, cell, feed = cache.hidden, cache.cell, cache.feed
    order = torch.tensor([2, 2, 0])
    cache.reorder_cache(order)
    assert torch.equal(cache.hidden, hidden[:, order]) and torch.equal(cache.cell, cell[:, order])
    assert torch.equal(cache.feed, feed[order]) and cache.get_seq_length() == 5
    empty = RecurrentCache()
    empty.reorder_cache(order)
    assert empty.hidden is None


@every_kind
def test_a_folder_is_the_model_that_was_saved(kind, tmp_path):
    texts, model = Texts(), make_model(**kind)
    model.save_pretrained(tmp_path)
    found = AutoModelForSeq2SeqLM.from_pretrained(tmp_path)
    assert type(found) is CoarseToFineForConditionalGeneration
    assert type(AutoConfig.from_pretrained(tmp_path)) is CoarseToFineConfig
    here, there = (one.config.to_dict() | {"dtype": None, "_name_or_path": ""} for one in (model, found))
    assert here == there
    given = texts.of(model) | {"labels": texts.labels}
    # Not exactly equal, because the order of summation may depend on where weights lie in memory.
    torch.testing.assert_close(found.eval()(**given).logits, model(**given).logits)


def test_initial_weights_are_uniform():
    model = make_model("c2f", positions=True, init_range=0.1)
    for name, weight in model.named_parameters():
        assert weight.abs().max() <= 0.1, name
        assert weight.std() > 0.02, name


def test_the_papers_sizes():
    """Table 1: two layers of size 500, word embeddings of 300, position embeddings of 25, 600 filters of width 6."""
    config = CoarseToFineConfig(positions=True)
    assert (config.coarse_size, config.max_words) == (625, 400)
    assert CoarseToFineConfig(positions=True, coarse="bow").coarse_size == 325
    with torch.device("meta"):
        model = CoarseToFineForConditionalGeneration(CoarseToFineConfig(vocab_size=100))
    lstm = model.encoder.lstm
    assert (lstm.input_size, lstm.hidden_size, lstm.num_layers, lstm.bidirectional) == (300, 500, 2, False)
    assert model.decoder.lstm.input_size == 800
    assert tuple(model.encoder.coarse.filters.weight.shape) == (600, 300, 6)


def test_all_chunks_may_be_read_in_generation():
    texts, model = Texts(), make_model("c2f")
    found = model.generate(**texts.of(model), soft=True, num_beams=2, max_new_tokens=6)
    model.config.variant = "hier"
    assert torch.equal(found, model.generate(**texts.of(model), num_beams=2, max_new_tokens=6))
