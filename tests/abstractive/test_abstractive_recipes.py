"""Recipes of abstractive summarizers: the family that each names, and what all families share."""

import json

import pytest
from small_training import SPARSE, recipe_fields, training_loop

from discsum.abstractive.families import FAMILIES, FIELD, family_class, family_of
from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.errors import DiscsumError, InputError, WeightsError
from discsum.training.schedule import rate_factor

SOURCES = {"train": [{"path": "a"}], "validation": [{"path": "b"}]}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_recipe_is_of_the_family_that_it_names(name):
    recipe = AbstractiveRecipe.from_dict(SOURCES | {"family": name})
    assert type(recipe) is family_class(name).recipe_type
    assert type(recipe).from_dict(recipe.to_dict()) == recipe


def test_without_a_name_a_recipe_is_sparse():
    assert AbstractiveRecipe.from_dict(SOURCES).family == "sparse"


@pytest.mark.parametrize("name", ["sprase", 3, None])
def test_a_family_that_is_none(name):
    with pytest.raises(InputError, match=r"family: expected one of sparse.*got"):
        AbstractiveRecipe.from_dict(SOURCES | {"family": name})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"scratch": {"heads": 0}}, "scratch.heads: expected a whole number of at least 1, got 0"),
        (
            {"family": "compressed", "network": {"heads": 0}},
            "network.heads: expected a whole number of at least 1, got 0",
        ),
        (
            {"family": "compressed", "encoder": {"variant": "conv", "groups": 0}},
            "encoder.groups: expected a whole number of at least 1, got 0",
        ),
        ({"betas": [0.9, 1]}, "betas: expected a list of 2 numbers in [0, 1), got [0.9, 1]"),
        ({"betas": [1.5, 0.9]}, "betas: expected a list of 2 numbers in [0, 1), got [1.5, 0.9]"),
    ],
)
def test_a_number_out_of_range_is_the_only_problem(fields, expected):
    """Checks of several fields together must not divide by a number of 0."""
    with pytest.raises(InputError) as raised:
        AbstractiveRecipe.from_dict(SOURCES | fields)
    assert str(raised.value) == expected


def test_decay_rates_below_one():
    assert AbstractiveRecipe.from_dict(SOURCES | {"betas": [0, "0.9999"]}).betas == (0.0, 0.9999)


def test_a_folder_says_its_family(tmp_path):
    assert family_of(str(tmp_path)) == "sparse"
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": "bart"}))
    assert family_of(str(tmp_path)) == "sparse"
    path.write_text(json.dumps({FIELD: "coarse_to_fine"}))
    assert family_of(str(tmp_path)) == "coarse_to_fine"
    path.write_text(json.dumps({FIELD: "other"}))
    with pytest.raises(WeightsError, match=r"config\.json: discsum_family: expected one of sparse.*got 'other'"):
        family_of(str(tmp_path))
    path.write_text("[")
    with pytest.raises(WeightsError, match="expected JSON"):
        family_of(str(tmp_path))


def test_a_constant_rate_stays_where_it_rose_to():
    factors = [rate_factor(step / 10, 0.2, 10, "constant") for step in range(10)]
    assert factors == [0.5, 1.0, *[1.0] * 8]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"objective": {"mode": "kl"}}, "selector: expected one that selects sentences for the mode kl, got 'all'"),
        ({"objective": {"mode": "kl"}, "selector": "mean_key"}, r"expected one that learns \(attention_pooling, gru\)"),
        (
            {"objective": {"mode": "kl"}, "selector": "gru"},
            "model: expected a trained one for the mode kl, .* got none",
        ),
        ({"objective": {"mode": "best"}}, "mode: expected one of full, sparsity"),
        ({"objective": {"lambda": 1.0}}, r"objective\.lambda: expected one of the fields"),
        ({"scratch": {"width": 30, "heads": 4}}, r"scratch\.width: expected a multiple of 4 heads, got 30"),
        ({"task": "denoise", "beta": 0.0}, "beta: expected none for the task denoise"),
        ({"task": "infill", "beta": 0.0}, "beta: expected none for the task infill"),
        ({"scratch": {"positions": 64}}, r"source_tokens: expected at most scratch\.positions 64, got 192"),
        (
            {"r": 0, "task": "dream"},
            "task: expected one of summarize, infill, denoise, got 'dream'; r: expected a whole number of at least 1",
        ),
        ({"validation": [{"path": "train.jsonl"}]}, "expected no validation document among the training documents"),
        ({"model": "gone"}, "gone: expected the folder of a sequence-to-sequence model"),
    ],
)
def test_bad_recipes(changes, message, data, parser_folder, tmp_path):
    with pytest.raises(DiscsumError, match=message):
        training_loop(recipe_fields(parser_folder, **SPARSE | changes), data, tmp_path / "run")
