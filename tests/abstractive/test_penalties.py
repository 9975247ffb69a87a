"""Penalties of beam search against their formulas, on all hypotheses over a small vocabulary."""

import itertools
import math

import pytest
import torch
from tiny_bart import make_bart
from transformers import GenerationConfig, LogitsProcessorList

from discsum.abstractive.compressed.copying import observing
from discsum.abstractive.compressed.model import CopyPegasusConfig, CopyPegasusForConditionalGeneration
from discsum.abstractive.generation import Generation
from discsum.abstractive.penalties import (
    HypothesisScore,
    Penalties,
    TrigramBlocker,
    coverage_penalty,
    length_penalty,
    sentence_ends,
)
from discsum.abstractive.scratch import make_tokenizer
from discsum.errors import InputError

# Words of the toy vocabulary, padding, end, and the maximum length of hypotheses.
WORDS, PAD, END, MOST = (2, 3, 4), 0, 1, 4


@pytest.fixture
def toy():
    """A model with a vocabulary of five tokens, and two texts."""
    torch.manual_seed(9)
    sizes = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "max_position_embeddings": 16}
    special = {"pad_token_id": PAD, "eos_token_id": END, "decoder_start_token_id": PAD, "forced_eos_token_id": None}
    config = CopyPegasusConfig(vocab_size=5, **sizes, **heads, **special, init_std=0.6, dropout=0.0, unk_token_id=2)
    model = CopyPegasusForConditionalGeneration(config).eval()
    torch.nn.init.constant_(model.copying.gate.bias, 0.5)
    return model, torch.tensor([[2, 3, 3, 4], [4, 2, 4, 3]])


@torch.no_grad()
def by_hand(model, text):
    """Return for each hypothesis its log probability, and its attention to the text summed over steps."""
    found = {}
    for hypothesis in hypotheses():
        total, attention = 0.0, torch.zeros(4)
        for step, token in enumerate(hypothesis):
            seen = []
            with observing(seen.append):
                ids = torch.tensor([[PAD, *hypothesis[:step]]])
                total += model(input_ids=text[None], decoder_input_ids=ids).logits[0, -1, token].item()
            attention += seen[0][0]
        found[hypothesis] = total, attention
    return found


def scored(hypothesis, total, attention, length, coverage):
    """Return `log P(Y) / lp(Y) - coverage cp(Y)`."""
    lp = (5 + len(hypothesis)) ** length / 6**length
    return total / lp - coverage * (sum(max(one.item(), 1.0) for one in attention) - 4)


def hypotheses():
    """Yield all hypotheses of at most `MOST` tokens: those that end, and those that are cut."""
    for count in range(MOST):
        for words in itertools.product(WORDS, repeat=count):
            yield (*words, END)
    yield from itertools.product(WORDS, repeat=MOST)


SETTINGS = [(0.9, None), (0.0, 5.0), (0.9, 5.0), (2.5, 1.0), (None, 0.5)]


def test_the_best_of_all_hypotheses_is_found(toy):
    model, texts = toy
    all_of_them = [by_hand(model, text) for text in texts]
    # As many beams as there are prefixes, so that the search is exhaustive.
    beams = 40
    options = {"num_beams": beams, "num_return_sequences": beams, "max_new_tokens": MOST}
    # Padding must not be generated.
    options |= {"bad_words_ids": [[PAD]], "output_scores": True, "return_dict_in_generate": True}
    for length, coverage in SETTINGS:
        with Penalties(length, coverage).applied(model, None, options) as given:
            output = model.generate(texts, **given)
        found, scores = output.sequences.view(2, beams, -1).tolist(), output.sequences_scores.view(2, beams).tolist()
        for hand, rows, own in zip(all_of_them, found, scores, strict=True):
            expected = {one: scored(one, *parts, length or 0.0, coverage or 0.0) for one, parts in hand.items()}
            assert cut(rows[0]) == max(expected, key=expected.get)
            assert own == pytest.approx([expected[cut(row)] for row in rows], abs=1e-4)
            assert own == sorted(own, reverse=True)


