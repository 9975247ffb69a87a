"""Records of many shards in one file: resumed runs read them, and shards that are made again take precedence."""

import json
import re
from contextlib import suppress
from dataclasses import replace
from queue import Queue
from threading import Barrier, BrokenBarrierError, Thread
from time import sleep

import pytest

from discsum.data import claims, combined_records, manifest, reopening
from discsum.data.combined_records import RecordCombiner
from discsum.data.parts import Part
from discsum.data.records import ShardRecord
from discsum.data.remote import RemotePath
from discsum.data.run_options import RunOptions
from discsum.data.shard_names import is_record
from discsum.data.shard_run import finish, make_all, make_part
from discsum.data.storage import remove, sizes_in


@pytest.fixture(autouse=True)
def _two_records_in_a_file(monkeypatch):
    for module in (combined_records, reopening):
        monkeypatch.setattr(module, "TOGETHER", 2)
    monkeypatch.setattr(combined_records, "FEW", 1)


class StopError(Exception):
    """Ends a run after some documents."""


def hidden(folder):
    """Return the names of the hidden files of a folder; numbers of combined files without their random part."""
    return sorted(re.sub(r"-[0-9a-f]{8}\.", ".", path.name) for path in folder.glob(".*"))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def make_until(job, documents):
    """Make the parts of a folder until `documents` are done, and then end the run."""

    def report(done):
        if done >= documents:
            raise StopError

    with pytest.raises(StopError):
        make_all(job, RunOptions(report=report))


def test_a_run_combines_records_and_a_resumed_run_reads_them(parse_job_of, parsed_folder, tmp_path):
    folder, told, found = tmp_path / "set", [], []
    make_until(parse_job_of(folder), 18)
    assert hidden(folder) == [".part-00002.json", ".records-00000.jsonl"]
    # The record beside a part counts as one that is read, and is combined with the next one.
    make_until(parse_job_of(folder), 18)
    assert hidden(folder) == [".part-00002.json", ".records-00000.jsonl"]
    make_all(parse_job_of(folder), RunOptions(warn=told.append, skip=found.append))
    assert (told, found[-1]) == ([], 15)
    assert contents(folder) == contents(parsed_folder)


def test_parts_leave_files_from_which_the_manifest_is_written(parse_job_of, parsed_folder, tmp_path):
    folder = tmp_path / "set"
    for number in (1, 2):
        make_part(parse_job_of(folder), Part(number, 2))
    assert hidden(folder) == [".records-00000.jsonl", ".records-00001.jsonl"]
    make_part(parse_job_of(folder), Part(1, 2), RunOptions(warn=pytest.fail))
    assert len(hidden(folder)) == 2
    finish(parse_job_of(folder), RunOptions(warn=pytest.fail))
    assert contents(folder) == contents(parsed_folder)


def test_a_record_beside_its_part_takes_precedence_and_so_do_later_files(parse_job_of, tmp_path):
    folder, told = tmp_path / "set", []
    make_part(parse_job_of(folder), Part(1, 1))
    first, second = sorted(folder.glob(".records-*"))
    line = json.loads(first.read_text().splitlines()[0])
    assert line["file"] == "part-00000.jsonl.gz"
    # An older record in a later file, and a newer one beside the part.
    second.write_text(second.read_text() + json.dumps(line | {"size": 1}) + "\n")
    with pytest.raises(StopError):
        make_all(parse_job_of(folder), RunOptions(warn=lambda text: told.append(text) or stop()))
    assert "part-00000.jsonl.gz: expected a shard of 1 bytes, got " in told[0]
    del line["file"]
    (folder / ".part-00000.json").write_text(json.dumps(line))
    make_all(parse_job_of(folder), RunOptions(warn=pytest.fail))


def stop():
    raise StopError


@pytest.mark.parametrize("damage", [b"", b"\n\xff\n[]\nnull\n", b'{"file": "part-00000.jsonl.gz", "size"'])
def test_parts_whose_combined_records_are_damaged_are_made_again(parse_job_of, parsed_folder, tmp_path, damage):
    folder, told = tmp_path / "set", []
    make_part(parse_job_of(folder), Part(1, 1))
    sorted(folder.glob(".records-*"))[0].write_bytes(damage)
    make_all(parse_job_of(folder), RunOptions(warn=told.append))
    assert [line.endswith("; made again") for line in told] == [True, True]
    assert contents(folder) == contents(parsed_folder)


def test_a_store_is_asked_to_remove_only_records_that_exist(parse_job_of, monkeypatch):
    folder, asked = RemotePath("memory://records/only-existing"), []

    def removed(paths):
        paths = [*paths]
        asked.extend(path for path in paths if is_record(path.name))
        assert all(path.is_file() for path in paths if is_record(path.name))
        remove(paths)

    monkeypatch.setattr(manifest, "remove", removed)
    make_part(parse_job_of(folder), Part(1, 2))
    make_all(parse_job_of(folder))
    assert len(asked) == 2
    assert not any(map(is_record, sizes_in(folder)))


def test_few_records_stay_beside_their_parts(parse_job_of, tmp_path, monkeypatch):
    monkeypatch.setattr(combined_records, "TOGETHER", 5)
    monkeypatch.setattr(combined_records, "FEW", 5)
    make_part(parse_job_of(tmp_path / "set"), Part(1, 1))
    assert hidden(tmp_path / "set") == [f".part-{number:05d}.json" for number in range(4)]


