"""Selectors against definitions written out, and which parameters each loss trains."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny_bart import Inputs, make_bart
from transformers import BartConfig, BartForConditionalGeneration

from discsum.abstractive.sparse import sparsify
from discsum.abstractive.sparse.selectors import SELECTORS, _learned, learns, make_selectors
from discsum.abstractive.sparse.selectors.attention_pooling import AttentionPoolingSentences
from discsum.abstractive.sparse.selectors.base import AttentionShape, EncodedTokens, Queries, Selector
from discsum.abstractive.sparse.selectors.gru import GRUSentences
from discsum.errors import InputError

SHAPE = AttentionShape(32, 4, 8)


@pytest.fixture
def asked():
    """Random queries, keys and states over the sentences of two documents."""
    generator = torch.Generator().manual_seed(1)
    layout = Inputs().layout
    hidden = torch.randn(2, 3, 32, generator=generator)
    projected = torch.randn(2, 4, 3, 8, generator=generator)
    states = torch.randn(2, 22, 32, generator=generator)
    weight = torch.randn(32, 32, generator=generator) / 32**0.5
    return Queries(hidden, projected), EncodedTokens(
        states, layout, lambda some: (some @ weight).unflatten(-1, (4, 8)).transpose(1, 2)
    )


@pytest.mark.parametrize(
    ("logits", "message"),
    [
        # Broadcasting would average over documents.
        (torch.zeros(2, 3, 5), r"expected logits of shape .*here \(2, 4 or 1, 3, 5\), got \(2, 3, 5\)"),
        (torch.zeros(2, 1, 3, 1), r"expected logits of shape .*, got \(2, 1, 3, 1\)"),
        (torch.full((2, 4, 3, 5), torch.nan), "expected logits that are numbers, got NaN"),
    ],
)
def test_logits_that_are_none_name_the_selector(asked, logits, message):
    class Wrong(Selector):
        def summarise(self, source):
            return ()

        def logits(self, queries, summary, layout):
            return logits

    with pytest.raises(InputError, match=f"selector Wrong: {message}"):
        Wrong(SHAPE).scores(asked[0], (), asked[1].layout)


def test_selectors_with_parameters_learn(monkeypatch):
    class Recency(SELECTORS["mean_key"]):
        def __init__(self, shape, bias: float = 1.0):
            super().__init__(shape)
            self.bias = torch.nn.Parameter(torch.tensor(bias))

    class Sized(SELECTORS["mean_key"]):
        def __init__(self, shape, size: int):
            super().__init__(shape)
            self.bias = torch.nn.Parameter(torch.randn(size))

    monkeypatch.setattr(SELECTORS, "registered", {})
    SELECTORS.register("recency", Recency)
    SELECTORS.register("sized", Sized)
    before = torch.get_rng_state()
    assert [name for name in ("recency", "gru", "mean_key", "all") if learns(name, {})] == ["recency", "gru"]
    # A required option that is missing is told when the selector is made.
    assert (learns("sized", {"size": 3}), learns("sized", {})) == (True, False)
    assert torch.get_rng_state().equal(before)


def test_padded_sentences_may_have_no_number(asked):
    class Means(SELECTORS["mean_key"]):
        def logits(self, queries, summary, layout):
            found = super().logits(queries, summary, layout)
            return found.masked_fill(~layout.mask[:, None, None, :], torch.nan)

    queries, source = asked
    assert not source.layout.mask.all()
    plain, means = SELECTORS["mean_key"](SHAPE), Means(SHAPE)
    found = [one.scores(queries, one.summarise(source), source.layout) for one in (plain, means)]
    torch.testing.assert_close(*found)


def of(name, asked, **options):
    """Return a selector's logits and scores."""
    queries, source = asked
    selector = SELECTORS[name](SHAPE, **options)
    summary = selector.summarise(source)
    return selector.logits(queries, summary, source.layout), selector.scores(queries, summary, source.layout)


def by_hand(asked, rate):
    """Return `rate(q, keys of a sentence)` for every document, head, query and sentence; nan where there is none."""
    queries, source = asked
    found = torch.full((2, 4, 3, 5), float("nan"))
    for document, head, query, sentence in np.ndindex(found.shape):
        inside = source.layout.owner[document] == sentence
        if inside.any():
            keys = source.keys[document, head, inside]
            found[document, head, query, sentence] = rate(queries.projected[document, head, query], keys)
    return found


def assert_alike(found, expected):
    there = ~expected.isnan()
    torch.testing.assert_close(found.expand_as(expected)[there], expected[there], atol=1e-4, rtol=1e-4)
    assert torch.isfinite(found).all()


