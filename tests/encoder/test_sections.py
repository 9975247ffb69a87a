"""Sections of a document: their sizes, and the trees that heads read."""

import numpy as np
import pytest
import torch
from small_trees import document_of, random_tree

from discsum.encoder import inputs
from discsum.encoder.heads import HEADS
from discsum.encoder.heads.base import UnitTree
from discsum.encoder.inputs import unit_inputs
from discsum.encoder.synthesizer import SynthesizerConfig

TREE_HEADS = ["c_tree", "c_tree_confidence", "c_tree_nuc", "c_tree_relation", "d_tree"]
# EDUs of each sentence.
SIZES = [1, 3, 2, 9, 1, 1, 4, 5]


def document(sizes=SIZES):
    words = iter(f"word{number}" for number in range(sum(sizes)))
    return document_of([[next(words) for _ in range(size)] for size in sizes], random_tree(sum(sizes), 7))


@pytest.mark.parametrize(
    ("most", "units", "firsts"),
    [(4096, 512, [0]), (4, 512, [0, 2, 3, 4, 6, 7]), (6, 2, [0, 2, 3, 4, 6, 7]), (4096, 3, [0, 3, 6])],
)
def test_sections_of_sentences_have_few_units_and_edus(monkeypatch, most, units, firsts):
    monkeypatch.setattr(inputs, "MOST_EDUS", most)
    network = SynthesizerConfig(width=4, head="c_tree", max_units=units)
    sections = [*unit_inputs(document(), "sentence", torch.zeros(len(SIZES), 4), network)]
    assert [section.first for section in sections] == firsts
    assert sum(len(section.vectors) for section in sections) == len(SIZES)


@pytest.mark.parametrize("head", TREE_HEADS)
def test_a_very_long_sentence_attends_to_itself(monkeypatch, head):
    network = SynthesizerConfig(width=4, head=head)
    (whole,) = unit_inputs(document([9]), "sentence", torch.zeros(1, 4), network)
    monkeypatch.setattr(inputs, "MOST_EDUS", 4)
    (small,) = unit_inputs(document([9]), "sentence", torch.zeros(1, 4), network)
    attention = HEADS[head](network.for_head())
    mask = torch.ones(1, 1, dtype=torch.bool)
    for section in (whole, small):
        prior = {name: array[None] for name, array in section.prior.items()}
        assert attention(torch.zeros(1, 1, 4), prior, mask).detach().numpy() == pytest.approx(1.0)
    assert all(array.numel() <= 40 for array in small.prior.values())


def test_a_section_has_the_tree_of_its_edus(monkeypatch):
    monkeypatch.setattr(inputs, "MOST_EDUS", 6)
    network = SynthesizerConfig(width=4, head="c_tree_nuc")
    made = document()
    first, second, *_ = unit_inputs(made, "sentence", torch.zeros(len(SIZES), 4), network)
    assert second.first == 3
    tree = made.tree.section(0, sum(SIZES[: len(first.vectors)]) - 1)
    units = UnitTree(tree, made.edu_to_sentence[: tree.edus], len(first.vectors))
    expected = HEADS["c_tree_nuc"].prior(units, network.for_head())["matrix"]
    np.testing.assert_allclose(first.prior["matrix"], expected)
