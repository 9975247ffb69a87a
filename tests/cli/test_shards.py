"""`discsum parse --shards` and `discsum extract --shards`."""

import gzip
import json
import signal
import subprocess
import sys
import time

import pytest
import tiny
from small_news import pairs

PARTS = [f"part-{number:05d}.jsonl.gz" for number in range(3)]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text("".join(json.dumps({"id": pair.id, "text": pair.text}) + "\n" for pair in pairs(0, 10)))
    return path


def lines_of(folder):
    return [line for name in PARTS for line in gzip.decompress((folder / name).read_bytes()).decode().splitlines()]


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("workers", [1, 2])
def test_documents_without_text_are_told(discsum, parser_folder, tmp_path, workers):
    table = tmp_path / "some.jsonl"
    table.write_text("".join(json.dumps({"text": text}) + "\n" for text in ("It rained.", " \n", "It froze.", "")))
    options = ("--parser", parser_folder, "--shards", "--shard", 2, "--workers", workers)
    result = discsum("parse", table, "-o", tmp_path / "parts", *options)
    told = [line for line in result.err.splitlines() if "expected some text, got none; its result is empty" in line]
    assert result.code == 0 and sorted(line.split()[1] for line in told) == ["some-2:", "some-4:"]
    lines = gzip.decompress((tmp_path / "parts" / PARTS[0]).read_bytes()).splitlines()
    assert json.loads(lines[1])["warnings"] == ["expected some text, got none; its result is empty"]


def test_parts_of_parsed_documents(discsum, table, parser_folder, tmp_path):
    options = ("--parser", parser_folder, "--shards", "--shard", 4)
    result = discsum("parse", table, "-o", tmp_path / "whole", *options)
    assert (result.code, result.out) == (0, "")
    assert result.err == f"{tmp_path / 'whole'}: 10 documents in 3 files\n"
    lines = lines_of(tmp_path / "whole")
    assert [json.loads(line)["id"] for line in lines] == [pair.id for pair in pairs(0, 10)]
    # A line in its own file is in another batch, which may change probabilities.
    for number in (0, 9):
        alone = tmp_path / "alone.jsonl"
        alone.write_text(table.read_text().splitlines()[number])
        found = json.loads(discsum("parse", alone, "--jsonl", "--parser", parser_folder).out)
        made = json.loads(lines[number])
        assert [node["relation"] for node in found["nodes"]] == [node["relation"] for node in made["nodes"]]
        assert (found["text"], found["edus"]) == (made["text"], made["edus"])
    # Parts, several workers and a rerun give the same bytes.
    for number in (1, 2):
        result = discsum("parse", table, "-o", tmp_path / "set", *options, "--part", f"{number}/2", "--format", "json")
        assert result.code == 0
        files = ("2 files", "1 file")[number - 1]
        assert f"part {number}/2 is done ({files}); when all parts are done, run this with --finish" in result.err
    assert discsum("parse", table, "-o", tmp_path / "set", *options, "--finish").code == 0
    assert contents(tmp_path / "set") == contents(tmp_path / "whole")
    assert discsum("parse", table, "-o", tmp_path / "set", *options, "--workers", 2).code == 0
    assert contents(tmp_path / "set") == contents(tmp_path / "whole")
    result = discsum("parse", table, "-o", tmp_path / "set", *options, "--part", "1/2")
    assert (result.code, result.err) == (0, f"{tmp_path / 'set'}: finished, nothing is left to do for part 1/2\n")


def test_shards_of_bytes(discsum, table, parser_folder, tmp_path):
    size = table.stat().st_size
    for folder, workers in (("one", 1), ("two", 2)):
        options = ("--parser", parser_folder, "--shards", "--shard", f"{size // 2 - 1}B", "--workers", workers)
        result = discsum("parse", table, "-o", tmp_path / folder, *options)
        assert (result.code, result.err) == (0, f"{tmp_path / folder}: 10 documents in 3 files\n")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert [json.loads(line)["id"] for line in lines_of(tmp_path / "one")] == [pair.id for pair in pairs(0, 10)]


