"""Finished folders of shards that a run only checks: read-only ones, and those of another version."""

import json
import re
import shutil
from importlib.metadata import version

import pytest

from discsum.data.manifest import MANIFEST, Manifest
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


def change(folder, made_by=(), **fields):
    """Change what the manifest of a folder says of its makers, and its fields."""
    path = folder / MANIFEST
    content = json.loads(path.read_text()) | fields
    content["recipe"]["made_by"] |= dict(made_by)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(("maker", "there"), [("discsum", "0.0.1"), ("parser", "0" * 64)])
def test_a_folder_of_another_version_names_it(parse_job_of, folder, maker, there):
    change(folder, {maker: there})
    told = (
        rf"set: expected a folder made by this version of discsum with these models, found others \(made_by {maker} "
        rf"'{there}' there and '\S+' here\); use those, or choose another folder$"
    )
    for options in (RunOptions(), VERIFY):
        with pytest.raises(InputError, match=told):
            make_all(parse_job_of(folder), options)


def test_a_manifest_of_another_version_has_one_remedy(parse_job_of, folder):
    shards = json.loads((folder / MANIFEST).read_text())["shards"]
    change(folder, {"discsum": "0.0.1"}, shards=[{**shard, "lines": 1} for shard in shards])
    own = re.escape(version("discsum"))
    told = (
        rf"manifest\.json: shards\[0\]\.lines: expected one of the fields [^;]*; discsum 0\.0\.1 made the folder, this "
        rf"is {own}: use that version, or delete the folder and parse again$"
    )
    with pytest.raises(InputError, match=told):
        make_all(parse_job_of(folder))
    change(folder, {"discsum": version("discsum")})
    with pytest.raises(InputError, match=r"expected one of the fields [^;]*; delete the folder and parse again$"):
        make_all(parse_job_of(folder))


def test_the_name_of_a_damaged_folder_is_told_whole(tmp_path):
    path = tmp_path / "rain; snow" / MANIFEST
    path.parent.mkdir()
    path.write_text('{"format": 1, "recipe": {}, "shards": 1, "width": "x"}')
    said = re.escape(f"{path}: shards: expected a list of groups of fields") + r".*, got 1; delete the folder and"
    with pytest.raises(InputError, match=said):
        Manifest.read(path.parent)


def test_a_manifest_that_cannot_be_opened_is_no_reason_to_delete(parse_job_of, folder, monkeypatch):
    def read(path, largest):
        if path.name == MANIFEST:
            raise PermissionError(13, "Permission denied", str(path))
        return path.read_bytes()

    monkeypatch.setattr("discsum.json_objects.read_at_most", read)
    with pytest.raises(InputError, match=r"manifest\.json: expected a JSON file: Permission denied$"):
        make_all(parse_job_of(folder))
