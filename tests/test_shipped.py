"""The weights that come with the package: whole and small enough."""

import zlib

import pytest

import discsum
from discsum.persistence import locate, shipped
from discsum.summarizer.extractive import SHIPPED, ExtractiveSummarizer


def test_all_of_them_fit_into_a_wheel_of_100_megabytes():
    assert set(shipped()) == {"discsum-gum", *SHIPPED.values()}
    # As a wheel packs them.
    size = sum(len(zlib.compress(path.read_bytes())) for name in shipped() for path in locate(name).iterdir())
    assert size <= 95_000_000


@pytest.mark.parametrize("unit", SHIPPED)
def test_summarizers_come_with_their_parser(unit):
    model = ExtractiveSummarizer.from_pretrained(unit=unit)
    assert model.config.unit == unit
    assert model.parser.fingerprint == discsum.Parser.from_pretrained().fingerprint
