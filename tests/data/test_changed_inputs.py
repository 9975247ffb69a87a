"""Inputs that change during a run or between runs, and files whose documents get the same ids."""

import json
import os

import pytest
from small_news import pairs

from discsum.data.input_source import InputSource
from discsum.data.manifest import MANIFEST
from discsum.data.pairs import PairSource
from discsum.data.parse_parts import ParseRecipe, parse_job
from discsum.data.part_maker import Division
from discsum.data.parts import Part
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe
from discsum.data.run_options import RunOptions
from discsum.data.shard_run import finish, make_all, make_part
from discsum.errors import InputError, InputWarning


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "news.jsonl"
    rows = ({"id": pair.id, "text": pair.text, "highlights": pair.text} for pair in pairs(0, 6))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def job(kind, table, parser_folder, folder):
    if kind == "parse":
        source = InputSource([str(table)])
        return parse_job(source, folder, ParseRecipe(parser=str(parser_folder)), Division(shard=2))
    source = PairSource(str(table))
    recipe = PreprocessRecipe(parser=str(parser_folder), shard=2)
    return preprocess_job(source.pairs(), source.identity(), folder, recipe)


@pytest.mark.parametrize("kind", ["parse", "preprocess"])
def test_a_table_that_changes_during_a_run_is_told(kind, table, parser_folder, tmp_path):
    def change(done):
        content = table.read_text()
        table.write_text(content.replace("e", "a"))
        # A disk may not tell times so close to each other apart.
        os.utime(table, ns=(0, done))

    made = job(kind, table, parser_folder, tmp_path / "set")
    with pytest.raises(
        InputError, match=r"news.jsonl: expected the file of [\d,]+ bytes that the run began with, got a"
    ):
        make_all(made, RunOptions(report=change))
    assert not (tmp_path / "set" / MANIFEST).exists()


@pytest.mark.parametrize("kind", ["parse", "preprocess"])
def test_a_table_that_changed_between_runs_is_told(kind, table, parser_folder, tmp_path):
    make_part(job(kind, table, parser_folder, tmp_path / "set"), Part(1, 2))
    with table.open("a") as lines:
        lines.write(table.read_text().splitlines()[0] + "\n")
    told = r"set: expected the input that it was made from, found a changed or another one \(.*\); repeat the"
    with pytest.raises(InputError, match=told):
        make_all(job(kind, table, parser_folder, tmp_path / "set"))


def test_only_what_differs_of_other_documents_is_named(table, parser_folder, tmp_path):
    make_all(job("preprocess", table, parser_folder, tmp_path / "set"))
    table.write_text("".join(reversed(table.read_text().splitlines(keepends=True))))
    remedy = "repeat the earlier command with that input, or choose another folder"
    with pytest.raises(
        InputError, match=rf"changed or another one \(documents sha256 '\w+' there and '\w+' here\); {remedy}$"
    ):
        make_all(job("preprocess", table, parser_folder, tmp_path / "set"))


def test_missing_shards_name_their_parts(table, parser_folder, tmp_path):
    make_part(job("parse", table, parser_folder, tmp_path / "set"), Part(1, 2))
    with pytest.raises(
        InputError, match=r"1 missing: part-00001.*run their parts again \(of N parts, part K mod N \+ 1 makes"
    ):
        finish(job("parse", table, parser_folder, tmp_path / "set"))


def test_files_of_the_same_name_are_told(tmp_path, table, parser_folder, recwarn):
    for place, name, text in (
        ("a", "mill.txt", "It rained."),
        ("b", "mill.txt", "It froze."),
        ("b", "x.txt", "It rose."),
    ):
        (tmp_path / "in" / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / place / name).write_text(text)
    told = (
        "found 1 file with the same name as another one, such as .*b/mill.txt and .*a/mill.txt; their documents get "
        "the same ids, because ids leave out folders"
    )
    with pytest.warns(InputWarning, match=told):
        job("parse", tmp_path / "in", parser_folder, tmp_path / "set")
    # Rows with ids of their own are not named after their table.
    for place in ("c", "d"):
        (tmp_path / "tables" / place).mkdir(parents=True)
        (tmp_path / "tables" / place / "news.jsonl").write_text(table.read_text())
    recwarn.clear()
    for kind in ("parse", "preprocess"):
        job(kind, tmp_path / "tables", parser_folder, tmp_path / kind)
    assert not recwarn
    (tmp_path / "tables" / "d" / "news.jsonl").write_text(json.dumps({"text": "It rained.", "highlights": "Rain."}))
    for kind in ("parse", "preprocess"):
        with pytest.warns(InputWarning, match="1 file with the same name as another one, such as .*d/news.jsonl and"):
            job(kind, tmp_path / "tables", parser_folder, tmp_path / kind)
