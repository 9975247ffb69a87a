"""The same functions give the same answers for files on disks and in stores."""

import io
import os
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest
from fsspec.core import url_to_fs
from fsspec.implementations.memory import MemoryFile, MemoryFileSystem
from hypothesis import given
from hypothesis import strategies as st

from discsum.data import storage
from discsum.data.listings import matching
from discsum.data.remote import RemotePath, _Answers, reached
from discsum.data.storage import is_pattern, location, sizes_in, write_bytes
from discsum.data.tables import kind_of
from discsum.errors import InputError, InputWarning, MissingExtraError, message_of


@pytest.fixture(params=["disk", "memory", "s3", "hdfs"])
def folder(request, tmp_path):
    """Return an empty folder on a disk or in a store."""
    if request.param == "disk":
        return tmp_path
    if request.param == "hdfs":
        return request.getfixturevalue("hdfs")
    root = request.getfixturevalue("bucket") if request.param == "s3" else "memory://tests"
    return RemotePath(f"{root}/{tmp_path.name}")


def test_files_are_written_listed_read_and_removed(folder):
    contents = {"a.json": b"{}", "shard-00001.parquet": b"x" * 1000, ".hidden": b"", "b.jsonl": "käse\n".encode()}
    for name, content in contents.items():
        storage.write_bytes(folder / name, content)
    storage.write_bytes(folder / "deeper" / "c.jsonl", b"{}\n")
    assert storage.sizes_in(folder) == {name: len(content) for name, content in contents.items()}
    assert {name: storage.read_bytes(folder / name) for name in contents} == contents
    assert storage.read_each([folder / "b.jsonl", folder / "none", folder / "a.json"]) == [
        contents["b.jsonl"],
        None,
        b"{}",
    ]
    with (folder / "shard-00001.parquet").open("rb") as file, (folder / "shard-00001.parquet").open("rb") as other:
        file.seek(990)
        assert (file.read(), other.read(3)) == (b"x" * 10, b"xxx")
    assert storage.sha256(folder / ".hidden") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    storage.remove([folder / "a.json", folder / "none", folder / ".hidden"])
    assert sorted(storage.sizes_in(folder)) == ["b.jsonl", "shard-00001.parquet"]


@pytest.mark.parametrize("name", ["run[12]", "run?", "run*"])
def test_names_are_no_patterns_for_what_reads_and_removes(place, name):
    for folder in ("run1", "run2", name):
        for file in ("a.json", "b.json"):
            storage.write_bytes(place / folder / file, folder.encode())
    files = [place / name / file for file in ("a.json", "b.json")]
    assert storage.read_each([*files, place / "run[1]" / "a.json"]) == [name.encode()] * 2 + [None]
    storage.remove([*files, place / "run[1]" / "a.json"])
    assert storage.read_each(files) == [None, None]
    kept = [place / folder / file for folder in ("run1", "run2") for file in ("a.json", "b.json")]
    assert storage.read_each(kept) == [b"run1"] * 2 + [b"run2"] * 2


def test_files_that_go_while_a_folder_is_listed(tmp_path, monkeypatch):
    for name in ("a", "b", "c"):
        (tmp_path / name).write_bytes(b"1")
    real = os.scandir

    @contextmanager
    def going(folder):
        with real(folder) as entries:
            found = list(entries)
        (tmp_path / "b").unlink()
        yield found

    monkeypatch.setattr(os, "scandir", going)
    assert storage.sizes_in(tmp_path) == {"a": 1, "c": 1}


def test_folders_and_patterns(folder):
    for name in ("b.jsonl", "a.jsonl", "c.parquet", "deeper/a.jsonl"):
        parent, _, last = name.rpartition("/")
        storage.write_bytes(folder / parent / last if parent else folder / last, name.encode())

    def names(path):
        return [str(file.path).removeprefix(str(folder)) for file in matching(path)]

    assert names(folder) == ["/a.jsonl", "/b.jsonl", "/c.parquet", "/deeper/a.jsonl"]
    assert names(folder / "*.jsonl") == ["/a.jsonl", "/b.jsonl"]
    assert names(folder / "*" / "a.jsonl") == ["/deeper/a.jsonl"]
    assert names(folder / "*.csv") == []
    assert (folder.is_dir(), folder.is_file(), folder.exists()) == (True, False, True)
    assert ((folder / "a.jsonl").is_file(), (folder / "none").exists()) == (True, False)


class Listed(MemoryFileSystem):
    """A file system that names files with `root` where their URLs have `before`, as drivers do."""

    cachable = False
    before = root = ""

    @classmethod
    def _strip_protocol(cls, path):
        return path.replace(cls.before, cls.root, 1) if path.startswith(cls.before) else path

    def find(self, path, **options):
        return {f"{path}/a.json": {"type": "file", "size": 1}, f"{path}/d/b.json": {"type": "file", "size": 1}}

    def glob(self, path, **options):
        return {path.replace("*", "a"): {"type": "file", "size": 1}}


