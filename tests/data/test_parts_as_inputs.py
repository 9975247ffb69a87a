"""Folders of parsed documents as inputs: of commands, as pairs, and what identifies them."""

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest
import tiny
from small_news import pairs, write_table

from discsum.data.failures import Failure
from discsum.data.input_source import InputSource
from discsum.data.inputs import files_of, read_inputs
from discsum.data.made_folder import has_parts, is_dataset_folder
from discsum.data.manifest import Manifest, write_recipe
from discsum.data.pairs import PairSource
from discsum.data.parts import Part
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe
from discsum.data.run_options import RunOptions
from discsum.data.shard_run import make_all, make_part
from discsum.data.tables import read_rows
from discsum.errors import InputError, InputWarning
from discsum.files import replacing
from discsum.formats.json import dumps


def test_a_folder_of_parts_is_an_input(parsed_folder, tmp_path):
    items = list(read_inputs([str(parsed_folder)]))
    assert [item.id for item in items] == [pair.id for pair in pairs(0, 17)]
    assert all(item.document.tree for item in items)
    # Also inside another folder, next to other documents; hidden files and folders are skipped.
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "z.txt").write_text("It rained.")
    (tmp_path / "corpus" / ".hidden.txt").write_text("It snowed.")
    (tmp_path / "corpus" / ".git" / "refs").mkdir(parents=True)
    (tmp_path / "corpus" / ".git" / "refs" / "head.txt").write_text("It hailed.")
    shutil.copytree(parsed_folder, tmp_path / "corpus" / "parts")
    found = list(read_inputs([str(tmp_path / "corpus")]))
    assert [item.id for item in found] == [*(item.id for item in items), "z"]
    assert [item.id for item in read_inputs([str(tmp_path / "corpus" / "**" / "*.txt")])] == ["z"]
    # A hidden folder is read if it is named.
    assert [item.id for item in read_inputs([str(tmp_path / "corpus" / ".git")])] == ["head"]


def test_a_folder_of_parts_is_no_dataset(parsed_folder):
    assert has_parts(parsed_folder)
    assert not is_dataset_folder(parsed_folder)
    with pytest.raises(
        InputError, match=r"expected a dataset folder made by discsum preprocess, got one made by discsum parse$"
    ):
        Manifest.read(parsed_folder)


def test_a_run_without_documents_is_an_input_without_documents(parse_job_of, tmp_path):
    (tmp_path / "none.jsonl").write_text("")
    with pytest.warns(InputWarning, match="expected a table with documents, got none"):
        make_all(parse_job_of(tmp_path / "set", tmp_path / "none.jsonl"), RunOptions())
    with pytest.warns(InputWarning, match=r"set: expected a folder with documents, got that of a run without any$"):
        assert list(read_inputs([str(tmp_path / "set")])) == []
    with pytest.raises(InputError, match=r"set: expected a folder with documents, got that of a run without any$"):
        PairSource(str(tmp_path / "set")).identity()


def test_an_unfinished_folder_or_one_that_lacks_a_part_is_no_input(parse_job_of, tmp_path):
    folder = tmp_path / "set"
    make_part(parse_job_of(folder), Part(1, 2), RunOptions())
    (failure,) = read_inputs([str(folder)])
    assert isinstance(failure, Failure)
    assert "set: expected a folder with manifest.json, this one is not finished: run discsum parse again" in str(
        failure
    )
    make_all(parse_job_of(folder), RunOptions())
    (folder / "part-00002.jsonl.gz").unlink()
    (failure,) = read_inputs([str(folder)])
    assert "part-00002.jsonl.gz: expected this file, which manifest.json lists, found no such file" in str(failure)


def test_a_folder_that_was_only_begun_is_no_input(parse_job_of, tmp_path):
    write_recipe(tmp_path, parse_job_of(tmp_path / "set").recipe)
    with pytest.raises(InputError, match=r"this one is not finished: run discsum parse again"):
        files_of(str(tmp_path))


