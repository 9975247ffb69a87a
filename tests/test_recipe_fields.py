"""Dataclasses filled from YAML and JSON: errors report all mistakes at once, with the values as they were typed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest

from discsum.errors import InputError
from discsum.recipes.described import help_of, init_fields
from discsum.recipes.fields import Checked, Count, Dropout, Natural, Positive, Share, about, convert, one_of
from discsum.recipes.sources import Source, Sources

COLOURS = ["red", "green"]
SOURCES = (
    "a non-empty list of groups of fields (path, first, last, weight, text_column, summary_column), "
    "such as [{path: ...}]"
)


@dataclass(frozen=True)
class Inner(Checked):
    low: Annotated[Natural, about("The low end.")] = 0
    high: Annotated[Count | None, about("The high end.")] = None
    dropout: Dropout = 0.1

    def problems(self):
        return [] if self.high is None or self.high > self.low else [f"high: expected above {self.low}"]


@dataclass(frozen=True)
class Outer(Checked):
    train: Sources
    colour: Annotated[str, one_of(COLOURS, "The colour.")] = "red"
    rate: Annotated[Positive, about("How fast.")] = 1.0
    share: Share = 0.5
    flag: bool = True
    name: str | None = None
    words: tuple[str, ...] = ()
    scales: tuple[float, ...] = ()
    inner: Inner = field(default_factory=Inner)
    spare: Inner | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def problems(self):
        return [f"colour: expected red with inner.low above 0, got {self.colour}"] * (
            self.inner.low > 0 and self.colour != "red"
        )


@dataclass(frozen=True)
class Renamed(Outer):
    rate: float = 2.0


@dataclass(frozen=True)
class Saved:
    """Like a manifest: not `Checked`, with a list of groups, groups by name, and a field that is not read."""

    shards: list[Source]
    by_name: dict[str, Inner] = field(default_factory=dict)
    total: int = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "total", len(self.shards))


TRAIN = [{"path": "a"}]


def message(data, cls=Outer, what=""):
    with pytest.raises(InputError) as raised:
        convert(cls, data, what)
    return str(raised.value)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"rate": 0}, "rate: expected a number above 0, got 0"),
        ({"rate": "fast"}, "rate: expected a number above 0, got 'fast'"),
        ({"rate": "-1e-4"}, "rate: expected a number above 0, got '-1e-4'"),
        ({"rate": float("nan")}, "rate: expected a number above 0, got nan"),
        ({"rate": "inf"}, "rate: expected a number above 0, got 'inf'"),
        ({"rate": True}, "rate: expected a number above 0, got true"),
        ({"rate": None}, "rate: expected a number above 0, got null"),
        ({"share": 1.5}, "share: expected a number in [0, 1], got 1.5"),
        ({"flag": 1}, "flag: expected true or false, got 1"),
        ({"name": 3}, "name: expected a word, or null, got 3"),
        ({"colour": "blue"}, "colour: expected one of red, green, got 'blue'"),
        ({"colour": "gren"}, "colour: expected one of red, green, got 'gren' (did you mean green?)"),
        ({"colour": 7}, "colour: expected one of red, green, got 7"),
        ({"words": "one"}, "words: expected a list of words, got 'one'"),
        ({"words": ["one", 2]}, "words: expected a list of words, got ['one', 2]"),
        ({"inner": "x"}, "inner: expected a group of fields, got 'x'"),
        ({"inner": {"low": -1}}, "inner.low: expected a whole number of at least 0, got -1"),
        ({"inner": {"high": 1.5}}, "inner.high: expected a whole number of at least 1, or null, got 1.5"),
        ({"inner": {"dropout": 1}}, "inner.dropout: expected a number in [0, 1), got 1"),
        ({"inner": {"low": 2, "high": 1}}, "inner.high: expected above 2"),
        ({"inner": {"hihg": 1}}, "inner.hihg: expected one of the fields low, high, dropout (did you mean high?)"),
        ({"spare": {"low": "x"}}, "spare.low: expected a whole number of at least 0, got 'x'"),
        ({"options": [1]}, "options: expected a group of fields, got [1]"),
        ({"train": []}, f"train: expected {SOURCES}, got []"),
        ({"train": [{"path": "a", "weight": 0}]}, "train[0].weight: expected a number above 0, got 0"),
        ({"train": [{"first": 2}]}, "train[0].path: expected a path, got nothing; add it"),
        ({"train": [{"path": "a", "first": 2, "last": 2}]}, "train[0].last: expected a row above first 2, got 2"),
        ({"train": ["a"]}, "train[0]: expected a group of fields, got 'a'"),
        ({"colour": "green", "inner": {"low": 1}}, "colour: expected red with inner.low above 0, got green"),
    ],
)  # fmt: skip
def test_each_mistake_is_named_as_it_was_typed(changes, expected):
    assert message({"train": TRAIN} | changes) == expected


def test_all_mistakes_are_named_at_once():
    found = message({"zigzag": 1, "rate": -1, "share": 2, "inner": {"low": 3, "high": 2, "dropout": 9}})
    assert found.split("; ") == [
        f"zigzag: expected one of the fields {', '.join(init_fields(Outer))}",
        "rate: expected a number above 0, got -1",
        "share: expected a number in [0, 1], got 2",
        "inner.dropout: expected a number in [0, 1), got 9",
        "inner.high: expected above 3",
        f"train: expected {SOURCES}, got nothing",
        "add it",
    ]


def test_the_message_says_what_the_fields_are_of():
    assert message([], what="runs/a/config.json") == "runs/a/config.json: expected a group of fields, got []"
    assert message({"train": TRAIN, "rate": 0}, what="x.json").startswith("x.json: rate: expected")


def test_numbers_and_lists_get_the_type_of_their_field():
    found = convert(Outer, {"train": TRAIN, "rate": "1e-4", "share": 1, "scales": [1, "2e-1"], "words": ["a"]})
    assert (found.rate, found.share, found.scales, found.words) == (1e-4, 1.0, (1.0, 0.2), ("a",))
    assert (type(found.share), type(found.train), found.train[0]) == (float, tuple, Source("a"))
    assert convert(Outer, {"train": TRAIN, "spare": None}).spare is None
    assert convert(Outer, found.to_dict()) == found
    assert convert(Outer, {"train": found.train, "inner": Inner(high=4)}).inner.high == 4


def test_what_is_made_in_python_is_checked_too():
    made = Outer((Source("a"),), rate=2, words=["a", "b"])
    assert (type(made.rate), made.words) == (float, ("a", "b"))
    with pytest.raises(InputError, match=r"rate: expected a number above 0, got 0; share: .*got 'all'"):
        Outer((Source("a"),), rate=0, share="all")
    with pytest.raises(InputError, match="high: expected above 5"):
        Inner(5, 4)


def test_another_default_keeps_range_and_help():
    assert convert(Renamed, {"train": TRAIN}).rate == 2.0
    assert message({"train": TRAIN, "rate": 0}, Renamed) == "rate: expected a number above 0, got 0"


def test_any_dataclass_can_be_read():
    found = convert(Saved, {"shards": [{"path": "a"}], "by_name": {"x": {"low": 1}}})
    assert (found.shards, found.by_name, found.total) == ([Source("a")], {"x": Inner(1)}, 1)
    wrong = message({"shards": {}, "by_name": {"x": {"low": "1"}}, "total": 3}, Saved)
    assert "total: expected one of the fields shards, by_name" in wrong
    assert "by_name.x.low: expected a whole number of at least 0, got '1'" in wrong
    assert "shards: expected a list of groups of fields" in wrong


def test_help_comes_from_the_fields():
    rows = {row.name: row for row in help_of(Outer((Source("a", last=3),), words=("x", "y")))}
    assert (rows["rate"].expected, rows["rate"].value, rows["rate"].help) == ("a number above 0", "1.0", "How fast.")
    assert (rows["train"].value, rows["words"].value) == ("[{path: a, last: 3}]", "[x, y]")
    assert (rows["inner"].expected, rows["inner"].value) == ("a group of fields", "{...}")
    assert rows["inner.high"].expected == "a whole number of at least 1, or null"
    assert rows["inner.high"].value == "null"
    assert rows["colour"].expected == "one of red, green"
