"""Datasets made in parts by independent runs."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from small_news import write_table
from waiting_runs import run_together

from discsum.constants import MAX_DOCUMENT_BYTES
from discsum.data.claims import begin, part_lock_name
from discsum.data.locks import folder_lock, part_lock
from discsum.data.pairs import Pair, PairSource
from discsum.data.parts import Part
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe
from discsum.data.rows import open_rows
from discsum.data.run_options import RunOptions
from discsum.data.shard_run import finish, make_all, make_part
from discsum.document import Document
from discsum.errors import InputError
from discsum.tree import Node, RSTTree


@pytest.fixture(scope="module")
def dataset(parser_folder, tmp_path_factory):
    """Return a function that makes the arguments of a job of six shards, and the files of a folder made by one run."""
    place = tmp_path_factory.mktemp("parts")
    table = write_table(place / "news.jsonl", 0, 11)
    with table.open("a") as file:
        file.write("{\n")
    recipe = PreprocessRecipe(str(parser_folder), shard=2)

    def of(folder, **changes):
        source = PairSource(str(table))
        return source.pairs(), source.identity(), folder, PreprocessRecipe(**(recipe.to_dict() | changes))

    make_all(preprocess_job(*of(place / "whole")))
    return of, contents(place / "whole")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(("shards", "parts"), [(6, 1), (6, 4), (2, 5), (0, 3)])
def test_parts_are_disjoint_and_whole(shards, parts):
    made = [number for part in range(1, parts + 1) for number in range(shards) if Part(part, parts).has(number)]
    assert sorted(made) == list(range(shards))
    assert Part.of(str(Part(parts, parts))) == Part(parts, parts)


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/", "-1/2", "1/2/3", "²/3", ""])
def test_what_is_no_part(text):
    with pytest.raises(InputError, match=r"^part: expected I/N"):
        Part.of(text)


def test_parts_that_run_together_give_the_same_bytes(dataset, tmp_path):
    of, whole = dataset
    # One job can be used several times.
    job = preprocess_job(*of(tmp_path / "set"))
    with ThreadPoolExecutor(4) as pool:
        parts = [Part(number, 4) for number in range(1, 5)]
        made = list(pool.map(lambda part: make_part(job, part), parts))
    assert made == [2, 2, 1, 1]
    assert not (tmp_path / "set" / "manifest.json").exists()
    manifest = finish(job)
    assert (manifest.documents, manifest.failed) == (11, 1)
    assert contents(tmp_path / "set") == whole
    # Parts of a finished folder have nothing to do.
    assert make_part(job, Part(1, 2)) == 0
    assert finish(job).shards == manifest.shards
    assert contents(tmp_path / "set") == whole


def test_documents_that_can_be_read_once_are_refused(dataset, tmp_path):
    of, _ = dataset
    pairs, *others = of(tmp_path / "set")
    with pytest.raises(InputError, match=r"pairs: expected a list, or what .* returns, got an iterator"):
        preprocess_job(iter(pairs), *others)
    preprocess_job(list(pairs), *others)


def test_the_largest_document_is_part_of_the_identity(tmp_path):
    table = write_table(tmp_path / "news.jsonl", 0, 3)
    usual, small = PairSource(str(table)), PairSource(str(table), max_document_bytes=300)
    assert usual.identity() == PairSource(str(table), max_document_bytes=MAX_DOCUMENT_BYTES).identity()
    assert small.identity() == usual.identity() | {"max_document_bytes": 300}


def test_shards_with_other_references_or_trees_are_made_again(parser_folder, tmp_path):
    def pairs(reference, split):
        for number in range(2):
            tree = RSTTree(3, [Node(0, 2, split, "NS", "joint"), Node(1 - split, 2 - split, 1 - split, "NS", "joint")])
            document = Document.from_edu_texts(["It rained,", "so we left", "by bus."], tree, str(number))
            yield Pair(str(number), document.text, (reference,), document)

    def job(*arguments):
        recipe = PreprocessRecipe(str(parser_folder), shard=1)
        return preprocess_job([*pairs(*arguments)], {"name": "list"}, tmp_path / "set", recipe)

    for first, second in ((("We left.", 0), ("It rained.", 0)), (("It rained.", 1), ("It rained.", 0))):
        make_part(job(*first), Part(1, 2), RunOptions(warn=[].append))
        make_all(job(*second), RunOptions(warn=(told := []).append))
        assert len(told) == 1
        found = [*open_rows(tmp_path / "set")]
        assert [(row["references"], row["nodes"][0]["split"]) for row in found] == [([second[0]], 0)] * 2
        shutil.rmtree(tmp_path / "set")


def test_what_is_missing_or_damaged_is_named(dataset, tmp_path):
    of, whole = dataset
    folder = tmp_path / "set"
    with pytest.raises(InputError, match=r"set: expected 6 shards, 6 missing: shard-00000.parquet, .* and 1 more;"):
        finish(preprocess_job(*of(folder)))
    make_part(preprocess_job(*of(folder)), Part(2, 3))
    damaged = folder / "shard-00004.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    with pytest.raises(
        InputError, match=r"shard-00004.parquet, .*; .*shard-00004.parquet: expected a shard of [\d,]+ bytes"
    ):
        finish(preprocess_job(*of(folder)))
    intact = (folder / "shard-00001.parquet").stat().st_mtime_ns
    told = []
    for number in (1, 2, 3):
        make_part(preprocess_job(*of(folder)), Part(number, 3), RunOptions(warn=told.append))
    assert (folder / "shard-00001.parquet").stat().st_mtime_ns == intact
    assert [line.endswith("; made again") for line in told] == [True]
    finish(preprocess_job(*of(folder)))
    assert contents(folder) == whole


def test_a_run_of_everything_completes_what_parts_left(dataset, tmp_path):
    of, whole = dataset
    make_part(preprocess_job(*of(tmp_path / "set")), Part(1, 3))
    make_all(preprocess_job(*of(tmp_path / "set")))
    assert contents(tmp_path / "set") == whole


def part_at_work(folder, name):
    return part_lock(folder, name, lambda: True)


def begun_part(folder, recipe, number):
    name = part_lock_name(Part(number, 2), recipe)
    return part_lock(folder, name, lambda: begin(folder, recipe, in_parts=True))


def test_parts_keep_to_one_recipe_and_to_one_run_each(dataset, tmp_path):
    of, _ = dataset
    folder = tmp_path / "set"
    make_part(preprocess_job(*of(folder)), Part(1, 2))
    with pytest.raises(InputError, match="oracle 'rouge12-f' there and 'kedzie' here"):
        make_part(preprocess_job(*of(folder, oracle="kedzie")), Part(2, 2))
    with part_at_work(folder, part_lock_name(Part(2, 2), preprocess_job(*of(folder)).recipe)):
        with pytest.raises(InputError, match="another run is using it; wait for that run to end"):
            make_part(preprocess_job(*of(folder)), Part(2, 2))
        assert make_part(preprocess_job(*of(folder)), Part(1, 2)) == 3


def test_a_recipe_is_replaced_only_where_no_other_part_is_at_work(dataset, tmp_path):
    of, _ = dataset
    wrong, right = (
        job.recipe for job in (preprocess_job(*of(tmp_path, oracle=name)) for name in ("kedzie", "bertsum"))
    )
    with begun_part(tmp_path, right, 1) as begun:
        assert begun
        with (
            pytest.raises(InputError, match=r"'bertsum' there and 'kedzie' here.*; wait for them, or stop them$"),
            begun_part(tmp_path, wrong, 2),
        ):
            pytest.fail("two recipes")
        assert json.loads((tmp_path / "recipe.json").read_text())["oracle"] == "bertsum"
    # Only a part of the same recipe is running now.
    with part_at_work(tmp_path, part_lock_name(Part(1, 2), wrong)), begun_part(tmp_path, wrong, 2) as begun:
        assert begun
    assert json.loads((tmp_path / "recipe.json").read_text())["oracle"] == "kedzie"


def test_a_run_of_everything_and_parts_keep_out_of_each_others_way(dataset, tmp_path, monkeypatch):
    of, _ = dataset
    monkeypatch.setattr("discsum.data.locks.MOMENT", 0.2)
    for held, run in (
        ("1-of-2", lambda: make_all(preprocess_job(*of(tmp_path)))),
        ("1-of-2", lambda: finish(preprocess_job(*of(tmp_path)))),
        ("", lambda: make_part(preprocess_job(*of(tmp_path)), Part(1, 2))),
    ):
        with (
            part_at_work(tmp_path, held) if held else folder_lock(tmp_path),
            pytest.raises(InputError, match="another run is using it; wait for that run to end"),
        ):
            run()
    assert not list(tmp_path.glob("*.parquet"))


def test_a_run_of_everything_and_a_part_may_wait_for_each_other(tmp_path, monkeypatch):
    monkeypatch.setattr("discsum.data.locks.MOMENT", 0.2)
    held, done = run_together(tmp_path, monkeypatch, "locked")
    assert held == [".lock", ".lock-1-of-2"]
    assert done == ["", "1-of-2"]


def test_failures_are_listed_when_parts_are_finished(dataset, tmp_path):
    of, _ = dataset
    for number in (1, 2):
        make_part(preprocess_job(*of(tmp_path)), Part(number, 2))
    finish(preprocess_job(*of(tmp_path)))
    (line,) = (tmp_path / "failures.jsonl").read_text().splitlines()
    assert json.loads(line)["source"].endswith("news.jsonl:12")


def test_parts_of_a_corrected_command_may_start_together(dataset, tmp_path):
    of, _ = dataset
    wrong = preprocess_job(*of(tmp_path, oracle="kedzie")).recipe
    for number in range(1, 9):
        # As killed parts leave their locks.
        (tmp_path / f".lock-{part_lock_name(Part(number, 8), wrong)}").touch()
    (tmp_path / "recipe.json").write_text(json.dumps(wrong))
    job = preprocess_job(*of(tmp_path))
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda number: make_part(job, Part(number, 8)), range(1, 9)))
    assert sum(made) == 6
    assert finish(job).documents == 11


def test_one_of_two_first_parts_writes_the_recipe(tmp_path):
    def try_begin(name):
        recipe = {"documents": {}, "made_by": {}, "oracle": name}
        try:
            with part_lock(
                tmp_path,
                part_lock_name(Part(1 if name == "a" else 2, 2), recipe),
                lambda: begin(tmp_path, recipe, in_parts=True),
            ):
                barrier.wait(10)
                return True
        except InputError:
            barrier.wait(10)
            return False

    for _ in range(5):
        barrier = Barrier(2)
        with ThreadPoolExecutor(2) as pool:
            assert sum(pool.map(try_begin, "ab")) == 1
        (tmp_path / "recipe.json").unlink()


def test_the_command_that_made_a_damaged_folder_is_named(tmp_path):
    recipe = {"command": "extract", "documents": {}, "made_by": {}}
    (tmp_path / "manifest.json").write_text(json.dumps({"format": 1, "recipe": recipe, "shards": 3, "width": 0}))
    with pytest.raises(InputError, match=r"shards: .*; delete the folder and extract again$"):
        begin(tmp_path, recipe)
