"""Files that are whole or absent."""

import errno
import os

import pytest

from discsum.files import replacing


def test_a_failed_write_names_the_file(tmp_path):
    with pytest.raises(OSError, match="No space left on device") as raised, replacing(tmp_path / "out.txt") as path:
        path.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert raised.value.filename == str(tmp_path / "out.txt")
    assert not list(tmp_path.iterdir())


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
