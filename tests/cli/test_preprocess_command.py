import json
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from rich.progress import Progress

from discsum.cli.output_paths import check_no_input, check_outside
from discsum.cli.progress import Counter
from discsum.data.inputs import input_files
from discsum.data.storage import location
from discsum.errors import InputError

ROWS = [
    {"id": f"d{number}", "article": f"Text {number}. It rained.", "highlights": "It rained."} for number in range(10)
]


@pytest.fixture
def preprocess(discsum, parser_folder, tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))

    def run(*options):
        return discsum("preprocess", path, tmp_path / "data", "--parser", parser_folder, *options)

    return run


def test_a_dataset_folder(preprocess, tmp_path):
    result = preprocess("--unit", "edu", "--shard", 4, "--oracle", "discobert-edu")
    assert (result.code, result.out) == (0, "")
    assert "10 documents in 3 files" in result.err
    names = sorted(path.name for path in (tmp_path / "data").iterdir() if not path.name.startswith("."))
    assert names == ["failures.jsonl", "manifest.json", *(f"shard-{number:05d}.parquet" for number in range(3))]


def test_a_folder_of_trees_is_no_table(discsum, tmp_path):
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "a.rs3").write_text("<rst></rst>")
    result = discsum("preprocess", tmp_path / "trees", tmp_path / "data")
    assert (result.code, "its trees become a table with discsum parse" in result.err) == (1, True)


def test_a_wrong_column_is_answered_with_those_there_are(preprocess):
    result = preprocess("--text-column", "body")
    assert result.code == 1
    message = "news.jsonl:1: expected a column body, got the columns id, article, highlights; use --text-column"
    assert message in result.err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--unit", "word"], 2, "expected one of sentence, edu, both, got 'word'"),
        (["--workers", 0], 2, "--workers"),
        (
            ["--oracle", "best"],
            2,
            "oracle: expected one of bertsum, discobert-edu, kedzie, rouge12-f, none, got 'best'",
        ),
        (
            ["--encoder", "no/such/folder"],
            1,
            "no/such/folder: expected the name of a model on the hub, or a local folder",
        ),
        (["--encoder", "no/such/folder"], 1, "; or use one of none, contextual, discourse, isolated\n"),
        (
            ["--encoder", "isolate"],
            2,
            "encoder: expected one of none, contextual, discourse, isolated, or an encoder's name or folder",
        ),
        (["--oracle", "none", "--oracle-units", 3], 2, "oracle_units: expected none with oracle none, got 3"),
        (
            ["--device", "foo"],
            1,
            "discsum: device (--device): expected a device that torch can use here, such as cpu, got",
        ),
    ],
)
def test_options_that_cannot_be(preprocess, options, code, message):
    result = preprocess(*options)
    assert result.code == code
    # Messages about usage are wrapped.
    assert message in (" ".join(result.err.split()) if code == 2 else result.err)


