"""Folders of parsed documents in parts, JSON lines or Parquet; they follow the rules of dataset folders."""

import gzip
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_work import EngineWithKilledWorker
from small_news import pairs, write_table

from discsum import markup
from discsum.data.divided_tables import DividedTables
from discsum.data.failures import Failure
from discsum.data.input_source import InputSource
from discsum.data.inputs import Item, read_inputs
from discsum.data.manifest import Manifest
from discsum.data.pairs import PairSource
from discsum.data.parse_parts import ParseRecipe, parse_job
from discsum.data.part_maker import Division
from discsum.data.parts import Part
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe
from discsum.data.run_options import RunOptions
from discsum.data.shard_run import finish, make_all, make_part
from discsum.data.slices import Unread
from discsum.data.tables import read_rows
from discsum.document import Document
from discsum.errors import DiscsumError, InputError, InputWarning, MissingExtraError
from discsum.formats.json import dumps
from discsum.parsers.loading import _loaded
from discsum.parsers.parser import Parser


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_part_has_the_objects_of_its_documents_in_order(parsed_folder, parser_folder):
    names = [f"part-{number:05d}.jsonl.gz" for number in range(4)]
    assert sorted(path.name for path in parsed_folder.iterdir()) == ["failures.jsonl", "manifest.json", *names]
    parser = Parser.from_pretrained(parser_folder)
    wanted = list(pairs(0, 17))
    # Up to eight documents form a batch. The first part has one document fewer, because one of its lines is not JSON.
    for name, count in zip(names, (4, 5, 5, 3), strict=True):
        own, wanted = wanted[:count], wanted[count:]
        parsed = parser.parse_many([pair.text for pair in own], ids=[pair.id for pair in own])
        assert gzip.decompress((parsed_folder / name).read_bytes()).decode() == "".join(map(dumps, parsed))
    manifest = Manifest.read(parsed_folder, "parse")
    assert [(shard.documents, shard.failed) for shard in manifest.shards] == [(4, 1), (5, 0), (5, 0), (3, 0)]
    (failure,) = (parsed_folder / "failures.jsonl").read_text().splitlines()
    assert json.loads(failure)["source"].endswith("news.jsonl:3")


def test_a_gzip_member_has_no_time(parsed_folder):
    for path in parsed_folder.glob("*.gz"):
        assert path.read_bytes()[:8] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00"


def test_any_engine_gives_the_same_bytes_after_a_kill(engine, parsed_folder, parse_job_of, tmp_path):
    done = []
    killing = EngineWithKilledWorker(engine, tmp_path / "killed")
    with pytest.warns(InputWarning, match=r"^a worker died on part-0000\d.jsonl.gz: "):
        make_all(parse_job_of(tmp_path / "set"), RunOptions(engine=killing, report=done.append))
    assert contents(tmp_path / "set") == contents(parsed_folder)
    assert done[-1] == 18


def test_parts_that_run_together_are_finished_and_kept(parsed_folder, parse_job_of, tmp_path):
    folder = tmp_path / "set"
    with pytest.raises(InputError, match=r"set: expected 4 shards, 4 missing: part-00000.jsonl.gz, "):
        finish(parse_job_of(folder), RunOptions())
    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(make_part, parse_job_of(folder), Part(number, 3), RunOptions()) for number in (1, 2, 3)]
        assert [run.result() for run in runs] == [2, 1, 1]
    assert sorted(path.name for path in folder.glob(".*")) == [f".part-{number:05d}.json" for number in range(4)]
    finish(parse_job_of(folder), RunOptions())
    assert contents(folder) == contents(parsed_folder)
    # A finished folder needs no more work.
    assert make_all(parse_job_of(folder), RunOptions(report=pytest.fail)).documents == 17


def test_a_rerun_keeps_what_is_whole_and_makes_the_rest(parsed_folder, parse_job_of, tmp_path):
    folder, told = tmp_path / "set", []
    make_part(parse_job_of(folder), Part(1, 1), RunOptions())
    kept = (folder / "part-00001.jsonl.gz").stat().st_mtime_ns
    (folder / "part-00000.jsonl.gz").unlink()
    damaged = folder / "part-00002.jsonl.gz"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    make_all(parse_job_of(folder), RunOptions(warn=told.append))
    assert (folder / "part-00001.jsonl.gz").stat().st_mtime_ns == kept
    assert [line.endswith("; made again") for line in told] == [True]
    assert contents(folder) == contents(parsed_folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"recipe": {"sentences": "newline"}}, "sentences 'model' there and 'newline' here"),
        ({"shard_format": "parquet"}, "shard_format 'jsonl.gz' there and 'parquet' here"),
        ({"batch_size": 2}, "batch_size 8 there and 2 here"),
        ({"shard": 4}, "shard 5 there and 4 here"),
    ],
)
def test_other_options_are_refused(parsed_folder, parse_job_of, changes, message):
    with pytest.raises(InputError, match=message):
        make_all(parse_job_of(parsed_folder, **changes), RunOptions())


