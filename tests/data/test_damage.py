"""Dataset folders that were damaged before or after they were finished."""

import json
import re

import pytest
from small_news import write_table

import discsum.data
from discsum.data.manifest import Manifest
from discsum.data.pairs import PairSource
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe
from discsum.data.run_options import RunOptions
from discsum.data.shard_run import make_all
from discsum.errors import InputError


class StoppedError(Exception):
    """The run was stopped."""


def make(table, folder, parser_folder, **options):
    recipe = PreprocessRecipe(str(parser_folder), shard=3)
    source = PairSource(str(table))
    return make_all(preprocess_job(source.pairs(), source.identity(), folder, recipe), RunOptions(**options))


def stopped(*_):
    raise StoppedError


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("tables") / "news.jsonl", 0, 10)


@pytest.fixture(scope="module")
def whole(table, parser_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("datasets") / "whole"
    make(table, folder, parser_folder)
    return contents(folder)


@pytest.fixture
def begun(table, parser_folder, tmp_path):
    """A folder with the first two of its four shards."""

    def stop(done):
        if done > 6:
            raise StoppedError

    with pytest.raises(StoppedError):
        make(table, tmp_path / "set", parser_folder, report=stop)
    assert len(list((tmp_path / "set").glob("*.parquet"))) == 2
    return tmp_path / "set"


@pytest.fixture
def finished(table, parser_folder, tmp_path):
    make(table, tmp_path / "set", parser_folder)
    return tmp_path / "set"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "verify"),
    [
        (flip, True),
        (lambda path: path.write_bytes(path.read_bytes()[:-100]), False),
        (lambda path: path.write_bytes(b""), False),
    ],
    ids=["altered", "cut", "empty"],
)
def test_a_damaged_shard_of_an_unfinished_folder_is_made_anew(whole, table, parser_folder, begun, damage, verify):
    damage(begun / "shard-00001.parquet")
    lines = []
    make(table, begun, parser_folder, warn=lines.append, verify=verify)
    assert [line.split(": ")[0] for line in lines] == [str(begun / "shard-00001.parquet")]
    assert lines[0].endswith("; made again")
    assert contents(begun) == whole


def test_an_altered_shard_that_nobody_verified_is_named_when_it_is_read(table, parser_folder, begun):
    flip(begun / "shard-00001.parquet")
    make(table, begun, parser_folder)
    with pytest.raises(InputError, match=r"shard-00001\.parquet: expected a shard with sha256"):
        discsum.data.load(begun)


@pytest.mark.parametrize(
    "damage", [lambda path: path.unlink(), lambda path: path.write_text("{")], ids=["none", "half"]
)
def test_a_shard_without_a_record_is_made_anew(whole, table, parser_folder, begun, damage):
    damage(begun / ".shard-00000.json")
    lines = []
    make(table, begun, parser_folder, warn=lines.append)
    assert len(lines) == 1
    assert contents(begun) == whole


def test_what_is_whole_is_kept_and_told_apart(whole, table, parser_folder, begun):
    lines, found, done = [], [], []
    make(table, begun, parser_folder, warn=lines.append, skip=found.append, report=done.append)
    assert (lines, found, done) == ([], [3, 6], [3, 6, 9, 10])
    assert contents(begun) == whole


def test_a_damaged_recipe_is_named(table, parser_folder, begun):
    (begun / "recipe.json").write_text('{"parser": ')
    with pytest.raises(InputError, match=r"recipe\.json: expected JSON in UTF-8, got .*; delete the folder and"):
        make(table, begun, parser_folder)


