import pytest

from discsum.errors import InputWarning, number_of
from discsum.formats import load
from discsum.metrics.rouge import rouge


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


def test_warnings_point_at_the_line_that_called_discsum(parser):
    """Whatever lies between: generators, decorators of torch, several modules of discsum."""
    german = "Der Rat baut den Markt auf höherem Grund wieder auf, obwohl eine neue Mauer billiger wäre."
    tree = '<rst><header/><body><segment id="1">It rained.</segment><segment id="2">So.</segment></body></rst>'
    calls = (
        lambda: list(parser.parse_many([german])),
        lambda: rouge(["It rained."], ["<p>It rained.</p>"]),
        lambda: load(tree, "rs3"),
    )
    for call in calls:
        with pytest.warns(InputWarning) as told:
            call()
        assert {(one.filename, one.lineno) for one in told} == {(__file__, call.__code__.co_firstlineno)}
