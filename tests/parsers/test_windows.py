import numpy as np
import pytest
import tiny
import torch
from hypothesis import given
from hypothesis import strategies as st

from discsum.errors import InputError
from discsum.parsers.encoder import WindowEncoder
from discsum.parsers.loading import load_parser
from discsum.parsers.network_config import NetworkConfig
from discsum.parsers.subwords import cut_windows, split_subwords


@st.composite
def cuts(draw):
    lengths = draw(st.lists(st.integers(0, 300), min_size=1, max_size=4))
    size = draw(st.integers(6, 60))
    overlap = draw(st.integers(0, (size - 2) // 2))
    shifts = draw(st.none() | st.lists(st.integers(0, size // 2), min_size=len(lengths), max_size=len(lengths)))
    return lengths, size, overlap, shifts


@given(cuts())
def test_windows_keep_every_subword_once_with_context(case):
    lengths, size, overlap, shifts = case
    kept = [[] for _ in lengths]
    for window in cut_windows(lengths, size, overlap, shifts):
        length = lengths[window.document]
        assert 0 <= window.start <= window.keep_start < window.keep_end <= window.end <= length
        assert window.end - window.start <= size
        for place in (window.keep_start, window.keep_end - 1):
            assert place - window.start >= min(place, overlap // 2)
            assert window.end - 1 - place >= min(length - 1 - place, overlap // 2)
        kept[window.document].extend(range(window.keep_start, window.keep_end))
    assert kept == [list(range(length)) for length in lengths]


def test_windows_are_equally_long_but_for_a_shifted_first_one():
    found = [(window.start, window.end) for window in cut_windows([50, 50, 9], 20, 4, [0, 7, 7])]
    assert found == [(0, 20), (15, 35), (30, 50), (0, 13), (9, 26), (21, 38), (33, 50), (0, 9)]


@given(cuts())
def test_windows_are_as_few_as_may_be(case):
    lengths, size, overlap, _ = case
    windows = cut_windows(lengths, size, overlap)
    for document, length in enumerate(lengths):
        sizes = [window.end - window.start for window in windows if window.document == document]
        assert len(set(sizes)) <= 1
        # This many windows cover the text; one fewer would not.
        assert len(sizes) * (size - overlap) + overlap >= length
        assert len(sizes) == min(1, length) or (len(sizes) - 1) * (size - overlap) + overlap < length


def test_an_overlap_that_leaves_windows_no_room_is_refused():
    with pytest.raises(InputError, match="cohesion: expected a whole number of at least 0, got -1"):
        NetworkConfig(cohesion=-1)
    with pytest.raises(InputError, match=r"overlap: expected 0 to 14 subwords .* 32, got 15"):
        NetworkConfig(window=32, overlap=15)


@pytest.fixture(scope="module")
def encoder():
    return WindowEncoder(tiny.make_encoder(), tiny.special_indices(), window=24, overlap=6)


TEXTS = ["the old mill", "", tiny.ARTICLE, "a", "the water was cold " * 11, "rain"]


@torch.inference_mode()
def test_vectors_do_not_depend_on_the_other_documents(encoder, tokenizer):
    documents = [split_subwords(text, tokenizer) for text in TEXTS]
    together = encoder(documents)
    for document, vectors in zip(documents, together, strict=True):
        assert vectors.shape == (len(document), 32)
        torch.testing.assert_close(vectors, encoder([document])[0], atol=1e-5, rtol=0)


@torch.inference_mode()
def test_a_short_text_is_one_plain_pass(encoder, tokenizer):
    before, after, _ = tiny.special_indices()
    words = split_subwords("When the river rose, the miller stopped", tokenizer)
    ids = torch.tensor([[before, *words.ids, after]])
    expected = encoder.encoder(input_ids=ids).last_hidden_state[0]
    torch.testing.assert_close(encoder([words])[0], expected[1:-1], atol=1e-5, rtol=0)
    torch.testing.assert_close(encoder.first_tokens([words])[0], expected[0], atol=1e-5, rtol=0)


@torch.inference_mode()
def test_first_tokens_of_many_units(encoder, tokenizer):
    units = [split_subwords(text, tokenizer) for text in TEXTS * 5]
    together = encoder.first_tokens(units)
    assert together.shape == (len(units), 32)
    for row, unit in zip(together[: len(TEXTS)], units, strict=False):
        torch.testing.assert_close(row, encoder.first_tokens([unit])[0], atol=1e-5, rtol=0)


@torch.inference_mode()
def test_windows_only_change_what_is_far(encoder, tokenizer):
    words = split_subwords("the water was cold and the mill was old " * 20, tokenizer)
    plain, shifted = encoder([words])[0], encoder([words], [5])[0]
    assert plain.shape == shifted.shape == (len(words), 32)
    assert np.isfinite(shifted.numpy()).all()
    # Windows that are cut elsewhere give subwords other context.
    assert not torch.equal(plain, shifted)


@torch.inference_mode()
@pytest.mark.parametrize(("precision", "far"), [("bf16", 0.2), ("fp16", 0.03)])
def test_the_encoder_alone_is_less_precise(parser_folder, precision, far):
    whole, part = load_parser(parser_folder), load_parser(parser_folder, precision=precision)
    assert load_parser(parser_folder) is whole
    words = [split_subwords(tiny.ARTICLE, whole.tokenizer)]
    (one,), (other,) = (parser.network.encoder(words) for parser in (whole, part))
    assert other.dtype == torch.float32
    assert 0 < (one - other).abs().max() < far
    assert {parameter.dtype for parameter in part.network.parameters()} == {torch.float32}
    assert part.parse(tiny.ARTICLE).tree is not None
