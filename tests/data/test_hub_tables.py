"""Tables of a dataset on the Hugging Face hub, `hf://datasets/OWNER/NAME/...`."""

import pyarrow.parquet as pq
import pytest
from pyarrow import json
from small_hub import small_hub
from small_news import write_table

from discsum.data.pairs import PairSource
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe
from discsum.data.remote import RemotePath
from discsum.data.run_options import RunOptions
from discsum.data.shard_run import make_all
from discsum.data.storage import read_bytes, read_each
from discsum.errors import InputError


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Return a folder with a table in both formats that workers read by byte ranges."""
    folder = tmp_path_factory.mktemp("hub")
    lines = write_table(folder / "train.jsonl", 0, 7)
    pq.write_table(json.read_json(lines), folder / "train.parquet", row_group_size=3)
    return folder


@pytest.fixture
def hub(tables, ranges):
    files = {f"data/{file.name}": file.read_bytes() for file in tables.iterdir()}
    with small_hub(files | {"README.md": b"news"}, ranges) as url:
        yield url


@pytest.fixture
def ranges():
    """Return a list that collects the requests to the hub: pairs of a file and a range of bytes."""
    return []


def test_files_and_folders_of_a_dataset(hub, tables, ranges):
    file, missing = RemotePath(f"{hub}/data/train.jsonl"), RemotePath(f"{hub}/data/none.jsonl")
    assert file.is_file() and file.parent.is_dir() and not missing.exists()
    content = (tables / "train.jsonl").read_bytes()
    assert read_bytes(file) == content
    assert read_each([file, missing]) == [content, None]
    ranges.clear()
    with file.open() as opened:
        first = opened.readline()
        assert opened.seek(len(first)) and first + opened.read() == content
    assert ranges and all(name == "data/train.jsonl" and asked.startswith("bytes=") for name, asked in ranges)


@pytest.mark.parametrize("name", ["train.jsonl", "train.parquet", "*.parquet"])
@pytest.mark.parametrize("shard", [{"shard": 3}, {"shard": 400, "shard_unit": "bytes"}])
def test_a_table_makes_the_rows_that_it_makes_on_a_disk(hub, tables, parser_folder, tmp_path, name, shard):
    recipe = PreprocessRecipe(str(parser_folder), encoder="none", **shard)
    made = []
    for root, folder in ((f"{hub}/data", tmp_path / "hub"), (tables, tmp_path / "disk")):
        source = PairSource(f"{root}/{name}")
        job = preprocess_job(source.pairs(), source.identity(), folder, recipe)
        assert make_all(job, RunOptions()).documents == 7
        made.append([pq.read_table(path).to_pylist() for path in sorted(folder.glob("*.parquet"))])
    assert made[0] == made[1] and len(made[0]) > 1


def test_a_missing_table_is_one_line(hub):
    with pytest.raises(InputError, match=f"^{hub}/none.jsonl: expected .*, found no such file$"):
        list(PairSource(f"{hub}/none.jsonl").pairs())
