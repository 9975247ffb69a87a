"""Attention to chunks and their words: what the variants have in common, and what they read."""

import pytest
import torch
from small_coarse_to_fine import Texts, copy_weights, make_model

from discsum.abstractive.coarse_to_fine.grid import ChunkGrid, rows_of_words
from discsum.errors import InputError

KINDS = [
    {"coarse": coarse, "positions": positions, "chunks": chunks}
    for coarse in ("conv", "bow")
    for positions in (False, True)
    for chunks in ("3x4", "sentences")
]
NAMES = ["-".join(map(str, kind.values())) for kind in KINDS]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=NAMES)


def run(model, texts, **options):
    return model(**texts.of(model), labels=texts.labels, output_attentions=True, **options)


@pytest.mark.parametrize("padding", [True, False])
@pytest.mark.parametrize("coarse", ["conv", "bow"])
def test_one_chunk_is_standard_attention(coarse, padding):
    texts = Texts()
    hier = make_model("hier", "1x12", coarse=coarse, attend_padding=padding)
    standard = copy_weights(hier, make_model("standard", "3x4", attend_padding=padding))
    c2f = copy_weights(hier, make_model("c2f", "1x12", coarse=coarse, attend_padding=padding))
    found = [run(model, texts) for model in (standard, hier, c2f)]
    for other in found[1:]:
        torch.testing.assert_close(other.logits, found[0].logits)
        torch.testing.assert_close(other.word_attentions, found[0].word_attentions)


@every_kind
def test_attention_sums_to_one_over_words_and_the_chunks(kind):
    texts = Texts()
    for variant in ("standard", "hier", "c2f"):
        output = run(make_model(variant, **kind), texts)
        whole = output.word_attentions.sum(2) + output.padding_attentions
        torch.testing.assert_close(whole, torch.ones_like(whole))
        assert (output.word_attentions >= 0).all()
        sums = output.coarse_attentions.sum(2)
        torch.testing.assert_close(sums, torch.ones_like(sums))
        if kind["chunks"] == "sentences":
            torch.testing.assert_close(output.padding_attentions, torch.zeros_like(whole), atol=1e-6, rtol=0)


@pytest.mark.parametrize("chunks", ["3x4", "sentences"])
def test_standard_attention_to_chunks_is_that_to_their_words(chunks):
    texts = Texts()
    output = run(make_model("standard", chunks), texts)
    owners = texts.chunks if chunks == "sentences" else rows_of_words(texts.mask, (3, 4))
    for chunk in range(3):
        expected = (output.word_attentions[0] * (owners[0] == chunk)).sum(1)
        torch.testing.assert_close(output.coarse_attentions[0, :, chunk], expected)


@every_kind
def test_hierarchical_attention_is_the_product_of_both_levels(kind):
    """Compare with the formula, word by word."""
    texts, model = Texts(), make_model("hier", **kind)
    encoded = model.encoder(texts.ids, texts.mask, texts.of(model).get("chunk_ids"))
    query = torch.randn(3, 8)
    reading = model.decoder.attention(query, encoded.last_hidden_state, encoded.memory, soft=True)
    attention, states, grid = model.decoder.attention, encoded.memory.all(), encoded.memory.grid
    pads = model.config.reads_padding
    for row in range(3):
        chunks = [place for place in range(grid.counts.shape[1]) if pads or grid.counts[row, place]]
        scores = torch.stack([encoded.last_hidden_state[row, i] @ attention.coarse.weight @ query[row] for i in chunks])
        context = torch.zeros(8)
        for weight, i in zip(scores.softmax(0), chunks, strict=True):
            words = range(grid.words.shape[2] if pads else int(grid.counts[row, i]))
            fine = torch.stack([states[row, i, j] @ attention.fine.weight @ query[row] for j in words]).softmax(0)
            context += sum(weight * fine[j] * states[row, i, j] for j in words)
        torch.testing.assert_close(reading.context[row], context)


@every_kind
def test_one_hot_attention_is_hierarchical_attention_to_that_chunk(kind):
    texts, c2f = Texts(1), make_model("c2f", **kind)
    hier = copy_weights(c2f, make_model("hier", **kind))
    for chunk in range(3):
        chosen = run(c2f, texts, choices=torch.full((1, 4, 1), chunk))
        # Only mask the other chunks in the hierarchical model.
        original = hier.decoder.attention._coarse_scores

        def forced(query, vectors, copies, memory, chunk=chunk, original=original):
            scores = original(query, vectors, copies, memory)
            others = torch.arange(scores.shape[1]) != chunk
            return scores.masked_fill(others, float("-inf"))

        hier.decoder.attention._coarse_scores = forced
        output = run(hier, texts)
        hier.decoder.attention._coarse_scores = original
        torch.testing.assert_close(output.logits, chosen.logits)
        torch.testing.assert_close(output.word_attentions, chosen.word_attentions)