def cut(row):
    """Return a row's tokens without the first one and the padding."""
    tokens = row[1:]
    return tuple(tokens[: tokens.index(END) + 1] if END in tokens else tokens)


def test_penalties_change_what_is_written(toy):
    model, texts = toy
    found = set()
    for settings in ((None, None), (3.0, None), (None, 20.0)):
        with Penalties(*settings).applied(model, None, {"num_beams": 20, "max_new_tokens": 8}) as options:
            found.add(str(model.generate(texts, **options).tolist()))
    assert len(found) > 1


def test_a_length_penalty_of_one_beam_search_by_hand(inputs):
    """The model has no copy attention, and the search has other processors too."""
    model = make_bart(forced_eos_token_id=None)
    options = {"num_beams": 4, "num_return_sequences": 4, "min_new_tokens": 3, "max_new_tokens": 7}
    with Penalties(length=0.7).applied(model, None, options) as given:
        output = model.generate(**inputs.generate, **given, output_scores=True, return_dict_in_generate=True)
    for place, (ids, score) in enumerate(zip(output.sequences, output.sequences_scores, strict=True)):
        row = slice(place // 4, place // 4 + 1)
        end = 1 + next((one for one, token in enumerate(ids.tolist()) if one and token == 2), len(ids) - 1)
        with torch.no_grad():
            logits = model(inputs.ids[row], attention_mask=inputs.mask[row], decoder_input_ids=ids[None, :-1]).logits
        chosen = torch.log_softmax(logits, -1)[0].gather(1, ids[1:, None])[: end - 1, 0]
        assert score.item() == pytest.approx(chosen.sum().item() / ((4 + end) / 6) ** 0.7, abs=1e-4)


def test_formulas():
    assert length_penalty(1, 0.9) == 1.0
    assert length_penalty(7, 0.9) == pytest.approx(2**0.9)
    assert length_penalty(30, 0.0) == 1.0
    attention = torch.tensor([[0.2, 1.7, 1.1], [1.0, 0.9, 0.0]])
    torch.testing.assert_close(coverage_penalty(attention), torch.tensor([0.8, 0.0]))


def test_forbidden_tokens_stay_forbidden():
    score = HypothesisScore(0.9, 0.0, 2)
    scores = torch.tensor([[-1.0, -math.inf], [-1.0, -math.inf]])
    first = score(torch.tensor([[5], [5]]), scores)
    assert first.equal(scores)
    second = score(torch.tensor([[5, 0], [5, 0]]), scores)
    assert second[0].tolist() == pytest.approx([(-1.0 - 1.0) / (7 / 6) ** 0.9 + 1.0, -math.inf])


def test_impossible_prefixes_stay_impossible():
    score = HypothesisScore(0.9, 0.0, 2)
    score(torch.tensor([[5], [5]]), torch.tensor([[-1.0, -math.inf], [-1.0, -math.inf]]))
    found = score(torch.tensor([[5, 0], [5, 1]]), torch.full((2, 2), -1.0))
    assert found[0].isfinite().all() and found[1].isneginf().all()


def test_trigrams_are_written_once(inputs):
    model = make_bart(forced_eos_token_id=None)
    options = {"num_beams": 3, "max_new_tokens": 40, "min_new_tokens": 40}

    def repeated(**given):
        rows = model.generate(**inputs.generate, **given).tolist()
        return [
            len(found) - len(set(found)) for row in rows for found in [list(zip(row, row[1:], row[2:], strict=False))]
        ]

    assert max(repeated(**options)) > 0
    assert repeated(**options, logits_processor=LogitsProcessorList([TrigramBlocker()])) == [0, 0]
    # The same as with transformers' own blocking.
    blocked = model.generate(**inputs.generate, **options, logits_processor=LogitsProcessorList([TrigramBlocker()]))
    assert blocked.equal(model.generate(**inputs.generate, **options, no_repeat_ngram_size=3))


def test_trigrams_with_a_full_stop_may_be_repeated():
    ids = torch.tensor([[7, 8, 9, 7, 8]])
    assert TrigramBlocker()(ids, torch.zeros(1, 10))[0].isinf().nonzero().flatten().tolist() == [9]
    for stop in (7, 8, 9):
        assert not TrigramBlocker(frozenset({stop}))(ids, torch.zeros(1, 10)).isinf().any()
    assert not TrigramBlocker()(ids[:, :1], torch.zeros(1, 10)).isinf().any()


def test_full_stops():
    tokenizer = make_tokenizer(["A cat. A dog ."], 300)
    assert len(sentence_ends(tokenizer)) == 2
    assert {tokenizer.decode([one]).strip() for one in sentence_ends(tokenizer)} == {"."}


def test_penalties_that_rank_nothing(toy):
    model, _ = toy
    with pytest.raises(InputError, match=r"expected a search with at least 2 beams, .* got 1"):
        Penalties(0.9).check(model, {"num_beams": 1})
    with pytest.raises(InputError, match="expected a model with copy attention"):
        Penalties(0.9, 1.0).check(make_bart(), {"num_beams": 2})


def test_beams_of_a_configuration_count_too(toy):
    model, texts = toy
    beams = 3
    config = GenerationConfig(**model.generation_config.to_diff_dict() | {"num_beams": beams, "max_new_tokens": 6})
    found = []
    for asked in ({"num_beams": beams, "max_new_tokens": 6}, {"generation_config": config}):
        with Penalties(0.9).applied(model, None, asked) as options:
            assert next(iter(options["logits_processor"])).beams == beams
            found.append(model.generate(texts, **options))
    assert found[0].equal(found[1])
    for setting, message in (
        ({"do_sample": True}, "expected a beam search, got sampling"),
        ({"renormalize_logits": True}, "expected a search that does not renormalize scores"),
        ({"early_stopping": "never"}, "expected early_stopping true or false, got never"),
    ):
        with pytest.raises(InputError, match=message):
            Penalties(0.9).check(model, {"num_beams": 2, "generation_config": GenerationConfig(**setting)})


def test_settings_of_a_search():
    plain = Generation(beams=3)
    assert plain.options == {"truncate": False, "num_beams": 3}
    full = Generation(3, length_penalty=0.9, coverage_penalty=5.0, block_trigrams=True)
    assert full.options["penalties"] == Penalties(0.9, 5.0, True)
    assert str(full.signature) != str(plain.signature)
    assert "coverage-penalty:5" in str(full.signature)


@pytest.mark.parametrize(("length", "coverage"), [(0.0, None), (None, 0.0), (0.0, 0.0)])
def test_a_penalty_of_0_is_one(length, coverage, toy):
    """Hypotheses are ranked by their probabilities, whatever the model's own penalty is."""
    made = Generation(4, max_tokens=7, length_penalty=length, coverage_penalty=coverage)
    assert made.options["penalties"] == Penalties(length, coverage)
    assert "penalty:0" in str(made.signature)
    (model, texts), asked = toy, {"num_beams": 20, "max_new_tokens": 8}
    own, plain = (model.generate(texts, **asked, length_penalty=value) for value in (9.0, 0.0))
    assert not own.equal(plain)
    model.generation_config.length_penalty = 9.0
    with made.options["penalties"].applied(model, None, asked) as given:
        assert model.generate(texts, **given).equal(plain)


@pytest.mark.parametrize("value", [-1.0, 1e6, math.inf, math.nan])
def test_penalties_that_are_none(value):
    for make in (lambda: Generation(length_penalty=value), lambda: Penalties(value)):
        with pytest.raises(
            InputError, match=r"^length penalty \(--length-penalty\): expected a number in \[0, 10\], got"
        ):
            make()
    for make in (lambda: Generation(coverage_penalty=value), lambda: Penalties(None, value)):
        with pytest.raises(InputError, match=r"^coverage penalty .* expected a number in \[0, 1000\], got"):
            make()


def test_limits_may_be_equal():
    assert Generation(min_tokens=5, max_tokens=5).options["max_new_tokens"] == 5