def test_other_documents_and_other_commands_are_refused(parsed_folder, parse_job_of, parse_table, tmp_path):
    other = tmp_path / "news.jsonl"
    other.write_text(parse_table.read_text().replace("river", "brook"))
    with pytest.raises(InputError, match=r"documents digest '\w+' there and '\w+' here"):
        make_all(parse_job_of(parsed_folder, other), RunOptions())


def test_an_altered_part_of_a_finished_folder_is_named(parsed_folder, parse_job_of, tmp_path):
    folder = tmp_path / "set"
    make_all(parse_job_of(folder), RunOptions())
    path = folder / "part-00001.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    message = r"part-00001.jsonl.gz: expected a shard with sha256 \w+, got \w+; run discsum parse for the whole"
    with pytest.raises(InputError, match=message):
        make_all(parse_job_of(folder), RunOptions())
    # A run of a part skips a finished folder; with `verify` it names the altered part.
    assert make_part(parse_job_of(folder), Part(2, 2), RunOptions()) == 0
    with pytest.raises(InputError, match=message):
        make_part(parse_job_of(folder), Part(2, 2), RunOptions(verify=True))
    told = []
    make_all(parse_job_of(folder), RunOptions(verify=True, warn=told.append))
    assert len(told) == 1
    assert contents(folder) == contents(parsed_folder)


def test_parquet_has_the_same_objects(parsed_folder, parse_job_of, tmp_path):
    make_all(parse_job_of(tmp_path / "set", shard_format="parquet"), RunOptions())
    for name in ("part-00000", "part-00003"):
        rows = [row for _, row in read_rows(tmp_path / "set" / f"{name}.parquet", "utf-8")]
        lines = [row for _, row in read_rows(parsed_folder / f"{name}.jsonl.gz", "utf-8")]
        assert [Document.from_json(row).to_json() for row in rows] == lines


def test_what_parquet_cannot_hold_fails_alone(parse_job_of, tmp_path):
    table = tmp_path / "odd.jsonl"
    table.write_text("".join(json.dumps({"id": text, "text": text}) + "\n" for text in ("Rain.", "\ud800", "Wind.")))
    manifest = make_all(parse_job_of(tmp_path / "set", table, shard_format="parquet"), RunOptions())
    assert (manifest.documents, manifest.failed) == (2, 1)
    failures = (tmp_path / "set" / "failures.jsonl").read_text()
    assert "odd.jsonl:2" in failures
    assert "expected Unicode text, got the lone surrogate U+D800; write jsonl.gz instead" in failures
    lines = make_all(parse_job_of(tmp_path / "lines", table), RunOptions())
    assert (lines.documents, lines.failed) == (3, 0)


def test_a_precision_that_the_device_lacks_is_the_runs_error_and_no_documents(
    parse_job_of, parser_folder, tmp_path, monkeypatch
):
    def refuse(name, device):
        raise InputError(f"precision (--precision): expected one that {device} supports, such as fp32, got {name}")

    # Another test may have loaded this parser in that precision.
    _loaded.cache_clear()
    monkeypatch.setattr("discsum.parsers.parser.check_precision", refuse)
    refused = r"^precision \(--precision\): expected one that cpu supports, such as fp32, got bf16"
    with pytest.raises(InputError, match=refused):
        make_all(parse_job_of(tmp_path / "set", recipe={"precision": "bf16"}), RunOptions())
    source = PairSource(str(write_table(tmp_path / "pairs.jsonl", 0, 3)))
    recipe = PreprocessRecipe(str(parser_folder), precision="bf16")
    with pytest.raises(InputError, match=refused):
        make_all(preprocess_job(source.pairs(), source.identity(), tmp_path / "dataset", recipe))
    assert not list(tmp_path.glob("*/manifest.json"))


