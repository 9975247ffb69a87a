"""Recipes of parsers: what they may contain, and errors for what they may not."""

import pytest

from discsum.errors import InputError
from discsum.parsers.training.recipe import ParserRecipe
from discsum.recipes import names, read_recipe


def test_every_problem_of_a_recipe_is_reported_at_once():
    with pytest.raises(InputError) as raised:
        ParserRecipe.from_dict(
            {"epochs": "many", "speed": 3, "bf16": 1, "warmup": "x", "network": {"design": 7, "wings": 2}}
        )
    message = str(raised.value)
    for part in (
        "epochs: expected a whole number of at least 1, got 'many'",
        "speed: expected one of the fields of the recipe (did you mean seed?); --fields lists all",
        "bf16: expected true or false, got 1",
        "warmup: expected a number in [0, 1], got 'x'",
        "network.design: expected one of chart, top_down, distance, got 7",
        "network.wings: expected one of the fields design, ",
    ):
        assert part in message
    with pytest.raises(InputError, match=r"seeds: expected a list of whole numbers in \[0, 4294967295\], got 3"):
        ParserRecipe.from_dict({"seeds": 3})
    with pytest.raises(InputError, match=r"seed: cannot be combined with seeds \[1, 2\]; set seeds=\[\]"):
        ParserRecipe.from_dict({"seeds": [1, 2], "seed": 3})
    with pytest.raises(InputError, match=r"seed: expected a whole number in \[0, 4294967295\], got -1"):
        ParserRecipe.from_dict({"seed": -1})
    with pytest.raises(InputError) as raised:
        ParserRecipe.from_dict(
            {
                "epochs": 0,
                "stop_after": 9,
                "seeds": [1, 1],
                "learning_rate": -1,
                "smoothing": 1.5,
                "network": {"design": "bottom_up"},
            }
        )
    message = str(raised.value)
    for part in (
        "stop_after: expected 0 to 0 epochs, got 9",
        "seeds: expected a parser in the field start, because only runs that start from the same "
        "weights can be averaged, got none",
        "seeds: expected each seed once, got 1, 1",
        "epochs: expected a whole number of at least 1, got 0",
        "rate: ",
        "smoothing: ",
        "network.design: expected one of",
    ):
        assert part in message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"network": {"hidden": 33}}, "network.hidden: expected an even number, for an LSTM of two directions, got 33"),
        ({"network": {"window": 3}}, "network.window: expected at least 4 subwords, got 3"),
        ({"language": "german"}, "language: expected a code of two or three letters, such as de, got 'german'"),
        ({"language": "de-DE"}, "language: expected a code of two or three letters, such as de, got 'de-DE'"),
    ],
)
def test_values_that_no_parser_can_have(content, message):
    with pytest.raises(InputError) as raised:
        ParserRecipe.from_dict(content)
    assert str(raised.value) == message


def test_numbers_as_yaml_leaves_them():
    found = ParserRecipe.from_dict({"learning_rate": "1e-4", "predicted_edus": 1, "network": {"dropout": 0}})
    assert (found.learning_rate, found.predicted_edus, found.network.dropout) == (1e-4, 1.0, 0.0)
    with pytest.raises(InputError, match="network: expected a group of fields, got 'chart'"):
        ParserRecipe.from_dict({"network": "chart"})


def test_recipes_come_back_from_their_own_dictionary():
    recipe = ParserRecipe.from_dict({"start": "runs/first", "seeds": [1, 2], "network": {"design": "distance"}})
    assert recipe != ParserRecipe()
    assert ParserRecipe.from_dict(recipe.to_dict()) == recipe


def test_the_shipped_recipe_loads_with_changes():
    assert "parser-gum" in names()
    content = read_recipe(
        "parser-gum", ["seed=5", "seeds=[]", "network.design=distance", "learning_rate=1e-4", "teachers=[]", "texts=[]"]
    )
    for field in ("kind", "data", "name"):
        content.pop(field)
    found = ParserRecipe.from_dict(content)
    assert (found.seed, found.network.design, found.learning_rate) == (5, "distance", 1e-4)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["seed"], "expected key=value, got 'seed'"),
        (["seed=["], r"seed=\[: expected YAML"),
        (["epochs.deep=1"], "expected epochs to be a group of fields"),
    ],
)
def test_changes_that_are_none(overrides, message):
    with pytest.raises(InputError, match=message):
        read_recipe("parser-gum", overrides)