@every_kind
def test_the_best_chunk_is_read_and_no_other(kind):
    texts, model = Texts(), make_model("c2f", **kind)
    output = run(model, texts)
    assert torch.equal(output.choices[..., 0], output.coarse_attentions.argmax(2))
    chunks = texts.chunks if kind["chunks"] == "sentences" else rows_of_words(texts.mask, (3, 4))
    outside = (chunks[:, None] != output.choices) & (chunks >= 0)[:, None]
    assert (output.word_attentions[outside] == 0).all()


@pytest.mark.parametrize("samples", [2, 3, 7])
def test_several_chunks_are_weighted_by_their_attention(samples):
    """With at least as many samples as chunks, all are read, as by the hierarchical model."""
    texts, model = Texts(), make_model("c2f", samples=samples)
    output = run(model, texts)
    assert output.choices.shape[2] == min(samples, 3)
    kept = torch.zeros_like(output.coarse_attentions).scatter(2, output.choices, 1.0) * output.coarse_attentions
    expected = kept / kept.sum(2, keepdim=True)
    rows = rows_of_words(texts.mask, (3, 4))
    for chunk in range(3):
        # Without padding, attention to a chunk's words sums to the attention to the chunk.
        found = (output.word_attentions[0] * (rows[0] == chunk)).sum(1)
        torch.testing.assert_close(found, expected[0, :, chunk])
    if samples > 2:
        hier = copy_weights(model, make_model("hier"))
        torch.testing.assert_close(run(hier, texts).logits, output.logits)


def test_many_samples_tend_to_hierarchical_attention():
    texts = Texts()
    distances = []
    for samples in (2, 50, 20_000):
        model = make_model("c2f", samples=samples, init_range=0.5).train()
        hier = copy_weights(model, make_model("hier", init_range=0.5))
        torch.manual_seed(1)
        distances.append((run(model, texts).word_attentions - run(hier, texts).word_attentions).abs().max().item())
    assert distances[0] > distances[1] > distances[2]
    assert distances[2] < 0.02


@every_kind
@pytest.mark.parametrize("variant", ["standard", "hier", "c2f"])
def test_a_document_alone_is_read_as_in_a_batch(variant, kind):
    texts, model = Texts(), make_model(variant, samples=2, **kind)
    together = run(model, texts)
    for row, count in enumerate(texts.counts):
        alone = {name: value[row : row + 1, :count] for name, value in texts.of(model).items()}
        # With more padding too, on both sides.
        padded = {
            name: torch.nn.functional.pad(value, (2, 3), value=-1 if name == "chunk_ids" else 0)
            for name, value in alone.items()
        }
        for given in (alone, padded):
            output = model(**given, labels=texts.labels[row : row + 1])
            torch.testing.assert_close(output.logits, together.logits[row : row + 1])


@every_kind
def test_chunks_that_are_encoded_when_they_are_read_are_those_that_were_encoded_before(kind):
    texts, model = Texts(), make_model("c2f", samples=2, **kind)
    arguments = (texts.ids, texts.mask, texts.of(model).get("chunk_ids"))
    outputs, counts, gradients = [], [], []
    for whole in (True, False):
        encoded = model.encoder(*arguments, whole=whole)
        output = model(encoder_outputs=encoded, labels=texts.labels)
        outputs.append(output.logits)
        counts.append(encoded.memory.encoded)
        model.zero_grad()
        output.loss.backward()
        gradients.append(model.encoder.lstm.weight_hh_l0.grad.clone())
    torch.testing.assert_close(outputs[0], outputs[1])
    torch.testing.assert_close(gradients[0], gradients[1])
    grid = encoded.memory.grid
    assert torch.equal(counts[0], (grid.counts > 0).sum(1))
    chosen = torch.zeros_like(grid.counts, dtype=torch.bool)
    chosen.scatter_(1, output.choices.flatten(1), value=True)
    # The last chunk is always encoded, because its state initialises the decoder.
    chosen.scatter_(1, grid.last[:, None], value=True)
    assert torch.equal(counts[1], (chosen & (grid.counts > 0)).sum(1))


def test_padding_has_states_of_zero_and_is_attended_to():
    texts = Texts()
    model = make_model("hier")
    encoded = model.encoder(texts.ids, texts.mask)
    states, mask = encoded.memory.all(), encoded.memory.grid.mask
    assert (states[~mask] == 0).all() and (states[mask].abs().sum(1) > 0).all()
    output = run(model, texts)
    assert (output.padding_attentions[0] < 1e-6).all() and (output.padding_attentions[1:] > 0.01).all()


