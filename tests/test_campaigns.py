"""A hundredth of each campaign."""

import os

import pytest
from campaigns import batch_invariance, full_disk, kills, model_folders, sharing, tree_file_mutants, unicode_texts


@pytest.mark.parametrize(
    ("attack", "count"),
    [
        (unicode_texts.attack, 200),
        (tree_file_mutants.attack, 250),
        (model_folders.attack, 100),
        (batch_invariance.attack, 20),
        (kills.attack, 1),
        (sharing.attack, 16),
        (full_disk.attack, 2),
    ],
    ids=["unicode texts", "mutants", "model folders", "batch invariance", "kills", "sharing", "full disk"],
)
def test_a_hundredth(attack, count):
    if attack in (kills.attack, sharing.attack) and not hasattr(os, "fork"):
        pytest.skip("POSIX")
    if attack is full_disk.attack and not full_disk.can_mount():
        pytest.skip("needs the right to mount a disk")
    attack(count, 1)
