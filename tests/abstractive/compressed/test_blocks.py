"""Blocks against the paper's pseudocode, and properties that hold for every text."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from discsum.abstractive.compressed.blocks import BlockTables, split
from discsum.abstractive.sparse import SentenceLayout

LENGTHS = st.lists(st.integers(1, 9), min_size=1, max_size=12)


@pytest.mark.parametrize("tokens", [12, 24, 120])
def test_three_blocks_are_the_papers(tokens):
    found = split(tokens, 3)
    quarter, twelfth = tokens // 4, tokens // 12
    assert [(one.first_key, one.last_key) for one in found] == [
        (0, 2 * quarter),
        (quarter, 3 * quarter),
        (2 * quarter, 4 * quarter),
    ]
    # The slice of each block's output that is kept, relative to the block's start.
    kept = [(one.first_query - one.first_key, one.last_query - one.first_key) for one in found]
    assert kept == [(i * twelfth, (i + 4) * twelfth) for i in range(3)]


@given(st.integers(0, 200), st.integers(2, 12))
def test_every_token_is_one_query_that_reads_itself(tokens, blocks):
    found = split(tokens, blocks)
    assert [place for one in found for place in range(one.first_query, one.last_query)] == list(range(tokens))
    assert {one.last_key - one.first_key for one in found} == {-(-tokens // (blocks - 1))}
    for one in found:
        assert 0 <= one.first_key <= one.first_query <= one.last_query <= one.last_key <= tokens
    assert max(one.last_query - one.first_query for one in found) <= -(-tokens // blocks)


def test_two_blocks_read_everything():
    assert [(one.first_key, one.last_key) for one in split(11, 2)] == [(0, 11), (0, 11)]


@given(LENGTHS, st.integers(2, 8))
def test_with_borders_every_token_reads_its_unit(lengths, blocks):
    borders = [sum(lengths[:place]) for place in range(len(lengths) + 1)]
    found, plain = split(borders[-1], blocks, borders), split(borders[-1], blocks)
    assert [place for one in found for place in range(one.first_query, one.last_query)] == list(range(borders[-1]))
    for one, other in zip(found, plain, strict=True):
        assert {one.first_query, one.last_query, one.first_key, one.last_key} <= set(borders)
        assert one.first_key <= one.first_query <= one.last_query <= one.last_key
        # Borders only extend a block, by less than a unit on each side.
        assert other.first_key - max(lengths) < one.first_key <= other.first_key
        assert other.last_key <= one.last_key < other.last_key + max(lengths)


@given(st.integers(1, 40), st.integers(2, 8))
def test_units_of_a_token_are_no_borders(tokens, blocks):
    assert split(tokens, blocks, range(tokens + 1)) == split(tokens, blocks)


@given(st.lists(st.integers(0, 15), min_size=1, max_size=4), st.integers(2, 5), st.booleans())
def test_tables_are_the_blocks_of_each_document(lengths, blocks, left):
    width = max(lengths) + 1
    mask = torch.zeros(len(lengths), width, dtype=torch.bool)
    for row, length in zip(mask, lengths, strict=True):
        row[width - length if left else 0 :][:length] = True
    tables = BlockTables.of(mask, blocks)
    inside = tables.inside if tables.inside is not None else torch.ones_like(tables.keys, dtype=torch.bool)
    for document, length in enumerate(lengths):
        offset = width - length if left and length else 0
        start = document * width + offset
        for place, one in enumerate(split(length, blocks)):
            row = document * blocks + place
            keys = tables.keys[row][inside[row]].tolist()
            assert keys == list(range(start + one.first_key, start + one.last_key))
            for query in range(one.first_query, one.last_query):
                flat = int(tables.places[start + query])
                assert divmod(flat, tables.queries.shape[1])[0] == row
                assert tables.queries.flatten()[flat] == start + query


def test_borders_of_padded_documents():
    owner = torch.tensor([[0, 0, 0, 1, 1, 2], [-1, -1, 0, 0, 0, 1]])
    tables = BlockTables.of(owner >= 0, 3, SentenceLayout.from_owner(owner))
    assert tables.bounds[0].tolist() == [[0, 3, 0, 3], [3, 3, 0, 5], [3, 6, 3, 6]]
    assert tables.bounds[1].tolist() == [[2, 2, 2, 5], [2, 5, 2, 5], [5, 6, 2, 6]]