@pytest.mark.parametrize("content", ['{"name": "webapp"}', "[1]", "// notes"])
def test_a_manifest_of_another_program_is_no_shard_folder(tmp_path, content):
    (tmp_path / "manifest.json").write_text(content)
    (tmp_path / "rows.jsonl").write_text('{"text": "Rain."}\n')
    (item,) = read_inputs([str(tmp_path / "*.jsonl")])
    assert item.text == "Rain."


def test_a_folder_of_parts_is_a_source_of_pairs_without_its_failures(parsed_folder):
    (first, *_) = PairSource(str(parsed_folder)).files
    assert first.path == parsed_folder / "part-00000.jsonl.gz"
    assert len(PairSource(str(parsed_folder)).files) == 4


def test_a_pattern_names_some_parts(parsed_folder, tmp_path):
    names = [file.path.name for file in files_of(f"{parsed_folder}/part-0000[02]*")]
    assert names == ["part-00000.jsonl.gz", "part-00002.jsonl.gz"]
    # No pattern reads the file of failures as documents.
    assert [file.path.name for file in PairSource(f"{parsed_folder}/*").files] == [
        f"part-0000{number}.jsonl.gz" for number in range(4)
    ]


def test_parts_are_tables_of_pairs_where_they_have_summaries(parsed_folder, tmp_path):
    """Like rows of `discsum parse --jsonl`, they keep their trees."""
    path = tmp_path / "part-00001.jsonl.gz"
    rows = [row | {"summary": "Rain."} for _, row in read_rows(parsed_folder / path.name, "utf-8")]
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    assert [pair.document.tree is not None for pair in PairSource(str(path)).pairs()] == [True] * 5


def test_documents_that_come_with_trees_keep_them(parse_job_of, tmp_path):
    document = tiny.make_parser(seed=9).parse(tiny.ARTICLE, id="own")
    (tmp_path / "own.json").write_text(dumps(document))
    make_all(parse_job_of(tmp_path / "set", tmp_path / "own.json"), RunOptions())
    (item,) = read_inputs([str(tmp_path / "set")])
    assert item.document.tree == document.tree


def test_an_identity_is_that_of_names_and_contents(tmp_path):
    folder = tmp_path / "texts"
    for name in ("a", "b"):
        (folder / name).mkdir(parents=True)
        (folder / name / "text.txt").write_text(f"Text {name}.")
    one = InputSource([str(folder)]).identity()
    assert one["files"] == 2
    assert InputSource([str(tmp_path / "texts")], encoding="latin-1").identity() != one
    (folder / "b" / "text.txt").rename(folder / "b" / "other.txt")
    assert InputSource([str(folder)]).identity() != one
    with pytest.raises(InputError, match="-: expected files, which can be read again, got standard input"):
        InputSource(["-"]).identity()
    with pytest.raises(InputError, match="no such file or folder"):
        InputSource([str(tmp_path / "missing")]).identity()


@pytest.mark.skipif(os.name != "posix", reason="names are bytes")
def test_names_that_are_not_utf_8(parser_folder, tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.jsonl"))
    shutil.copyfile(write_table(tmp_path / "news.jsonl", 0, 2), path)
    source = PairSource(str(path))
    job = preprocess_job(
        source.pairs(0, 2), source.identity(), tmp_path / "set", PreprocessRecipe(str(parser_folder), encoder="none")
    )
    made = make_all(job, RunOptions())
    assert made.recipe["documents"]["name"] == "caf\\udce9.jsonl"
    assert Manifest.read(tmp_path / "set").recipe == make_all(job, RunOptions()).recipe


def test_long_names_can_be_written(tmp_path):
    path = tmp_path / ("\u96e8" * 83 + ".txt")
    with replacing(path) as partial:
        partial.write_text("Rain.")
    assert path.read_text() == "Rain."