@pytest.mark.parametrize(
    ("feature_map", "phi"),
    [("elu+1", lambda x: torch.where(x > 0, x + 1, x.exp())), ("exp", torch.exp), ("relu", lambda x: x.clamp_min(0))],
)
def test_model_free(asked, feature_map, phi):
    expected = by_hand(asked, lambda query, keys: phi(query) @ phi(keys).sum(0))
    logits, scores = of("model_free", asked, feature_map=feature_map)
    assert_alike(logits.exp(), expected.clamp_min(1e-30))
    assert_alike(scores, expected.mean(dim=1))


def test_mean_key(asked):
    logits, _ = of("mean_key", asked)
    assert_alike(logits, by_hand(asked, lambda query, keys: query @ keys.mean(0) + np.log(len(keys))))


def test_mean_variance(asked):
    def rate(query, keys):
        return query @ keys.mean(0) + (query**2) @ keys.var(0, correction=0) / 2 + np.log(len(keys))

    assert_alike(of("mean_variance", asked)[0], by_hand(asked, rate))


def test_min_max_is_a_bound(asked):
    logits, _ = of("min_max", asked)
    assert_alike(logits, by_hand(asked, lambda q, keys: torch.maximum(q * keys.amin(0), q * keys.amax(0)).sum()))
    largest = by_hand(asked, lambda query, keys: (keys @ query).max())
    there = ~largest.isnan()
    assert (logits[there] >= largest[there] - 1e-5).all()


def test_ideal_is_attention(asked):
    queries, source = asked
    whole = by_hand(asked, lambda query, keys: (keys @ query).exp().sum())
    expected = whole / whole.nansum(dim=-1, keepdim=True)
    logits, scores = of("ideal", asked)
    assert_alike(logits.exp(), expected)
    assert_alike(scores, expected.mean(dim=1))
    log = SELECTORS["ideal"](SHAPE).log_probabilities(queries, (source.keys,), source.layout)
    torch.testing.assert_close(log.exp().sum(-1), torch.ones(2, 4, 3))


def test_random_is_drawn_anew(asked):
    selector = SELECTORS["random"](SHAPE, seed=4).eval()
    one, two = (selector.scores(asked[0], (), asked[1].layout) for _ in range(2))
    again = SELECTORS["random"](SHAPE, seed=4).eval().scores(asked[0], (), asked[1].layout)
    other = SELECTORS["random"](replace(SHAPE, layer=1), seed=4).eval().scores(asked[0], (), asked[1].layout)
    assert not one.equal(other)
    assert not one.equal(two)
    assert one.equal(again)
    # Every validation draws the same, also in a resumed run.
    assert one.equal(selector.train().eval().scores(asked[0], (), asked[1].layout))


