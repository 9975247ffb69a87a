"""No recipe trains, validates or distils on rows that summarizers and parsers are evaluated on."""

import gzip
import json
from functools import cache
from pathlib import Path

import pytest
from small_treebank import DATA

from discsum.recipes import names, read_recipe

# Tables that are for evaluation only, as `docs/data.md` says.
MEASURED = ("cnndm/test.jsonl.gz", "cnndm/extra.jsonl.gz", "gum_summaries/validation.jsonl.gz")
PIECE = 200


def sources(recipe):
    """Return the tables of a recipe, with their rows: for training, for validation and for its teachers."""
    rows = [row for field in ("train", "validation", "texts") for row in recipe.get(field, ())]
    # A parser's texts are relative to the treebank's folder, those of summarizers to the data folder.
    base = "gum" if recipe["kind"] == "parser" else "."
    return {(Path(base) / row["path"], row.get("first", 0), row.get("last")) for row in rows}


def place(path):
    """Return a path without `..`, relative to the data folder."""
    return (DATA / path).resolve().relative_to(DATA.resolve()).as_posix()


ROWS = {name: sources(read_recipe(name)) for name in names()}


def pieces(record):
    """Return the id of a row, and up to three pieces of the letters of its text."""
    text = record.get("text") or record.get("article")
    letters = "".join(filter(str.isalpha, text[: 8 * PIECE].lower()))
    found = [letters[start : start + PIECE] for start in (0, PIECE, 2 * PIECE)]
    return {record.get("id"), *(piece for piece in found if len(piece) == PIECE)} - {None}


@cache
def read(path):
    with gzip.open(DATA / path, "rt", encoding="utf-8") as lines:
        return [pieces(json.loads(line)) for line in lines]


@pytest.mark.parametrize("name", ROWS)
def test_no_recipe_names_a_measuring_table(name):
    assert not {place(path) for path, _, _ in ROWS[name]} & set(MEASURED)


def test_no_measuring_row_is_in_a_source_of_a_recipe():
    if not all((DATA / path).is_file() for path in MEASURED):
        pytest.skip(f"the measuring tables are not in {DATA}; set DISCSUM_DATA to the folder that holds them")
    measured = set().union(*(piece for path in MEASURED for piece in read(path)))
    assert len(measured) > 2000
    read_by = sorted({(place(path), first, last or 0) for rows in ROWS.values() for path, first, last in rows})
    there = [source for source in read_by if (DATA / source[0]).is_file()]
    assert len(there) > 3
    shared = {
        (path, first, last): set().union(*read(path)[first : last or None]) & measured for path, first, last in there
    }
    assert not {source: list(found)[:3] for source, found in shared.items() if found}
