"""Measured time and memory of encoders."""

import sys

import pytest
import torch
from tiny_bart import make_bart

from discsum.abstractive.analysis.encoding_time import encoder_times
from discsum.abstractive.analysis.peak_memory import peak_memory
from discsum.abstractive.compressed import compress
from discsum.errors import InputError


@pytest.mark.parametrize("borders", [None, "sentences"])
def test_both_encoders_are_measured(borders):
    model = compress(make_bart(), "strided", borders=borders)
    samples = list(encoder_times(model, [8, 64], 2))
    assert [one.tokens for one in samples] == [8, 64]
    assert all(one.seconds > 0 and one.speed_up == one.stock_seconds / one.seconds for one in samples)
    assert not hasattr(model, "compressed")
    with pytest.raises(InputError, match="expected a model with a compressed encoder"):
        list(encoder_times(model, [8], 1))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="told by Linux alone")
def test_memory_is_what_a_computation_takes_at_its_most():
    def run():
        # Allocate 64 MiB twice, one after the other.
        for _ in range(2):
            torch.ones(16 * 2**20)

    assert peak_memory(run, torch.device("cpu")) == pytest.approx(64, abs=8)
    assert peak_memory(lambda: None, torch.device("cpu")) < 8
    assert peak_memory(run, torch.device("meta")) is None
