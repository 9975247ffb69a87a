import pytest

from discsum.errors import number_of


@pytest.mark.parametrize(
    ("count", "noun", "expected"),
    [
        (0, "file", "0 files"),
        (1, "file", "1 file"),
        (2, "file", "2 files"),
        (1_000_000, "document", "1000000 documents"),
        (0.5, "GPU", "0.5 GPU"),
        (1.0, "GPU", "1 GPU"),
    ],
)
def test_counts_have_their_noun_in_the_singular_or_plural(count, noun, expected):
    assert number_of(count, noun) == expected
