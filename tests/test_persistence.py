"""Model folders: what is written, and what cannot be."""

import pytest
import torch

from discsum.errors import WeightsError
from discsum.persistence import read_model, write_model

KIND = "discsum-test"


def test_integers_are_kept_and_weights_are_halved(tmp_path):
    tensors = {"steps": torch.tensor([2049, 70_000]), "weight": torch.tensor([0.1, -2.0])}
    write_model(tmp_path, KIND, {}, tensors, "card")
    weights = read_model(tmp_path, KIND).tensors
    assert weights["steps"].tolist() == [2049, 70_000]
    assert weights["weight"].dtype == torch.float32
    assert weights["weight"].tolist() == tensors["weight"].half().float().tolist()


@pytest.mark.parametrize("value", [70_000.0, float("nan")])
def test_weights_that_float16_cannot_hold_are_not_written(tmp_path, value):
    with pytest.raises(
        WeightsError,
        match="float16, which holds at most 65,504: expected weights that are finite",
    ):
        write_model(tmp_path / "model", KIND, {}, {"weight": torch.tensor([1.0, value])}, "card")
    assert not (tmp_path / "model").exists()
