import numpy as np
import pytest
import torch

from discsum.abstractive.scratch import Scratch, make_model, make_tokenizer
from discsum.abstractive.training.encoding import noised
from discsum.document import Document, Span

SENTENCES = (
    "The river rose in the night.",
    "The miller stopped the wheel because the water was high.",
    "Nobody came to the bridge.",
    "It rained until the morning bell.",
    "The baker sold no bread that day.",
)


@pytest.fixture
def document():
    ends = np.cumsum([len(text) + 1 for text in SENTENCES]).tolist()
    spans = tuple(Span(end - 1 - len(text), end - 1) for text, end in zip(SENTENCES, ends, strict=True))
    return Document(" ".join(SENTENCES), spans)


def test_noise_shuffles_and_masks_what_it_takes(document):
    seen, masks = set(), 0
    for seed in range(60):
        found, target = noised(document, 12, "<mask>", np.random.default_rng(seed), shuffle=True)
        assert target in " ".join(document.text.split())
        assert len(target.split()) <= 12 + max(len(one.split()) for one in document.sentence_texts)
        left = [word for word in found.text.split() if word != "<mask>"]
        masks += found.text.count("<mask>")
        assert not set(left) - set(target.split())
        assert " ".join(found.sentence_texts) == found.text
        seen.add(found.text)
    assert masks > 20
    assert len(seen) > 20


def test_an_excerpt_ends_with_the_sentence_that_has_enough_words():
    spans = tuple(Span(start, start + 5) for start in range(0, 24, 6))
    document = Document("a b c d e f g h i j k l ".strip(), spans)
    for words, expected in ((3, 3), (4, 6), (6, 6), (12, 12), (50, 12)):
        _, target = noised(document, words, "<mask>", np.random.default_rng(2), shuffle=False)
        assert len(target.split()) == expected


def test_the_share_of_masked_words():
    sentence = "the river rose in the night and the old miller stopped the wheel because the water was very high ."
    step, count = len(sentence) + 1, 1000
    spans = tuple(Span(place * step, place * step + len(sentence)) for place in range(count))
    document = Document(" ".join([sentence] * count), spans)
    words = count * len(sentence.split())
    found, target = noised(document, words, "<mask>", np.random.default_rng(1), shuffle=False)
    left = sum(word != "<mask>" for word in found.text.split())
    # BART masks 30%.
    assert 0.21 < 1 - left / len(target.split()) < 0.24


def test_a_model_with_random_weights_begins_as_wide_as_it_is():
    tokenizer = make_tokenizer(["The river rose."] * 3, 300)
    model = make_model(Scratch(vocabulary=300, width=64, layers=1, heads=2, inner=32, positions=50), tokenizer)
    assert model.config.max_position_embeddings == 50
    assert model.get_encoder().layers[0].fc1.weight.std().item() == pytest.approx(64**-0.5, rel=0.1)
    positions = model.get_decoder().embed_positions.weight
    assert positions.std().item() == pytest.approx(64**-0.5, rel=0.2)
    # The product of neighbouring positions is the same everywhere.
    products = (positions[1:] * positions[:-1]).sum(dim=1)
    assert torch.allclose(products, products[0].expand_as(products), atol=1e-4)


def test_noise_without_shuffling_keeps_the_order(document):
    for seed in range(20):
        found, target = noised(document, 12, "<mask>", np.random.default_rng(seed), shuffle=False)
        words = iter(target.split())
        assert all(word in words for word in found.text.split() if word != "<mask>")
