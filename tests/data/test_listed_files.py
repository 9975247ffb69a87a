"""The files of an input: what is left out, and what identifies them."""

import json

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from discsum.data.input_source import InputSource
from discsum.data.inputs import read_inputs
from discsum.data.listings import matching
from discsum.data.pairs import PairSource
from discsum.data.remote import RemotePath
from discsum.data.storage import write_bytes
from discsum.errors import InputError, InputWarning


def test_links_to_folders_are_named(tmp_path):
    inside, other = tmp_path / "set" / "inside", tmp_path / "other"
    for folder, name in ((inside, "a"), (other, "b")):
        folder.mkdir(parents=True)
        (folder / f"{name}.txt").write_text("Rain fell.")
    (tmp_path / "set" / "inside" / "linked").symlink_to(other)
    with pytest.warns(InputWarning, match=r"set: left out links to folders \(.*/inside/linked\); name the"):
        found = [item.source for item in read_inputs([str(tmp_path / "set")])]
    assert found == [f"{inside}/a.txt"]


def test_patterns_mean_the_same_in_all_versions_of_python(tmp_path):
    for name in ("a.txt", "in/b.txt", "in/deep/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Rain fell.")
    for pattern, names in (
        ("**", ["a.txt", "in/b.txt", "in/deep/c.txt"]),
        ("in/**", ["in/b.txt", "in/deep/c.txt"]),
        ("**/*.txt", ["a.txt", "in/b.txt", "in/deep/c.txt"]),
        ("a**", ["a.txt"]),
        ("**.txt", ["a.txt"]),
    ):
        assert [str(file.path) for file in matching(tmp_path / pattern)] == [str(tmp_path / name) for name in names]


def test_links_to_nothing_are_named(tmp_path):
    (tmp_path / "a.txt").write_text("Rain fell.")
    for name in ("b.txt", "c.txt", ".#a.txt"):
        (tmp_path / name).symlink_to(tmp_path / "gone.txt")
    with pytest.warns(InputWarning, match=r": left out links to nothing \(.*/b\.txt and 1 more\); their") as told:
        found = [item.source for item in read_inputs([str(tmp_path)])]
    assert len(told) == 1
    assert found == [f"{tmp_path}/a.txt"]


def test_files_that_are_left_out_are_counted_once(tmp_path):
    for name in ("a.txt", "b.zip"):
        (tmp_path / name).write_text("Rain fell.")
    source = InputSource([str(tmp_path), str(tmp_path / "*")])
    with pytest.warns(InputWarning, match=r"left out 1 of 2 files, whose endings \(\.zip\)") as told:
        source.identity()
        assert len(list(source.items())) == 2
    assert len(told) == 2


def test_documents_are_those_of_the_files_that_were_identified(tmp_path):
    paths = [tmp_path / name for name in ("a.txt", "b.txt")]
    for path in paths:
        path.write_text("Rain fell.")
    source = InputSource([str(tmp_path)])
    source.identity()
    (tmp_path / "c.txt").write_text("Nobody came.")
    assert len(list(source.items())) == 2
    paths[1].write_text("The mill stood still.")
    with pytest.raises(InputError, match=r"b\.txt: expected the file of 10 bytes that .* began with, got a changed"):
        list(source.items())
    paths[0].unlink()
    with pytest.raises(InputError, match=r"a\.txt: expected the file of 10 bytes .*, got .*; start again"):
        list(source.items())


def test_a_single_table_in_a_folder_is_hashed_whole(tmp_path):
    path = tmp_path / "set" / "news.jsonl"
    path.parent.mkdir()
    row = json.dumps({"text": "x" * 200, "summary": "y"}) + "\n"
    path.write_text(row * 30_000)
    before = [PairSource(str(name)).identity() for name in (path.parent, path.parent / "*.jsonl")]
    content = bytearray(path.read_bytes())
    content[content.index(b"x", 80_000)] = ord("z")
    path.write_bytes(content)
    after = [PairSource(str(name)).identity() for name in (path.parent, path.parent / "*.jsonl")]
    assert all(old != new for old, new in zip(before, after, strict=True))


def test_files_listed_without_a_size_are_asked_for_it(monkeypatch, tmp_path):
    """As by web servers."""
    folder = RemotePath(f"memory://unsized/{tmp_path.name}")
    for number in range(3):
        write_bytes(folder / f"{number}.jsonl", b"x" * number)
    glob = MemoryFileSystem.glob

    def without_sizes(self, path, **options):
        return {name: info | {"size": None} for name, info in glob(self, path, **options).items()}

    monkeypatch.setattr(MemoryFileSystem, "glob", without_sizes)
    found = matching(RemotePath(f"{folder}/*.jsonl"))
    assert [(file.path.name, file.size) for file in found] == [("0.jsonl", 0), ("1.jsonl", 1), ("2.jsonl", 2)]