class DrawingInAThread:
    """An engine of another package, which draws tasks in a thread of its own."""

    def results_of(self, work, tasks, step):
        waiting = Queue(1)

        def draw():
            for task in tasks:
                waiting.put(task)
            waiting.put(None)

        thread = Thread(target=draw)
        thread.start()
        while (task := waiting.get()) is not None:
            yield work(task, step)
        thread.join()


def test_records_that_are_found_while_others_are_written_are_kept(parse_job_of, tmp_path, monkeypatch):
    folder = tmp_path / "set"
    with monkeypatch.context() as patch:
        patch.setattr(combined_records, "TOGETHER", 100)
        patch.setattr(combined_records, "FEW", 100)
        make_part(parse_job_of(folder, shard=1), Part(1, 1))
    for number in range(9):
        (folder / f"part-{number:05d}.jsonl.gz").unlink()
    write = combined_records.write_bytes
    monkeypatch.setattr(combined_records, "write_bytes", lambda *args: sleep(0.05) or write(*args))
    make_part(parse_job_of(folder, shard=1), Part(1, 1), RunOptions(engine=DrawingInAThread()))
    finish(parse_job_of(folder, shard=1), RunOptions(warn=pytest.fail))
    assert len([*folder.glob("part-*")]) == 18


def test_threads_that_add_records_at_once_write_no_empty_file(tmp_path, monkeypatch):
    written, both = [], Barrier(2, timeout=0.2)

    class Counted(dict):
        def __len__(self):
            # Without a lock, both threads add before either counts.
            with suppress(BrokenBarrierError):
                both.wait()
            return super().__len__()

    monkeypatch.setattr(combined_records, "write_bytes", lambda path, content: written.append(content))
    combiner, record = RecordCombiner(tmp_path, []), ShardRecord("", 0, 0, 0, 0, "", "")
    combiner._waiting = Counted()
    threads = [Thread(target=combiner.add, args=(f"part-0000{number}.jsonl.gz", record)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Stores refuse to read a range of an empty file.
    assert [content.count(b"\n") for content in written] == [2]


def test_a_part_that_a_killed_run_made_from_other_documents_has_no_record(
    parse_job_of, parsed_folder, tmp_path, monkeypatch
):
    folder, told = tmp_path / "set", []
    job = parse_job_of(folder)
    make_part(job, Part(1, 1))
    with monkeypatch.context() as patch, pytest.raises(StopError):
        patch.setattr(ShardRecord, "write", lambda *_: stop())
        make_all(replace(job, shards=lambda: ([*documents][::-1] for documents in job.shards())))
    # The part may have the old one's size.
    make_all(job, RunOptions(warn=told.append))
    assert len(told) == 1
    assert "part-00000.jsonl.gz: expected its record in .part-00000.json or .records-*.jsonl, found none" in told[0]
    assert contents(folder) == contents(parsed_folder)


def test_a_record_of_a_worker_that_outlived_its_run_does_not_vouch_for_a_damaged_part(
    parse_job_of, parsed_folder, tmp_path, monkeypatch
):
    folder, told = tmp_path / "set", []
    make_part(parse_job_of(folder), Part(1, 1))
    first = next(line for line in sorted(folder.glob(".records-*"))[0].read_text().splitlines())
    make_all(parse_job_of(folder))
    late = json.loads(first)
    del late["file"]
    (folder / ".part-00000.json").write_text(json.dumps(late))
    damaged = folder / "part-00000.jsonl.gz"
    damaged.write_bytes(b"?" + damaged.read_bytes()[1:])
    (folder / "recipe.json").unlink(missing_ok=True)

    def killed(paths):
        paths = [*paths]
        if any(path.name == "part-00000.jsonl.gz" for path in paths):
            raise StopError
        remove(paths)

    with monkeypatch.context() as patch, pytest.raises(StopError):
        patch.setattr(reopening, "remove", killed)
        # Folders in stores are not tidied up first.
        patch.setattr(claims, "tidy", lambda folder, names: None)
        make_all(parse_job_of(folder), RunOptions(verify=True))
    make_all(parse_job_of(folder), RunOptions(warn=told.append))
    assert ["part-00000" in line for line in told] == [True]
    assert contents(folder) == contents(parsed_folder)


def test_a_finished_folder_that_is_reopened_has_combined_records(parse_job_of, parsed_folder, tmp_path):
    folder, told = tmp_path / "set", []
    make_all(parse_job_of(folder))
    (folder / "part-00001.jsonl.gz").write_bytes(b"")
    with pytest.raises(StopError):
        make_all(parse_job_of(folder), RunOptions(verify=True, warn=lambda text: stop()))
    assert hidden(folder) == [".records-00000.jsonl", ".records-00001.jsonl"]
    make_all(parse_job_of(folder), RunOptions(warn=told.append))
    assert contents(folder) == contents(parsed_folder)


def test_a_folder_without_recipe_that_has_combined_records_is_claimed(parse_job_of, parsed_folder, tmp_path):
    folder = tmp_path / "set"
    make_part(parse_job_of(folder), Part(1, 1))
    (folder / "recipe.json").unlink()
    make_all(parse_job_of(folder), RunOptions(warn=pytest.fail))
    assert contents(folder) == contents(parsed_folder)