def test_the_gru_reads_each_sentence_alone(asked):
    source = asked[1]
    encoder = GRUSentences(32, dropout=0.0).eval()
    found = encoder(source.states, source.layout)
    for document, sentence in source.layout.mask.nonzero().tolist():
        inside = source.states[document, source.layout.owner[document] == sentence]
        states, _ = encoder.gru(inside[None])
        expected = encoder.output(torch.cat([states[0, -1, :32], states[0, 0, 32:]]))
        torch.testing.assert_close(found[document, sentence], expected, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("kind", [GRUSentences, AttentionPoolingSentences])
def test_sentences_of_other_lengths_are_padded_apart(kind, asked, monkeypatch):
    source = asked[1]
    encoder = kind(32).eval()
    together = encoder(source.states, source.layout)
    monkeypatch.setattr(_learned, "PADDED", 0)
    sizes, encoded = [], encoder.encoded
    monkeypatch.setattr(encoder, "encoded", lambda rows, lengths: sizes.append(len(rows)) or encoded(rows, lengths))
    torch.testing.assert_close(encoder(source.states, source.layout), together, atol=1e-6, rtol=1e-5)
    assert len(sizes) > 1 and sum(sizes) == int(source.layout.mask.sum())


def test_parameters_of_the_papers_approximator():
    with torch.device("meta"):
        model = BartForConditionalGeneration(BartConfig())
    before = sum(parameter.numel() for parameter in model.parameters())
    with torch.device("meta"):
        shapes = [AttentionShape(1024, 16, 64)] * 12
        selectors, shared = make_selectors("gru", shapes)
    added = sum(parameter.numel() for module in (*selectors, shared) for parameter in module.parameters())
    assert before == 406_291_456
    assert added == 58_770_432


def losses(model, inputs):
    """Return the cross-entropy, and the divergence of the selectors from the attention they predict (Eq 11)."""
    found = []
    with model.sparse.using(observer=found.append):
        output = model(input_ids=inputs.ids, attention_mask=inputs.mask, labels=inputs.decoder, layout=inputs.layout)
    divergence = sum(
        torch.nn.functional.kl_div(
            one.predicted.masked_fill(~inputs.layout.mask[:, None, None], 0.0),
            one.attention.detach(),
            reduction="sum",
        )
        for one in found
    )
    assert [one.layer for one in found] == [0, 1]
    return output.loss, divergence


@pytest.mark.parametrize("name", ["gru", "attention_pooling"])
def test_what_each_loss_reaches(name):
    """Eq 13 and 14: the cross-entropy does not train the approximator, the divergence trains all parameters."""
    inputs = Inputs()
    gradients = []
    for place in range(2):
        model = sparsify(make_bart(), selector=name, r=2)
        losses(model, inputs)[place].backward()
        own = [*model.sentence_encoder.parameters()]
        own += [p for layer in model.get_decoder().layers for p in layer.encoder_attn.selector.parameters()]
        rest = [p for n, p in model.named_parameters() if "selector" not in n and "sentence_encoder" not in n]
        gradients.append([sum(float(p.grad.abs().sum()) for p in part if p.grad is not None) for part in (own, rest)])
    assert gradients[0][0] == 0.0
    assert gradients[0][1] > 0
    assert min(gradients[1]) > 0


def test_attention_over_sentences_sums_to_one():
    inputs, found = Inputs(), []
    model = sparsify(make_bart(), selector="mean_key", r=2)
    with model.sparse.using(observer=found.append), torch.no_grad():
        model(**inputs.forward, layout=inputs.layout)
    for one in found:
        torch.testing.assert_close(one.attention.sum(-1), torch.ones(2, 4, 6))
        assert (one.kept.sum(-1) == 2).all()
        assert not (one.kept & ~inputs.layout.mask[:, None]).any()


def test_the_prior_draws_to_central_sentences(asked):
    layout = replace(asked[1].layout, prior=torch.tensor([[0.1, 0.1, 0.6, 0.1, 0.1], [0.2, 0.7, 0.1, 0, 0]]))
    source = replace(asked[1], layout=layout)
    plain = make_selectors("mean_key", [SHAPE])[0][0]
    expected = plain.log_probabilities(asked[0], plain.summarise(source), layout)
    for beta in (0.0, 2.0):
        selector = make_selectors("mean_key", [SHAPE], beta=beta)[0][0]
        found = selector.logits(asked[0], selector.summarise(source), layout)
        shifted = expected + beta * layout.prior.log()[:, None, None]
        there = layout.mask[:, None, None].expand_as(found)
        torch.testing.assert_close(found[there], shifted[there])


def test_the_prior_learns_in_half_precision(inputs):
    """Sentences that a document lacks have a prior of 0, and half precision cannot hold the value it is clamped to."""
    prior = torch.tensor([[0.1, 0.1, 0.6, 0.1, 0.1], [0.2, 0.7, 0.1, 0, 0]])
    layout = replace(inputs.layout, prior=prior)
    model = sparsify(make_bart(), selector="mean_key", r=2, beta=0.5)
    found = []
    with model.sparse.using(observer=found.append), torch.autocast("cpu", torch.float16):
        model(**inputs.forward, layout=layout)
        mask = layout.mask[:, None, None].expand_as(found[0].predicted)
        sum(one.predicted[mask].float().sum() for one in found).backward()
    for layer in model.get_decoder().layers:
        assert torch.isfinite(layer.encoder_attn.selector.beta.grad)


@pytest.mark.parametrize("seed", ["abc", 1.5, -1, 2**70])
def test_seeds_that_are_none(seed):
    with pytest.raises(InputError, match="seed: expected a whole number"):
        make_selectors("random", [SHAPE], seed=seed)


@pytest.mark.parametrize(
    ("selector", "options", "message"),
    [
        ("gru", {"layers": 0}, "layers: expected a whole number in [1, 100], got 0"),
        ("gru", {"layers": "two"}, "layers: expected a whole number in [1, 100], got 'two'"),
        ("gru", {"layers": 10**6}, "layers: expected a whole number in [1, 100], got 1000000"),
        ("gru", {"dropout": "0.1"}, "dropout: expected a number in [0, 1), got '0.1'"),
        ("model_free", {"feature_map": ["exp"]}, "feature_map: expected a word, got ['exp']"),
    ],
    ids=str,
)
def test_options_that_are_none(selector, options, message):
    with pytest.raises(InputError, match=re.escape(f"selector {selector}: {message}")):
        make_selectors(selector, [SHAPE], **options)


@pytest.mark.parametrize("beta", [float("nan"), float("inf"), "much"])
def test_weights_of_the_prior_that_are_none(beta):
    with pytest.raises(InputError, match="beta: expected a finite number"):
        make_selectors("mean_key", [SHAPE], beta=beta)


def test_chance_has_no_prior():
    with pytest.raises(InputError, match=r"beta: expected none for the selector random, .* got 1\.0"):
        make_selectors("random", [SHAPE], beta=1.0)