def test_a_worker_that_fails_names_its_shard(table, parser_folder, tmp_path, monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr("discsum.data.shard_maker.failing_alone", full)
    with pytest.raises(MemoryError) as found:
        make(table, tmp_path / "set", parser_folder)
    assert found.value.__notes__ == [f"while making {tmp_path / 'set' / 'shard-00000.parquet'}"]


def test_what_a_run_killed_at_its_end_left_goes(whole, table, parser_folder, finished):
    (finished / ".shard-00000.json").write_text("{}")
    (finished / "recipe.json").write_text(json.dumps(Manifest.read(finished).recipe))
    make(table, finished, parser_folder)
    assert contents(finished) == whole


@pytest.mark.parametrize(
    ("damage", "found"),
    [(flip, r"got \w+"), (lambda path: path.unlink(), "found no such file")],
    ids=["altered", "gone"],
)
def test_a_damaged_shard_of_a_finished_folder_is_named(table, parser_folder, finished, damage, found):
    damage(finished / "shard-00001.parquet")
    message = rf"shard-00001\.parquet: expected a shard with sha256 \w+, {found}; run discsum preprocess for the whole"
    with pytest.raises(InputError, match=message):
        make(table, finished, parser_folder)
    with pytest.raises(InputError, match=message):
        discsum.data.load(finished)


@pytest.mark.parametrize("damage", [flip, lambda path: path.unlink()], ids=["altered", "gone"])
def test_verify_makes_damaged_shards_of_a_finished_folder_anew(table, parser_folder, finished, whole, damage):
    damage(finished / "shard-00001.parquet")
    told = []
    make(table, finished, parser_folder, verify=True, warn=told.append)
    assert contents(finished) == whole
    (line,) = told
    assert re.search(r"shard-00001\.parquet: expected a shard with sha256 .*; made again$", line)
    make(table, finished, parser_folder, verify=True, warn=told.append)
    assert len(told) == 1


def test_a_repair_that_is_killed_is_gone_on_with(table, parser_folder, finished, whole, monkeypatch):
    flip(finished / "shard-00001.parquet")
    for target in ("discsum.data.reopening.remove", "discsum.data.shard_run._finish"):
        with monkeypatch.context() as patch:
            patch.setattr(target, stopped)
            with pytest.raises(StoppedError):
                make(table, finished, parser_folder, verify=True)
    make(table, finished, parser_folder)
    assert contents(finished) == whole


def test_a_repair_keeps_the_failures(table, parser_folder, tmp_path):
    broken = tmp_path / "broken.jsonl"
    lines = table.read_text().splitlines()
    lines[1:1] = [json.dumps({"id": "line\u2028and\x85more", "text": " ", "summary": "x"}, ensure_ascii=False), "{"]
    broken.write_text("\n".join(lines))
    assert make(broken, tmp_path / "set", parser_folder).failed == 2
    before = contents(tmp_path / "set")
    flip(tmp_path / "set" / "shard-00000.parquet")
    flip(tmp_path / "set" / "shard-00002.parquet")
    make(broken, tmp_path / "set", parser_folder, verify=True)
    assert contents(tmp_path / "set") == before


@pytest.mark.parametrize(
    ("content", "found"), [(b"", "got 0"), (b"{}\n" * 3, "got 3"), (b"\xff\n" * 2, "got 'utf-8' codec")]
)
def test_a_damaged_list_of_failures_is_made_again(table, parser_folder, tmp_path, content, found):
    folder, broken, told = tmp_path / "set", tmp_path / "broken.jsonl", []
    lines = table.read_text().splitlines()
    lines[4:4] = ["{", "{"]
    broken.write_text("\n".join(lines))
    assert make(broken, folder, parser_folder).failed == 2
    before = contents(folder)
    (folder / "failures.jsonl").write_bytes(content)
    # The second one has the failures.
    for name in ("shard-00000.parquet", "shard-00001.parquet"):
        flip(folder / name)
    make(broken, folder, parser_folder, verify=True, warn=told.append)
    assert f"failures.jsonl: expected 2 lines, as the manifest says, {found}" in told[0]
    assert sorted(re.findall(r"shard-\d+", " ".join(told))) == ["shard-00000", "shard-00001"]
    assert contents(folder) == before


def test_surplus_failures_are_removed(table, parser_folder, finished, whole):
    (finished / "failures.jsonl").write_text("{}\n")
    told = []
    make(table, finished, parser_folder, verify=True, warn=told.append)
    assert [line.endswith("expected 0 lines, as the manifest says, got 1; made again") for line in told] == [True]
    assert contents(finished) == whole


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"recipe": {}, "shards": []}', '{"format": 1, "recipe": [1], "shards": [], "width": 0}']
)
def test_a_damaged_manifest_says_what_helps(table, parser_folder, finished, content):
    (finished / "manifest.json").write_text(content)
    with pytest.raises(InputError, match=r"manifest\.json: .*expected .*; delete the folder and preprocess again"):
        make(table, finished, parser_folder)


