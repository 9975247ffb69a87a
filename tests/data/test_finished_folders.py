"""Finished folders of shards that a run only checks."""

import shutil

import pytest

from discsum.data.run_options import RunOptions
from discsum.data.shard_run import make_all
from discsum.errors import InputError, LockedError
from discsum.files import locked

VERIFY = RunOptions(verify=True)


@pytest.fixture
def folder(parsed_folder, tmp_path):
    """A copy of a folder of parsed documents in four parts."""
    return shutil.copytree(parsed_folder, tmp_path / "set")


def damage(folder):
    """Alter a part; return its path."""
    path = folder / "part-00001.jsonl.gz"
    path.write_bytes(b"?" + path.read_bytes()[1:])
    return path


def test_an_intact_folder_is_verified_without_a_lock(parse_job_of, folder):
    with locked(folder / ".lock", folder):
        assert len(make_all(parse_job_of(folder), VERIFY).shards) == 4
        damage(folder)
        with pytest.raises(LockedError):
            make_all(parse_job_of(folder), VERIFY)


def test_a_damaged_folder_that_is_read_only_is_not_repaired(parse_job_of, folder, monkeypatch):
    damaged = damage(folder)
    content = damaged.read_bytes()
    # Root may write everywhere.
    monkeypatch.setattr("os.access", lambda path, mode: False)
    told = r"part-00001\.jsonl\.gz: expected a shard with sha256 .*set is read-only: make it writable"
    with pytest.raises(InputError, match=told):
        make_all(parse_job_of(folder), VERIFY)
    assert damaged.read_bytes() == content