def test_a_folder_of_splits_is_answered_with_them(discsum, tmp_path):
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_list(ROWS)
    datasets.DatasetDict({"test": rows, "train": rows}).save_to_disk(tmp_path / "splits")
    result = discsum("preprocess", tmp_path / "splits", tmp_path / "data")
    assert result.code == 1
    assert result.err.endswith(
        f"splits: expected a dataset, got a folder of the splits test, train; name the folder of one split, such as "
        f"{tmp_path / 'splits' / 'train'}\n"
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_but_its_own_lines_is_said(preprocess, encoder_folder, parser_folder, tmp_path, workers):
    """Encoders are loaded without the library's progress bars and reports, also by workers."""
    preprocess("--unit", "edu")
    options = ("--parser", parser_folder, "--encoder", encoder_folder, "--workers", workers)
    command = ("preprocess", tmp_path / "news.jsonl", tmp_path / "encoded", *options)
    result = subprocess.run(
        [sys.executable, "-m", "discsum", *map(str, command)],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        timeout=300,
    )
    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr == f"{tmp_path / 'encoded'}: 10 documents in 1 file\n"


@pytest.mark.parametrize(
    ("damage", "options", "told"),
    [
        (lambda content: content[:-9], (), "expected a shard of "),
        (lambda content: content[:99] + b"?" + content[100:], ("--verify",), "expected a shard with sha256 "),
    ],
    ids=["cut", "altered"],
)
def test_a_damaged_shard_is_told_and_made_anew(preprocess, tmp_path, damage, options, told):
    # Makes all shards, but does not finish the folder.
    preprocess("--shard", 4, "--part", "1/1")
    shard = tmp_path / "data" / "shard-00001.parquet"
    whole = shard.read_bytes()
    shard.write_bytes(damage(whole))
    result = preprocess("--shard", 4, *options)
    assert result.code == 0
    assert result.err.startswith(f"discsum: {shard}: {told}")
    assert "; made again\n" in result.err
    assert shard.read_bytes() == whole
    assert sorted(path.name for path in shard.parent.glob(".*")) == []


def test_what_an_earlier_run_has_done_is_not_in_the_rate():
    now = 0.0
    bar = Progress(get_time=lambda: now)
    bar.add_task("done", total=100, text="")
    count = Counter(bar)
    count.skip(60)
    count(60)
    now = 10.0
    count(80)
    [task] = bar.tasks
    assert (task.completed, task.total) == (20, 40)
    assert task.fields["text"] == "80 of 100 documents done, 2.0 a second"


def test_documents_are_reported_by_the_batch(parser_folder, tmp_path):
    from small_news import write_table

    from discsum.data.pairs import PairSource
    from discsum.data.preprocess import preprocess_job
    from discsum.data.preprocess_recipe import PreprocessRecipe
    from discsum.data.run_options import RunOptions
    from discsum.data.shard_run import make_all

    source, done = PairSource(str(write_table(tmp_path / "t.jsonl", 0, 20))), []
    recipe = PreprocessRecipe(str(parser_folder))
    make_all(
        preprocess_job(source.pairs(), source.identity(), tmp_path / "set", recipe), RunOptions(report=done.append)
    )
    assert done == [8, 16, 20]


def test_parts_of_a_dataset(preprocess, tmp_path):
    whole = preprocess("--shard", 4)
    manifest = tmp_path / "data" / "manifest.json"
    kept = manifest.read_text()
    for path in (tmp_path / "data").iterdir():
        path.unlink()
    for part, files in ((1, "2 files"), (2, "1 file")):
        result = preprocess("--shard", 4, "--part", f"{part}/2")
        assert (result.code, result.out) == (0, "")
        said = f"part {part}/2 is done ({files}); when all parts are done, run this with --finish\n"
        assert result.err == f"{tmp_path / 'data'}: {said}"
        assert not manifest.exists()
    assert preprocess("--shard", 4, "--finish") == whole
    assert manifest.read_text() == kept


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--part", "3/2"], 2, "part: expected I/N with I from 1 to N, got 3/2"),
        (["--part", "1/2", "--finish"], 2, "expected --part or --finish, got both"),
        (["--finish"], 1, "expected 1 shard, 1 missing: shard-00000.parquet; run their parts again"),
        (["--engine", "rey"], 2, "expected one of the engines local, ray, got 'rey' (did you mean ray?)"),
        (
            ["--cpus-per-worker", 2],
            2,
            "engine local: expected no options, got cpus_per_worker (--cpus-per-worker)",
        ),
        (
            ["--engine", "local:here"],
            2,
            "engine local: expected its name only, got local:here; this engine takes no address",
        ),
        (["--engine", "ray", "--gpus-per-worker", "1.5"], 2, "engine ray: gpus_per_worker: expected a whole number"),
    ],
)
def test_parts_and_engines_that_cannot_be(preprocess, options, code, message):
    result = preprocess(*options)
    assert result.code == code
    assert message in result.err


@pytest.mark.parametrize("source", ["tabs", "URL", "tabs/*", "tabs/**/*.parquet", "tabs/o?t/*"])
def test_an_output_in_the_input_is_refused(discsum, parser_folder, tmp_path, monkeypatch, source):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tabs").mkdir()
    (tmp_path / "tabs" / "news.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    table = (tmp_path / "tabs").as_uri() if source == "URL" else source
    # `tabs/*` does not match files in subfolders, so the output is not read as input.
    code = 0 if source == "tabs/*" else 1
    result = discsum("preprocess", table, "tabs/out", "--parser", parser_folder)
    assert (result.code, "expected an output folder outside the inputs" in result.err) == (code, bool(code)), result.err


@pytest.mark.parametrize(
    ("folder", "inside"), [("s3://b/train/out", True), ("s3://b/train", True), ("s3://b/trains/out", False)]
)
def test_an_output_in_an_input_of_a_store(folder, inside):
    for name in ("s3://b/train", "s3://b/train/", "s3://b/train/**", "s3://b/tr*n/**"):
        with pytest.raises(InputError, match="got one inside s3://b/tr") if inside else nullcontext():
            check_outside(location(folder), ["news", "-", name])


def test_names_of_inputs_in_other_letters(tmp_path, monkeypatch):
    text, folder = tmp_path / "News.txt", tmp_path / "News"
    text.write_text("Rain fell.")
    folder.mkdir()
    other = tmp_path / "news.txt"
    check_no_input(other, input_files([str(text)]))
    # As on a file system that ignores case: there, both names are the same file.
    other.hardlink_to(text)
    with pytest.raises(InputError, match="this one is an input"):
        check_no_input(other, input_files([str(text)]))
    check_outside(tmp_path / "news" / "out", [str(folder)])
    (tmp_path / "news").mkdir()
    monkeypatch.setattr(Path, "samefile", lambda path, second: path.name.casefold() == Path(second).name.casefold())
    with pytest.raises(InputError, match="got one inside"):
        check_outside(tmp_path / "news" / "out", [str(folder)])
