"""Sizes of shards as users write them: a number of documents, or bytes."""

import pytest

from discsum.data.shard_sizes import shard_size
from discsum.errors import InputError


@pytest.mark.parametrize(
    ("text", "shard"),
    [("256", (256, "documents")), ("8MiB", (8 << 20, "bytes")), ("1GiB", (1 << 30, "bytes")), ("9B", (9, "bytes"))],
)
def test_sizes_of_shards(text, shard):
    assert shard_size(text) == shard


@pytest.mark.parametrize("text", ["", "0", "0MiB", "-1", "8 MiB", "8MB", "1.5MiB", "²"])
def test_what_is_no_size(text):
    with pytest.raises(InputError, match="shard: expected a number of documents, such as 256, or of bytes in B, KiB"):
        shard_size(text)
