"""Files that are written whole or not at all, locks, and what killed processes leave."""

import errno
import os
import shutil
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from discsum.errors import InputError
from discsum.files import (
    ABANDONED,
    WRITING,
    clear_unfinished,
    locked,
    process_scope,
    replace_folder,
    replacing,
    system_errors,
)


def test_a_failed_write_names_the_file(tmp_path):
    with pytest.raises(OSError, match="No space left on device") as raised, replacing(tmp_path / "out.txt") as path:
        path.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert raised.value.filename == str(tmp_path / "out.txt")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "error",
    [
        Exception("I/O error: No space left on device (os error 28)"),
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "model"),
    ],
)
def test_errors_of_the_system_are_told_as_such_and_name_a_path(error):
    with pytest.raises(OSError, match="No space left on device") as raised, system_errors(Path("model")):
        raise error
    assert (raised.value.errno, raised.value.filename) == (errno.ENOSPC, "model")


def test_an_error_of_the_system_keeps_its_words():
    """The numbers of Windows are not those of `os.strerror`."""
    with pytest.raises(OSError) as raised, system_errors(Path("model")):
        raise Exception("Error while serializing: I/O error: There is not enough space on the disk. (os error 112)")
    assert (raised.value.strerror, raised.value.filename) == ("There is not enough space on the disk.", "model")


def test_errors_of_others_are_left_alone():
    with pytest.raises(KeyError), system_errors(Path("model")):
        raise KeyError("a tensor (os error) 28")


def test_an_error_of_the_file_written_to_names_the_one_it_replaces(tmp_path):
    with pytest.raises(PermissionError) as raised, replacing(tmp_path / "out.txt") as path:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))
    assert raised.value.filename == str(tmp_path / "out.txt")


def test_errors_of_other_files_and_of_pipes_stay_what_they_are(tmp_path):
    with pytest.raises(FileNotFoundError) as raised, replacing(tmp_path / "out.txt"):
        (tmp_path / "gone").read_text()
    assert raised.value.filename == str(tmp_path / "gone")
    with pytest.raises(BrokenPipeError), replacing(tmp_path / "out.txt"):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")


def test_a_file_is_on_the_disk_before_it_takes_its_place(tmp_path, monkeypatch):
    there = []
    monkeypatch.setattr(os, "fsync", lambda file: there.append((tmp_path / "out.txt").exists()))
    with replacing(tmp_path / "out.txt") as path:
        path.write_text("whole")
    assert there == [False]
    assert (tmp_path / "out.txt").read_text() == "whole"


COUNT = """
import sys, time
from pathlib import Path
from discsum.files import locked
folder = Path(sys.argv[1])
for _ in range(20):
    with locked(folder / ".lock", folder, wait=True):
        number = int((folder / "number").read_text())
        time.sleep(0.001)
        (folder / "number").write_text(str(number + 1))
"""


def test_a_lock_that_is_removed_is_held_by_one_process_at_a_time(tmp_path):
    (tmp_path / "number").write_text("0")
    runs = [subprocess.Popen([sys.executable, "-c", COUNT, str(tmp_path)]) for _ in range(4)]
    assert [run.wait() for run in runs] == [0] * 4
    assert (tmp_path / "number").read_text() == "80"
    assert [path.name for path in tmp_path.iterdir()] == ["number"]


def test_a_lock_of_another_run_is_refused(tmp_path):
    with (
        locked(tmp_path / ".lock", tmp_path),
        pytest.raises(InputError, match="another run is using it; wait for that run to end"),
        locked(tmp_path / ".lock", tmp_path),
    ):
        pass
    with locked(tmp_path / ".lock", tmp_path):
        assert (tmp_path / ".lock").exists()
    assert not list(tmp_path.iterdir())


def test_waiting_for_a_lock_is_told(tmp_path):
    def hold():
        with locked(tmp_path / ".lock", tmp_path):
            held.set()
            told.wait(30)

    held, told = Event(), Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(hold)
        held.wait(30)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            warnings.showwarning = lambda *args, **options: (found.append(args[0]), told.set())
            with locked(tmp_path / ".lock", tmp_path, wait=True):
                assert [str(one) for one in found] == [f"{tmp_path}: another run is using it; waiting for it to end"]


@pytest.mark.skipif(os.name != "posix", reason="POSIX")
def test_what_dead_processes_left_is_removed(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    names = [f".a.txt.{process_scope()}-{number}{WRITING}" for number in (process.pid, os.getpid(), 1)]
    others = [
        ".out.2024.partial",
        f".a.txt.word{WRITING}",
        f".a.txt.{process.pid}{WRITING}",
        f"a.{process_scope()}-{process.pid}{WRITING}",
    ]
    for name in names + others:
        (tmp_path / name).write_text("half")
    clear_unfinished(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:] + others)


def test_what_other_machines_write_stays_for_an_hour(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    names = [process_scope(), "second-machine", "third"]
    here, fresh, old = (tmp_path / f".a.txt.{name}-{process.pid}{WRITING}" for name in names)
    for path in (here, fresh, old):
        path.write_text("half")
    hour_ago = time.time() - ABANDONED - 1
    os.utime(old, (hour_ago, hour_ago))
    clear_unfinished(tmp_path)
    assert list(tmp_path.iterdir()) == [fresh]


def test_without_signals_what_runs_write_stays_for_an_hour(tmp_path, monkeypatch):
    monkeypatch.setattr("discsum.files._SIGNALS", False)
    fresh, old = (tmp_path / f".{name}.{process_scope()}-{os.getpid()}{WRITING}" for name in "ab")
    for path in (fresh, old):
        path.write_text("half")
    hour_ago = time.time() - ABANDONED - 1
    os.utime(old, (hour_ago, hour_ago))
    clear_unfinished(tmp_path)
    assert list(tmp_path.iterdir()) == [fresh]


def test_what_other_containers_of_this_machine_write_stays(tmp_path, monkeypatch):
    with replacing(tmp_path / "tree.json") as partial:
        partial.write_text("half")
        # A container numbers its processes independently, and may share the machine's name.
        monkeypatch.setattr("discsum.files._NUMBERS", tmp_path)
        monkeypatch.setattr("discsum.files._alive", lambda process: False)
        clear_unfinished(tmp_path)
        assert partial.exists()
    assert (tmp_path / "tree.json").read_text() == "half"


def test_a_folder_keeps_whole_files_after_a_killed_copy(tmp_path, monkeypatch):
    folder, new = tmp_path / "run", tmp_path / ".run.new"
    for place in (folder, new):
        place.mkdir()
    (folder / "notes.txt").write_text("all of them")

    def killed(source, target):
        Path(target).write_text("all")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copy2", killed)
        with pytest.raises(KeyboardInterrupt):
            replace_folder(folder, new)
    replace_folder(folder, new)
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [("notes.txt", "all of them")]


def test_two_writers_of_a_file_do_not_share_a_temporary_one(tmp_path):
    with replacing(tmp_path / "out.txt") as first, replacing(tmp_path / "out.txt") as second:
        first.write_text("first")
        second.write_text("second")
        assert first.name.endswith(f".{process_scope()}-{os.getpid()}{WRITING}")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["first"]