@pytest.mark.parametrize(
    ("chunk_ids", "shape", "message"),
    [
        ([[0, 0, 1], [-1, -1, -1]], None, "document 1: expected at least one word in a chunk, got none"),
        (
            [[1, 0, 1], [0, 0, 0]],
            None,
            r"document 0: expected each chunk to be one run of tokens, in order",
        ),
        ([[0, 1, 2], [0, 0, 0]], (2, 4), "expected at most 2 chunks of 4 words, got 3 of up to 3"),
        ([[0, 1, 1], [0, 0, 0]], (2, 2), "expected at most 2 chunks of 2 words, got 2 of up to 3"),
    ],
)
def test_chunks_that_are_none(chunk_ids, shape, message):
    with pytest.raises(InputError, match=message):
        ChunkGrid.of(torch.ones(2, 3, dtype=torch.long), torch.tensor(chunk_ids), shape)


def test_the_grid_has_every_word_in_its_place():
    ids = torch.tensor([[0, 11, 12, 13, 14, 15, 0], [21, 22, 0, 0, 0, 0, 0]])
    chunks = torch.tensor([[-1, 0, 0, 2, 2, 2, -1], [1, 1, -1, -1, -1, -1, -1]])
    grid = ChunkGrid.of(ids, chunks)
    assert grid.words.tolist() == [[[11, 12, 0], [0, 0, 0], [13, 14, 15]], [[0, 0, 0], [21, 22, 0], [0, 0, 0]]]
    assert grid.counts.tolist() == [[2, 0, 3], [0, 2, 0]]
    assert grid.last.tolist() == [2, 1]
    flat = grid.words.flatten(1)
    inside = grid.places >= 0
    assert torch.equal(flat.gather(1, grid.places.clamp(min=0))[inside], ids[inside])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variant": "soft"}, "variant: expected one of standard, hier, c2f, got 'soft'"),
        ({"coarse": "lstm"}, "coarse: expected one of conv, bow, got 'lstm'"),
        ({"samples": 0}, "samples: expected at least 1 chunk, got 0"),
        ({"chunks": "10x0"}, "chunks: expected sentences, subtrees, or rows of words such as 10x40.*got '10x0'"),
        ({"chunks": "sentences", "attend_padding": True}, "attend_padding: cannot be used with chunks sentences"),
    ],
)
def test_models_that_are_none(changes, message):
    with pytest.raises(InputError, match=message):
        make_model(**changes)


def test_a_text_that_does_not_fit():
    model = make_model("c2f", "2x3")
    with pytest.raises(
        InputError, match=r"expected at most 6 words, 2 rows of 3, got 7; truncate the text \(--truncate"
    ):
        model(torch.ones(1, 7, dtype=torch.long), labels=torch.ones(1, 2, dtype=torch.long))
    ids = torch.ones(1, 6, dtype=torch.long)
    for changes, message in (
        ({"attention_mask": ids[:, :4]}, r"attention_mask: expected the shape \(1, 6\), got \(1, 4\)"),
        ({"chunk_ids": ids[:, :4] * 0}, r"chunk_ids: expected the shape \(1, 6\), got \(1, 4\)"),
        (
            {"chunk_ids": torch.tensor([[0, 0, 0, 1, 1, 1]]), "attention_mask": torch.tensor([[1, 1, 1, 1, 1, 0]])},
            "chunk_ids: expected -1 for tokens that attention_mask leaves out, got a chunk",
        ),
    ):
        with pytest.raises(InputError, match=message):
            model(ids, labels=ids[:, :2], **changes)
    with pytest.raises(InputError, match="expected the chunk of each token for chunks sentences"):
        make_model(chunks="sentences")(torch.ones(1, 7, dtype=torch.long), labels=torch.ones(1, 2, dtype=torch.long))


def test_chunks_that_come_one_by_one_in_any_mode_are_all_kept():
    texts, model = Texts(), make_model("c2f", "12x1")
    encoded = [model.encoder(**texts.of(model), whole=whole).memory for whole in (True, False)]
    whole, lazy = encoded
    modes = [torch.inference_mode, torch.no_grad, torch.enable_grad]
    order = torch.randperm(12, generator=torch.Generator().manual_seed(1)).tolist()
    for place, chunk in enumerate(order * 2):
        with modes[place % 3]():
            documents, chunks = torch.arange(3), torch.full((3, 1), chunk)
            torch.testing.assert_close(lazy.read(documents, chunks), whole.read(documents, chunks))
    assert lazy.encoded.tolist() == list(texts.counts)
    with torch.no_grad():
        torch.testing.assert_close(lazy.all(), whole.all())
