"""Warnings about recipe fields that others switch off."""

import pytest

from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.experiments.training_runs import KINDS
from discsum.recipes import names, read_recipe
from discsum.summarizer.training.recipe import SummarizerRecipe

RECIPES = {"extractive": SummarizerRecipe, "abstractive": AbstractiveRecipe}
SOURCES = {"train": [{"path": "a.jsonl"}], "validation": [{"path": "b.jsonl"}]}
TRAINED = [name for name in names() if read_recipe(name)["kind"] in RECIPES]


def lines_of(content):
    fields = {key: value for key, value in content.items() if key not in ("kind", "data", "name", "notes", "paper")}
    return RECIPES[content["kind"]].from_dict(fields).without_effect()


@pytest.mark.parametrize("name", TRAINED)
def test_shipped_recipes_set_no_field_in_vain(name):
    assert lines_of(read_recipe(name)) == []


@pytest.mark.parametrize(
    ("kind", "given", "named"),
    [
        ("extractive", {"temperature": 0.2}, ["temperature"]),
        ("extractive", {"temperature": 0.2, "listwise": 0.5}, []),
        ("extractive", {"positive_weight": 2.0, "listwise": 1.0}, ["positive_weight"]),
        ("extractive", {"encoder_learning_rate": 1e-4, "sample_seed": 3}, ["sample_seed", "encoder_learning_rate"]),
        ("extractive", {"encoder_learning_rate": 1e-4, "encoder_layers": 1}, []),
        ("extractive", {"unit": "edu", "sentence_share": 0.3}, ["sentence_share"]),
        ("extractive", {"unit": "edu", "sentence_share": 0.3, "sentence_model": "mine"}, []),
        ("abstractive", {"optimizer": "sgd", "betas": [0.9, 0.98]}, ["betas"]),
        ("abstractive", {"objective": {"gamma": 0.5, "weight": 1.0}}, ["objective.gamma", "objective.weight"]),
        ("abstractive", {"objective": {"mode": "sparsity", "gamma": 0.5}}, []),
        ("abstractive", {"r": 10}, ["r"]),
        ("abstractive", {"task": "denoise", "target_lines": 1}, ["target_lines"]),
        (
            "abstractive",
            {"family": "coarse_to_fine", "network": {"variant": "standard", "positions": True, "max_chunks": 9}},
            ["network.positions", "network.max_chunks"],
        ),
        ("abstractive", {"r": 10, "selector": "gru", "model": "m", "objective": {"mode": "kl"}}, []),
        (
            "abstractive",
            {"family": "coarse_to_fine", "network": {"variant": "hier"}, "reinforce": {"scale": 1.0}},
            ["reinforce.scale"],
        ),
        ("abstractive", {"family": "coarse_to_fine", "reinforce": {"scale": 1.0}}, []),
        ("abstractive", {"family": "coarse_to_fine", "alternate": 1.0}, ["network.variant"]),
        ("abstractive", {"family": "coarse_to_fine", "pretrain": 2, "epochs": 2}, ["network.variant"]),
        ("abstractive", {"family": "coarse_to_fine", "pretrain": 2, "epochs": 3}, []),
    ],
)
def test_fields_without_effect_are_named(kind, given, named):
    assert kind in KINDS
    assert [line.split(":")[0] for line in lines_of({"kind": kind} | SOURCES | given)] == named


def test_the_line_says_why():
    assert lines_of({"kind": "extractive", "temperature": 0.2} | SOURCES) == [
        "temperature: 0.2 has no effect without the list-wise loss (listwise)"
    ]


def test_null_resets_a_group_of_fields(tmp_path):
    (tmp_path / "one.yaml").write_text("kind: abstractive\nscratch: {layers: 2}\n")
    (tmp_path / "own.yaml").write_text("base: one.yaml\nscratch: null\n")
    assert "scratch" not in read_recipe(str(tmp_path / "own.yaml"))
    assert read_recipe(str(tmp_path / "one.yaml"), ["scratch=null", "scratch.width=8"])["scratch"] == {"width": 8}


@pytest.mark.parametrize(
    ("settings", "length"),
    [
        (["epochs=2"], (2, None)),
        (["steps=100"], (None, 100)),
        # Both are kept, and warned about.
        (["steps=100", "epochs=2"], (2, 100)),
        (["steps=null"], (1, None)),
    ],
)
def test_a_length_replaces_the_other_of_the_base(tmp_path, settings, length):
    (tmp_path / "one.yaml").write_text("kind: extractive\nepochs: 1\n")
    (tmp_path / "own.yaml").write_text("base: one.yaml\nsteps: 7\n")
    content = read_recipe(str(tmp_path / "one.yaml"), settings)
    assert (content.get("epochs"), content.get("steps")) == length
    assert "epochs" not in read_recipe(str(tmp_path / "own.yaml"))