def test_a_damaged_table_is_one_failure(discsum, table, parser_folder, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    damaged = tmp_path / "in" / "a.parquet"
    damaged.parent.mkdir()
    pq.write_table(pa.table({"text": ["It rained."] * 5}), damaged)
    place = pq.ParquetFile(damaged).metadata.row_group(0).column(0).dictionary_page_offset
    with damaged.open("r+b") as file:
        file.seek(place)
        file.write(b"\xff" * 20)
    (tmp_path / "in" / "b.jsonl").write_bytes(table.read_bytes())
    result = discsum("parse", tmp_path / "in", "-o", tmp_path / "set", "--parser", parser_folder, "--shards")
    assert (result.code, "10 documents in 1 file\n" in result.err) == (3, True)
    (failure,) = map(json.loads, (tmp_path / "set" / "failures.jsonl").read_text().splitlines())
    assert failure["source"] == str(damaged)
    assert failure["reason"].startswith(f"{damaged}: expected a Parquet file whose rows can be read: ")


@pytest.mark.parametrize("kind", ["baseline", "sentence", "edu"])
def test_parts_of_summaries(discsum, table, parser_folder, summarizer_folders, tmp_path, kind):
    model = ("--model", "marcu", "--parser", parser_folder) if kind == "baseline" else ()
    model = model or ("--model", summarizer_folders[kind])
    parsed = tmp_path / "parsed"
    assert discsum("parse", table, "-o", parsed, "--parser", parser_folder, "--shards", "--shard", 3).code == 0
    wanted = discsum("extract", parsed, *model, "--json", "--batch-size", 1).out.splitlines()
    assert len(wanted) == 10
    # Only one case uses two workers, because they take seconds to start.
    for folder, options in (("one", ()), ("two", ("--workers", 2 if kind == "sentence" else 1))):
        shards = ("--shards", "--shard", 4, "--batch-size", 1)
        result = discsum("extract", parsed, "-o", tmp_path / folder, *shards, *model, *options)
        assert (result.code, result.err) == (0, f"{tmp_path / folder}: 10 documents in 3 files\n")
        assert lines_of(tmp_path / folder) == wanted
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    result = discsum("extract", parsed, "-o", tmp_path / "one", "--shards", "--shard", 4, *model, "--units", 1)
    assert result.code == 1
    assert "batch_size 1 there and 8 here, units None there and 1 here" in result.err


def test_summaries_in_parquet_are_those_of_json_lines(discsum, table, parser_folder, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    options = ("--model", "lead", "--parser", parser_folder, "--shards", "--shard", 4, "--query", "the river")
    for folder, more in (("lines", ()), ("columns", ("--shard-format", "parquet"))):
        assert discsum("extract", table, "-o", tmp_path / folder, *options, *more).code == 0
    rows = [
        {name: value for name, value in row.items() if value is not None}
        for name in PARTS
        for row in parquet.read_table(tmp_path / "columns" / name.replace("jsonl.gz", "parquet")).to_pylist()
    ]
    assert rows == [json.loads(line) for line in lines_of(tmp_path / "lines")]


def test_failures_are_listed_and_told(discsum, table, parser_folder, tmp_path):
    with table.open("a") as file:
        file.write('{"id": "nothing"}\n')
    result = discsum("parse", table, "-o", tmp_path / "set", "--parser", parser_folder, "--shards")
    assert result.code == 3
    told = result.err.splitlines()[1]
    assert told.startswith(f"discsum: 1 failed, see {tmp_path / 'set' / 'failures.jsonl'}; the first: ")
    assert "expected" in told
    (failure,) = (tmp_path / "set" / "failures.jsonl").read_text().splitlines()
    assert json.loads(failure)["source"] == f"{table}:11"


def test_a_model_that_cannot_be_used_is_the_runs_error_and_no_documents(discsum, table, parser_folder, tmp_path):
    # A parser other than the model's own.
    other = tmp_path / "other"
    tiny.make_parser(seed=3).save_pretrained(other, card="# Another\n")
    model = ("--model", "discsum-news-sentence", "--parser", other)
    result = discsum("extract", table, "-o", tmp_path / "set", "--shards", *model)
    assert (result.code, "reads the vectors of its own parser" in result.err) == (1, True)
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize("command", [("parse",), ("extract", "--model", "lead"), ("extract",)])
def test_a_folder_that_is_no_parser_is_refused_before_workers_start(discsum, table, tmp_path, command):
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "config.json").write_text('{"kind": "cupboard"}')
    result = discsum(*command, table, "-o", tmp_path / "set", "--shards", "--parser", folder)
    assert result.code == 1
    assert f"{folder / 'config.json'}: expected a discsum-parser of format 1, got cupboard" in result.err
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize(
    ("command", "options", "code", "message"),
    [
        ("parse", ["--shards"], 2, "needs -o FOLDER"),
        ("parse", ["--shards", "-o", "-"], 2, "needs -o FOLDER"),
        ("parse", ["--shards", "-o", "set.jsonl"], 2, "expected a folder for --shards, got set.jsonl; leave out"),
        ("parse", ["--shards", "-o", "OUT", "--resume"], 2, "cannot be combined with --resume"),
        ("parse", ["--shards", "-o", "OUT", "--format", "rs3"], 2, "cannot be combined with --format"),
        ("parse", ["--shards", "-o", "OUT", "--format", "tree"], 2, "cannot be combined with --format"),
        ("extract", ["--shards", "-o", "OUT", "--report", "pages"], 2, "cannot be combined with --report"),
        ("parse", ["--workers", "2", "--part", "1/2"], 2, "--part, --workers cannot be used without --shards"),
        ("extract", ["--shard-format", "parquet"], 2, "--shard-format cannot be used without --shards"),
        ("extract", ["--shards", "-o", "OUT", "--shard-format", "csv"], 2, "expected one of jsonl.gz, parquet"),
        (
            "parse",
            ["--shards", "-o", "OUT", "--shard", "8MiB"],
            1,
            "IN/text.txt: expected a table that ends in",
        ),
        ("extract", ["--shards", "-o", "OUT", "--shard", "0"], 2, "shard: expected a number of documents, such as 256"),
        ("parse", ["--shards", "-o", "OUT", "--part", "3/2"], 2, "part: expected I/N with I from 1 to N, got 3/2"),
        ("parse", ["--shards", "-o", "OUT", "--part", "1/2", "--finish"], 2, "expected --part or --finish, got both"),
        ("parse", ["--shards", "-o", "OUT", "--parser", "no/such"], 1, "no/such: expected a folder with config.json"),
        ("parse", ["--shards", "-o", "OUT", "--device", "foo"], 1, "device (--device): expected a device"),
        ("extract", ["--shards", "-o", "OUT", "--device", "foo"], 1, "device (--device): expected a device"),
        ("parse", ["--shards", "-o", "IN/parts"], 1, "expected an output folder outside the inputs, got one inside"),
    ],
)
def test_options_that_cannot_be(discsum, tmp_path, monkeypatch, command, options, code, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "IN").mkdir()
    (tmp_path / "IN" / "text.txt").write_text("It rained.")
    result = discsum(command, "IN", *options)
    assert (result.code, message in " ".join(result.err.split())) == (code, True), result.err
    assert not list(tmp_path.glob("OUT/part*"))


def test_a_finished_folder_that_is_read_only_is_checked(discsum, table, parser_folder, tmp_path, monkeypatch):
    command = ("parse", table, "--parser", parser_folder, "--shards", "-o")
    assert discsum(*command, tmp_path / "set").code == 0
    # Root may write everywhere.
    monkeypatch.setattr("os.access", lambda path, mode: False)
    for more in ([], ["--verify"], ["--finish"]):
        result = discsum(*command, tmp_path / "set", *more)
        assert (result.code, result.err) == (0, f"{tmp_path / 'set'}: 10 documents in 1 file\n")
    assert "expected a writable path for --output" in discsum(*command, tmp_path / "new").err


def test_standard_input_cannot_be_gone_on_with(discsum, tmp_path):
    result = discsum("parse", "-", "--shards", "-o", tmp_path / "set", stdin=b"It rained.")
    assert (result.code, "expected files, which can be read again, got standard input" in result.err) == (1, True)


def test_a_run_can_be_waited_for(discsum, table, parser_folder, tmp_path):
    from discsum.data.locks import folder_lock

    options = ("--parser", parser_folder, "--shards")
    with folder_lock(tmp_path / "set"):
        result = discsum("parse", table, "-o", tmp_path / "set", *options)
    assert (result.code, "another run is using it; wait for that run to end" in result.err) == (1, True)
    assert discsum("parse", table, "-o", tmp_path / "set", *options, "--wait").code == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_releases_the_lock_and_ends_the_workers(table, parser_folder, tmp_path, workers):
    long = tmp_path / "long.jsonl"
    long.write_text(table.read_text() * 2000)
    command = ["parse", long, "-o", tmp_path / "set", "--shards", "--shard", 4, "--parser", parser_folder]
    with subprocess.Popen(
        [sys.executable, "-m", "discsum", *map(str, command), "--workers", str(workers)], stderr=subprocess.PIPE
    ) as process:
        deadline = time.monotonic() + 120
        while not list((tmp_path / "set").glob("part-*")):
            assert (process.poll(), time.monotonic() < deadline) == (None, True)
            time.sleep(0.05)
        assert (tmp_path / "set" / ".lock").exists()
        process.send_signal(signal.SIGTERM)
        # Returns when standard error is closed, that is, when the workers have ended too.
        process.communicate(timeout=60)
    # The exit code that a shell reports for a process killed by the signal.
    assert process.returncode == 128 + signal.SIGTERM
    assert not (tmp_path / "set" / ".lock").exists()