def test_shards_of_other_documents_are_made_again(parse_job_of, tmp_path, monkeypatch):
    tables = [tmp_path / f"{name}.parquet" for name in "ab"]
    for path in tables:
        texts = [f"{path.stem}{number} rained." for number in range(4)]
        pq.write_table(pa.table({"id": [text[:2] for text in texts], "text": texts}), path)
    folder, job = tmp_path / "set", parse_job_of(tmp_path / "set", *tables, shard=2)
    read = DividedTables.footer

    def unread(self, file):
        return Unread(file, "EIO") if file.path.stem == "a" else read(self, file)

    make_part(job, Part(1, 2))
    with monkeypatch.context() as patched:
        # The first table cannot be read for a moment, which moves the rows of the second to other shards.
        patched.setattr(DividedTables, "footer", unread)
        make_part(job, Part(2, 2))
    with pytest.raises(InputError, match=r"part-00001.jsonl.gz: expected a shard of the documents that this run reads"):
        finish(job)
    told = []
    manifest = make_all(job, RunOptions(warn=told.append))
    assert (manifest.documents, manifest.failed) == (8, 0)
    assert [line.split(":")[0] for line in told] == [f"{folder}/part-00001.jsonl.gz"]
    lines = [line for path in sorted(folder.glob("part-*")) for line in gzip.decompress(path.read_bytes()).splitlines()]
    found = [json.loads(line)["id"] for line in lines]
    assert found == [f"{name}{number}" for name in "ab" for number in range(4)]

    # In a finished folder, with the second part damaged and only `b` left, all parts have other documents.
    (folder / "part-00001.jsonl.gz").write_bytes(b"")
    with monkeypatch.context() as patched:
        patched.setattr(DividedTables, "footer", unread)
        # A manifest would say that the run is complete.
        with pytest.raises(InputError, match=r"expected documents for part-00003.jsonl.gz, .* for 3 shards; an input"):
            make_all(job, RunOptions(verify=True, warn=told.append))
    assert (folder / "part-00003.jsonl.gz").is_file() and not (folder / "manifest.json").exists()
    manifest = make_all(job, RunOptions(warn=told.append))
    assert (manifest.documents, manifest.failed) == (8, 0)
    lines = [line for path in sorted(folder.glob("part-*")) for line in gzip.decompress(path.read_bytes()).splitlines()]
    assert [json.loads(line)["id"] for line in lines] == found


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that cannot be read by anybody")
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.parquet"])
def test_a_file_that_cannot_be_read_fails_alone(name, parse_job_of, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).symlink_to("/proc/self/mem")
    write_table(tmp_path / "in" / "b.jsonl", 0, 3)
    manifest = make_all(parse_job_of(tmp_path / "set", tmp_path / "in"), RunOptions())
    assert (manifest.documents, manifest.failed) == (3, 1)
    failure = json.loads((tmp_path / "set" / "failures.jsonl").read_text())
    reason = "Parquet file size is 0 bytes" if name == "a.parquet" else "Input/output error"
    assert failure["source"].endswith(name) and reason in failure["reason"]


def test_tables_whose_names_are_not_utf8(parse_job_of, tmp_path):
    table = pa.table({"text": ["It rained.", "We left."]})
    plain = tmp_path / "plain.parquet"
    pq.write_table(table, plain)
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.parquet"))
    plain.rename(path)
    assert make_all(parse_job_of(tmp_path / "set", path), RunOptions()).documents == 2
    (part,) = (tmp_path / "set").glob("part-*")
    ids = [json.loads(line)["id"] for line in gzip.decompress(part.read_bytes()).splitlines()]
    assert ids == ["caf\\udce9-1", "caf\\udce9-2"]
    assert [item.id for item in read_inputs([str(path)])] == ids


def test_a_missing_library_ends_the_run(parse_job_of, parser_folder, tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("It rained.")
    (tmp_path / "in" / "b.md").write_text("# Rain\n\nIt rained.")

    def missing(text, markup):
        raise MissingExtraError('pip install "discsum[web]"')

    monkeypatch.setattr(markup, "to_text", missing)
    with pytest.raises(MissingExtraError, match="pip install"):
        make_all(parse_job_of(tmp_path / "set", tmp_path / "in"), RunOptions())
    assert not (tmp_path / "set" / "manifest.json").exists()
    (tmp_path / "rows.csv").write_text("text\n# Rain\n")
    rows = InputSource([str(tmp_path / "rows.csv")], input="markdown")
    with pytest.raises(MissingExtraError, match="pip install"):
        make_all(parse_job(rows, tmp_path / "rows", ParseRecipe(str(parser_folder)), Division(shard=5)), RunOptions())
    # Without shards, only that document fails.
    kinds = [type(item) for item in read_inputs([str(tmp_path / "in")])]
    assert kinds == [Item, Failure]


def test_an_engine_that_ends_early_fails_the_run(parse_job_of, tmp_path):
    class Idle:
        def results_of(self, work, tasks, step):
            return iter(())

    with pytest.raises(DiscsumError, match="expected the engine to do all tasks, it ended before"):
        make_all(parse_job_of(tmp_path / "set"), RunOptions(engine=Idle()))
    assert not (tmp_path / "set" / "manifest.json").exists()
    with pytest.raises(InputError, match="workers: expected at least 1, got 0"):
        RunOptions(workers=0)


def test_parts_of_other_programs_are_kept(parse_job_of, tmp_path):
    folder = tmp_path / "set"
    folder.mkdir()
    own = folder / "part-00000.jsonl.gz"
    own.write_bytes(b"somebody's")
    with pytest.raises(
        InputError, match=r"part-00000.jsonl.gz: expected no file of this name in a new folder, found one"
    ):
        make_all(parse_job_of(folder), RunOptions())
    assert own.read_bytes() == b"somebody's"
