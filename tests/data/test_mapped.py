"""The memory-mapped copy of a dataset folder's rows."""

import errno
import os
import shutil

import datasets
import pytest
from small_news import write_table

import discsum.data
from discsum.data import dataset
from discsum.data.pairs import PairSource
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe
from discsum.data.shard_run import make_all
from discsum.errors import InputError


@pytest.fixture
def folder(parser_folder, tmp_path):
    source = PairSource(str(write_table(tmp_path / "news.jsonl", 0, 10)))
    recipe = PreprocessRecipe(str(parser_folder), shard=4)
    make_all(preprocess_job(source.pairs(), source.identity(), tmp_path / "set", recipe))
    return tmp_path / "set"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    return tmp_path / "cache" / "discsum"


def texts(folder):
    return list(discsum.data.load(folder)["text"])


def copies(folder):
    return [path.name for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]


def without_room(monkeypatch, *folders):
    """Make all writes to the folders fail."""
    real = dataset.replacing

    def refusing(path):
        if path.parent in folders:
            raise OSError(errno.EROFS, "Read-only file system", str(path))
        return real(path)

    monkeypatch.setattr(dataset, "replacing", refusing)


def test_one_copy_whatever_happens_to_the_files(folder, tmp_path):
    before = texts(folder)
    [name] = copies(folder / ".mapped")
    for path in folder.glob("*.parquet"):
        os.utime(path)
    shutil.copytree(folder, tmp_path / "moved")
    for place in (folder, tmp_path / "moved"):
        made = (place / ".mapped" / name).stat().st_ino
        assert texts(place) == before
        assert copies(place / ".mapped") == [name]
        assert (place / ".mapped" / name).stat().st_ino == made


def test_a_damaged_copy_is_made_anew(folder):
    before = texts(folder)
    [name] = copies(folder / ".mapped")
    path = folder / ".mapped" / name
    content = path.read_bytes()
    place = content.index(before[3].encode())
    path.unlink()
    path.write_bytes(content[:place] + b"X" + content[place + 1 :])
    assert texts(folder) == before
    assert path.read_bytes() == content


def test_a_folder_that_cannot_be_written_to_is_read_from_the_cache(folder, cache, monkeypatch):
    without_room(monkeypatch, folder / ".mapped")
    assert len(texts(folder)) == 10
    assert copies(folder / ".mapped") == []
    [name] = copies(cache)
    made = (cache / name).stat().st_mtime_ns
    assert len(texts(folder)) == 10
    assert (cache / name).stat().st_mtime_ns == made


def test_no_room_anywhere_is_one_line(folder, cache, monkeypatch):
    without_room(monkeypatch, folder / ".mapped", cache)
    with pytest.raises(InputError) as raised:
        discsum.data.load(folder)
    for place in (folder / ".mapped", cache):
        assert f"{place} (Read-only file system)" in str(raised.value)


def test_copying_takes_no_more_memory_than_some_rows(folder, monkeypatch):
    """Rows are written in batches, so that a corpus may be larger than memory."""
    monkeypatch.setattr(dataset, "ROWS", 2)
    texts(folder)
    [name] = copies(folder / ".mapped")
    with dataset.pa.OSFile(str(folder / ".mapped" / name)) as file:
        assert [batch.num_rows for batch in dataset.pa.ipc.open_stream(file)] == [2, 2, 2, 2, 2]


@pytest.mark.parametrize("content", [b"PAR1 nothing PAR1", None])
@pytest.mark.parametrize("name", ["shard-00000.parquet", "shard-00001.parquet"])
def test_rows_of_a_file_that_is_no_shard_are_an_error_that_names_it(folder, name, content):
    (folder / name).unlink()
    if content:
        (folder / name).write_bytes(content)
    with pytest.raises(InputError, match=f"{name}: expected a shard, got "):
        discsum.data.load(folder, check=False)
