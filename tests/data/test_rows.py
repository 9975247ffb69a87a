"""Rows of a dataset folder: those of the library `datasets`, read from the shards."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_news import write_table

import discsum.data
from discsum.data.pairs import PairSource
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe
from discsum.data.rows import open_rows
from discsum.data.shard_run import make_all
from discsum.errors import InputError


@pytest.fixture(scope="module")
def folder(parser_folder, tmp_path_factory):
    """A folder of 23 documents in shards of 5, with one that failed alone in its shard."""
    place = tmp_path_factory.mktemp("rows")
    table = write_table(place / "news.jsonl", 0, 23)
    lines = table.read_text().splitlines()
    table.write_text("\n".join([*lines[:5], *["{"] * 5, *lines[5:]]))
    source = PairSource(str(table))
    make_all(
        preprocess_job(source.pairs(), source.identity(), place / "set", PreprocessRecipe(str(parser_folder), shard=5))
    )
    return place / "set"


@pytest.fixture(scope="module")
def wanted(folder):
    return discsum.data.load(folder)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    bounds=st.tuples(st.integers(0, 25), st.none() | st.integers(0, 30)),
    memory=st.sampled_from([0, 30_000, 1 << 30]),
    shuffled=st.booleans(),
    order=st.lists(st.integers(0, 22), max_size=6),
)
def test_rows_are_those_of_the_library(folder, wanted, bounds, memory, shuffled, order):
    first, last = bounds
    chosen = range(23)[first:last]
    rows = open_rows(folder, first, last, memory=memory, shuffled=shuffled)
    assert (len(rows), rows.column_names) == (len(chosen), wanted.column_names)
    for number in order:
        if number < len(chosen):
            assert rows[number] == wanted[chosen[number]]
    if chosen:
        assert rows[-1] == wanted[chosen[-1]]
    assert [row["id"] for row in rows] == [wanted[number]["id"] for number in chosen]
    assert list(rows.values("text")) == [wanted[number]["text"] for number in chosen]
    labels = [part.to_pylist() for part in rows.column("edu_labels")]
    assert [label for part in labels for label in part] == [wanted[number]["edu_labels"] for number in chosen]


def test_what_does_not_fit_is_read_again_or_mapped(folder, tmp_path, monkeypatch):
    reads = []
    from discsum.data import rows as module

    real = module.read_bytes
    monkeypatch.setattr(module, "read_bytes", lambda path: reads.append(path.name) or real(path))
    order = np.random.default_rng(0).permutation(23).tolist() * 2
    fitting = open_rows(folder, shuffled=True)
    assert [fitting[number]["id"] for number in order] == [f"text-{number}" for number in order]
    assert len(reads) == len(set(reads)) == 5
    reads.clear()
    one = fitting._tables[0].nbytes
    narrow = open_rows(folder, memory=2 * one)
    assert [narrow[number]["id"] for number in order] == [f"text-{number}" for number in order]
    assert len(reads) > 10
    assert len(narrow._tables) <= 2
    reads.clear()
    # In any order, larger than memory, on a disk: the copy that is mapped.
    copied = open_rows(folder, shuffled=True, memory=2 * one)
    assert [copied[number]["id"] for number in order] == [f"text-{number}" for number in order]
    assert len(reads) == 1


def test_a_column_is_read_alone(folder, monkeypatch):
    from discsum.data import rows as module

    monkeypatch.setattr(module, "read_bytes", lambda path: pytest.fail("read whole"))
    assert list(open_rows(folder, 7, 9).values("id")) == ["text-7", "text-8"]


def test_damaged_folders(folder, tmp_path):
    content = json.loads((folder / "manifest.json").read_text())
    for shard in content["shards"]:
        shard |= {"documents": 0}
    (tmp_path / "manifest.json").write_text(json.dumps(content | {"documents": 0}))
    with pytest.raises(InputError, match=r"shard-00000\.parquet: expected a shard with sha256"):
        open_rows(tmp_path)
    content["shards"] = []
    (tmp_path / "manifest.json").write_text(json.dumps(content | {"documents": 0, "failed": 0}))
    with pytest.raises(InputError, match="expected a dataset folder with documents, got none: 0 failed"):
        open_rows(tmp_path)