@pytest.mark.parametrize(
    ("before", "root"),
    [
        ("webhdfs://nn:9870/", "/"),
        ("sftp://user@host:22/", "/"),
        ("abfs://box@account.dfs.core.windows.net/", "box/"),
        ("abfs://box@box/", "box/"),
        ("oss://bucket/", "bucket/"),
        ("http://host/", "http://host/"),
    ],
)
def test_files_that_are_found_have_what_the_url_had_before_the_path(monkeypatch, before, root):
    monkeypatch.setitem(import_module("fsspec.registry")._registry, before.partition(":")[0], Listed)
    monkeypatch.setattr(Listed, "before", before)
    monkeypatch.setattr(Listed, "root", root)

    def found(name):
        return [str(file.path) for file in matching(location(before + name))]

    assert found("d/*.json") == [f"{before}d/a.json"]
    assert found("d") == [f"{before}d/a.json", f"{before}d/d/b.json"]


def test_another_content_of_the_same_size_is_another_version(folder):
    path = folder / "a.jsonl"
    storage.write_bytes(path, b"first")
    before = storage.stored(path)
    storage.write_bytes(path, b"again")
    after = storage.stored(path)
    assert (before.size, after.size) == (5, 5)
    assert before.version != after.version
    with pytest.raises(OSError, match="No such file"):
        storage.stored(folder / "none")


def test_errors_of_a_store_name_the_url(bucket, monkeypatch):
    elsewhere = RemotePath(f"{bucket}-that-is-not-there/a.jsonl")
    assert (elsewhere.exists(), storage.sizes_in(elsewhere)) == (False, {})
    for fail in (storage.read_bytes, lambda path: storage.write_bytes(path, b"1"), lambda path: path.open()):
        with pytest.raises(FileNotFoundError) as raised:
            fail(elsewhere)
        assert message_of(raised.value).startswith(f"{elsewhere}: ")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setattr("s3fs.S3FileSystem.cachable", False)
    with pytest.raises(
        InputError, match=rf"{bucket}/a: expected storage that fsspec can reach, got NoCredentialsError"
    ):
        storage.write_bytes(RemotePath(f"{bucket}/a"), b"1")


def test_one_of_many_creates_a_file(place):
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda number: storage.create_bytes(place / ".lock", b"%d" % number), range(8)))
    if place.scheme != "memory":
        assert made.count(True) == 1
        assert storage.read_bytes(place / ".lock") == b"%d" % made.index(True)
    assert not storage.create_bytes(place / ".lock", b"late")


@pytest.mark.parametrize(
    ("code", "status", "exists"),
    [("PreconditionFailed", 412, True), ("ConditionalRequestConflict", 409, True), ("AccessDenied", 403, False)],
)
def test_s3_stores_that_do_not_name_the_failed_condition(bucket, monkeypatch, code, status, exists):
    """Ceph's answer to the request to create an existing file has nothing but this code."""
    from botocore.exceptions import ClientError
    from s3fs.errors import translate_boto_error

    def refused(*arguments, **options):
        response = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
        raise translate_boto_error(ClientError(response, "PutObject"))

    lock = RemotePath(f"{bucket}/refused/.lock")
    monkeypatch.setattr(url_to_fs(lock.url)[0], "pipe_file", refused)
    if exists:
        assert not storage.create_bytes(lock, b"1")
    else:
        with pytest.raises(InputError, match=r"refused/.lock: expected storage that fsspec can reach, got \w+Error"):
            storage.create_bytes(lock, b"1")


@given(st.lists(st.sampled_from(["a", "b.json", ".c", "d.jsonl.gz", "e-f"]), min_size=1, max_size=4))
def test_parts_of_a_url_are_those_of_a_path(parts):
    url, path = RemotePath("s3://bucket/x"), Path("/bucket/x")
    for part in parts:
        url, path = url / part, path / part
    for name in ("name", "stem", "suffix", "suffixes"):
        assert getattr(url, name) == getattr(path, name)
    assert str(url.with_name("z")) == f"s3:/{path.with_name('z')}"
    assert str(url.parent) == f"s3:/{path.parent}"
    assert location(f"{url}/") == location(url) == url.absolute() == url


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("news.jsonl", Path("news.jsonl")),
        ("C:/news.jsonl", Path("C:/news.jsonl")),
        ("file:///data/two%20words.jsonl", Path("/data/two words.jsonl")),
        ("file://localhost/data/a#1?.txt", Path("/data/a#1?.txt")),
        ("S3://bucket/a", RemotePath("S3://bucket/a")),
        ("hf://datasets/owner/name/a.parquet", RemotePath("hf://datasets/owner/name/a.parquet")),
    ],
)
def test_names_of_paths_and_urls(name, path):
    assert location(name) == path