def test_half_characters_fail_alone(parser_folder, tmp_path):
    table = write_table(tmp_path / "news.jsonl", 0, 8)
    rows = [json.loads(line) for line in table.read_text().splitlines()]
    rows = [row | {"id": f"d{number}"} for number, row in enumerate(rows)]
    rows[1]["text"], rows[3]["id"], rows[4]["summary"] = "A man \ud800 went.", "d\udfff", ["Rain.", "\ud801"]
    tree = {"sentences": [{"start": 0, "end": 4}], "edus": [{"start": 0, "end": 4, "sentence": 0}], "nodes": []}
    rows[6] = {"id": "d6", "text": "Rain", "summary": "Rain", "parser": "\ud802"} | tree
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for workers in (1, 2):
        manifest = make(table, tmp_path / f"set{workers}", parser_folder, workers=workers)
        assert (manifest.documents, manifest.failed) == (4, 4)
    assert contents(tmp_path / "set1") == contents(tmp_path / "set2")
    failures = [json.loads(line) for line in (tmp_path / "set1" / "failures.jsonl").read_text().splitlines()]
    assert [failure["source"] for failure in failures] == [f"{table}:{line}" for line in (2, 4, 5, 7)]
    for failure, (name, half) in zip(
        failures, [("the text", "D800"), ("the id", "DFFF"), ("a reference", "D801"), ("the tree", "D802")], strict=True
    ):
        assert f"expected {name} to be Unicode text, got the lone surrogate U+{half}" in failure["reason"]
    assert [row["id"] for row in discsum.data.load(tmp_path / "set1")] == ["d0", "d2", "d5", "d7"]


def test_shards_of_another_recipe_are_made_anew_though_its_file_is_gone(whole, table, parser_folder, begun):
    (begun / "recipe.json").unlink()
    lines = []
    recipe = PreprocessRecipe(str(parser_folder), oracle="kedzie", shard=3)
    source = PairSource(str(table))
    make_all(preprocess_job(source.pairs(), source.identity(), begun, recipe), RunOptions(warn=lines.append))
    assert [line.split(": ", 1)[1] for line in lines] == [
        "expected a shard of this recipe, found one of another recipe; made again"
    ] * 2
    again = begun.with_name("again")
    make_all(preprocess_job(source.pairs(), source.identity(), again, recipe))
    assert contents(begun) == contents(again)
    assert contents(begun)["shard-00000.parquet"] != whole["shard-00000.parquet"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"made_by": {}}, r"recipe\.made_by\.discsum: expected a word, got nothing"),
        ({"made_by": None}, r"recipe\.made_by: expected a group of fields, got null"),
        ({"shard": 0}, r"recipe\.shard: expected a whole number of at least 1, got 0"),
    ],
)
def test_a_manifest_without_what_is_needed(finished, changes, message):
    path = finished / "manifest.json"
    content = json.loads(path.read_text())
    content["recipe"] |= changes
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=message):
        discsum.data.load(finished)


@pytest.mark.parametrize("name", ["../elsewhere.parquet", "..", "", "shard-00000\0.parquet", "other.parquet"])
def test_a_manifest_that_names_files_elsewhere(finished, name):
    path = finished / "manifest.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"shards": [content["shards"][0] | {"file": name}]}))
    with pytest.raises(InputError, match=r"shards\[0\]\.file: expected the name of a file in the dataset's folder"):
        discsum.data.load(finished)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda content: content["recipe"].update(oracle="bertsum"),
            "a shard of the manifest's recipe, got one of another recipe",
        ),
        (lambda content: content["shards"][0].update(documents=5), "expected 5 documents and 0 failures, .* got 3 and"),
        (lambda content: content.update(width=7), "expected vectors of width 7, as the manifest says, got 0"),
    ],
    ids=["recipe", "documents", "width"],
)
def test_a_manifest_that_does_not_say_what_its_shards_are(table, parser_folder, finished, change, message):
    """The signature of a score names the oracle and the parser of the manifest, so they must be right."""
    path = finished / "manifest.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=message):
        discsum.data.load(finished)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("recipe.json", '{"cake": 1}', "expected a file written by discsum, got one without documents and made_by"),
        ("recipe.json", "[1]", "expected a JSON object, got a list"),
        (
            "manifest.json",
            '{"name": "webapp"}',
            "expected a file written by discsum, got one without recipe and shards",
        ),
        ("failures.jsonl", "mine\n", "expected no file of this name in a new folder, found one"),
    ],
)
def test_a_folder_of_another_program_is_left_as_it_is(table, parser_folder, tmp_path, name, content, message):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / name).write_text(content)
    (tmp_path / "set" / ".part-mine.json").write_text("{}")
    with pytest.raises(InputError, match=rf"{name}: {message}.*; choose another folder$"):
        make(table, tmp_path / "set", parser_folder)
    assert {path.name for path in (tmp_path / "set").iterdir()} - {".lock"} == {name, ".part-mine.json"}
    assert (tmp_path / "set" / name).read_text() == content


def test_files_that_are_named_nearly_as_records_stay(table, parser_folder, tmp_path):
    mine = [".part-mine.json", ".shard-1.json", ".shard-00000.json.bak"]
    (tmp_path / "set").mkdir()
    for name in mine:
        (tmp_path / "set" / name).write_text("{}")
    make(table, tmp_path / "set", parser_folder)
    assert set(mine) < {path.name for path in (tmp_path / "set").iterdir()}
