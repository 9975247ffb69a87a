"""A hundredth of each campaign."""

import os

import pytest
from campaigns import kills, model_folders, neighbours, tree_file_mutants, unicode_texts


@pytest.mark.parametrize(
    ("attack", "count"),
    [
        (unicode_texts.attack, 200),
        (tree_file_mutants.attack, 250),
        (model_folders.attack, 100),
        (neighbours.attack, 20),
        (kills.attack, 1),
    ],
    ids=["unicode texts", "mutants", "model folders", "neighbours", "kills"],
)
def test_a_hundredth(attack, count):
    if attack is kills.attack and not hasattr(os, "fork"):
        pytest.skip("POSIX")
    attack(count, 1)