def test_what_is_no_url_that_can_be_reached(monkeypatch):
    with pytest.raises(InputError, match="expected one URL, got a chain"):
        location("zip://a.jsonl::s3://bucket/a.zip")
    with pytest.raises(InputError, match=r"file://out/a: expected file:///.*, got the host 'out'"):
        location("file://out/a")
    with pytest.raises(InputError, match=r"nowhere://a/b: expected storage that fsspec can reach, got ValueError: "):
        RemotePath("nowhere://a/b").exists()
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(MissingExtraError, match=r'the library s3fs, .*; run: pip install "discsum\[s3\]"$'):
        RemotePath("s3://bucket/a").exists()
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(MissingExtraError, match=r'the library gcsfs, .*; run: pip install "discsum\[gs\]"$'):
        RemotePath("gs://bucket/a").exists()


@pytest.mark.parametrize("scheme", ["memory", "hdfs"])
def test_a_whole_store_is_its_own_parent(scheme):
    store = RemotePath(f"{scheme}://")
    assert str(RemotePath(f"{scheme}://bucket").parent) == str(store) == str(store.parent) == f"{scheme}://"
    assert (store / "a").parent == store == RemotePath(f"{scheme}:///")
    assert str(store / "a" / "b") == f"{scheme}:///a/b"


def test_a_whole_store_is_a_folder():
    store, name = RemotePath("memory://"), "test_a_whole_store_is_a_folder.jsonl"
    storage.write_bytes(store / name, b"{}")
    assert storage.sizes_in(store)[name] == 2
    assert store / name in [file.path for file in matching(store)]
    storage.remove([store / name])
    assert name not in storage.sizes_in(store)


@pytest.mark.parametrize("kind", [TypeError, KeyError, AttributeError])
def test_mistakes_of_programs_are_no_answers_of_a_store(kind):
    with pytest.raises(kind), reached(RemotePath("memory://a")):
        raise kind("a mistake")


def test_what_is_asked_of_a_web_server_is_no_pattern_and_no_name():
    path = location("https://host/news/rows.jsonl?day=1/2&all")
    assert not is_pattern(path)
    assert (path.name, path.suffix, kind_of(path)) == ("rows.jsonl", ".jsonl", ".jsonl")
    assert is_pattern(location("https://host/news/*.jsonl"))
    assert is_pattern(location("s3://bucket/news/rows-?.jsonl"))


def test_marks_of_folders_are_no_files():
    fs, folder = MemoryFileSystem(), RemotePath(f"memory://marks/{uuid.uuid4().hex}")
    write_bytes(folder / "a.txt", b"a")
    mark = f"{folder.url.removeprefix('memory:/')}/"
    fs.store[mark] = MemoryFile(fs, mark, b"")
    assert {entry["name"] for entry in fs.ls(mark, detail=True)} == {mark, f"{mark}a.txt"}
    assert sizes_in(folder) == {"a.txt": 1}
    assert [str(file.path) for file in matching(folder)] == [f"{folder}/a.txt"]


def test_folders_that_cannot_be_read_are_named(tmp_path, monkeypatch):
    for name in ("a.txt", "locked/b.txt", ".hidden/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    real = os.scandir

    def refusing(path):
        if Path(path).name in ("locked", ".hidden"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.warns(
        InputWarning, match=r"locked: expected a folder that can be read, got: Permission denied"
    ) as said:
        assert [file.path.name for file in matching(tmp_path)] == ["a.txt"]
    assert len(said) == 1


def test_folders_that_cannot_be_entered_are_named_once(tmp_path, monkeypatch):
    for name in ("a.txt", "closed/b.txt", "closed/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    real = Path.stat

    def refusing(path, **options):
        if path.parent.name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, **options)

    monkeypatch.setattr(Path, "stat", refusing)
    with pytest.warns(InputWarning, match="closed: expected a folder that can be entered, got: Permission") as said:
        assert [file.path.name for file in matching(tmp_path)] == ["a.txt"]
    assert len(said) == 1


class WithoutReadinto:
    """A file as older drivers of HDFS open it."""

    def __init__(self, content):
        self._file = io.BytesIO(content)
        self.read, self.seek, self.tell, self.close = (
            getattr(self._file, name) for name in ("read", "seek", "tell", "close")
        )

    def seekable(self):
        return True


def test_files_that_cannot_read_into_a_buffer():
    content = b"one\ntwo\n" * 5000
    with io.BufferedReader(_Answers(RemotePath("hdfs://h/a"), WithoutReadinto(content)), 64) as file:
        assert (file.readline(), b"".join(file)) == (b"one\n", content[4:])
        file.seek(-4, io.SEEK_END)
        assert file.read() == b"two\n"
