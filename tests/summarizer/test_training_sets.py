"""Sources of a recipe: tables and dataset folders, their rows, weights and samples."""

import json
from dataclasses import replace

import pytest
import torch
from small_news import write_table

from discsum.data.manifest import MANIFEST, Manifest, write_recipe
from discsum.data.pairs import PairSource
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe
from discsum.data.shard_run import make_all
from discsum.encoder.synthesizer import SynthesizerConfig
from discsum.errors import InputError
from discsum.recipes.sources import Source
from discsum.summarizer.training.examples import UnitCollection, UnitExamples
from discsum.summarizer.training.recipe import SummarizerRecipe
from discsum.summarizer.training.sources import collection


@pytest.fixture(scope="module")
def data(parser_folder, tmp_path_factory):
    """Return a folder with a table, and a dataset folder made from it."""
    folder = tmp_path_factory.mktemp("sets")
    write_table(folder / "news.jsonl", 0, 9)
    source = PairSource(str(folder / "news.jsonl"))
    made = PreprocessRecipe(str(parser_folder), encoder="contextual", shard=4)
    make_all(preprocess_job(source.pairs(), source.identity(), folder / "news", made))
    return folder


def recipe(parser_folder, **changes):
    source = (Source("news"),)
    return SummarizerRecipe(source, source, parser=str(parser_folder), **changes)


def collect(data, parser_folder, *sources, lines=None, **changes):
    report = (lines if lines is not None else []).append
    return collection(sources, data, recipe(parser_folder, **changes), data / "cache", report)


@pytest.mark.parametrize("unit", ["sentence", "edu"])
def test_a_table_gives_what_its_dataset_folder_gives(data, parser_folder, unit):
    lines = []
    table = collect(data, parser_folder, Source("news.jsonl"), lines=lines, unit=unit)
    folder = collect(data, parser_folder, Source("news"), unit=unit)
    assert len(table) == len(folder) == 9
    assert "news.jsonl: 9 documents" in lines
    for index in range(9):
        one, other = table[index], folder[index]
        assert one.document == other.document
        assert one.references == other.references
        assert one.labels.tolist() == other.labels.tolist()
        assert len(one.labels) == table.lengths[index] == len(one.document.units(unit))
        assert one.inputs.vectors.equal(other.inputs.vectors)
        assert one.inputs.prior["matrix"].equal(other.inputs.prior["matrix"])
    assert table.texts() == folder.texts()


def test_rows_of_several_sources_with_weights(data, parser_folder):
    sources = (Source("news.jsonl", 2, 5, weight=3.0), Source("news", 7))
    row = collect(data, parser_folder, *sources)
    assert [row[index].document.id for index in range(5)] == ["text-2", "text-3", "text-4", "text-7", "text-8"]
    assert row.weights.tolist() == [3, 3, 3, 1, 1]
    assert len({row.digest, *(collect(data, parser_folder, source).digest for source in sources)}) == 3
    assert row.digest == collect(data, parser_folder, *sources).digest


def test_a_table_is_parsed_once(data, parser_folder):
    collect(data, parser_folder, Source("news.jsonl"))
    made = {path: path.stat().st_mtime_ns for path in (data / "cache").rglob("*.parquet")}
    collect(data, parser_folder, Source("news.jsonl"), unit="edu", sample=3)
    assert {path: path.stat().st_mtime_ns for path in (data / "cache").rglob("*.parquet")} == made
    collect(data, parser_folder, Source("news.jsonl"), vectors="isolated")
    assert len(list((data / "cache").rglob("*.parquet"))) > len(made)


def test_a_shard_without_its_record_is_made_anew_and_told(data, parser_folder, tmp_path):
    def read(lines):
        settings = recipe(parser_folder)
        return collection([Source("news.jsonl", 0, 3)], data, settings, tmp_path, lines.append).digest

    lines = []
    whole = read(lines)
    assert not any("made again" in line for line in lines)
    (manifest,) = tmp_path.rglob(MANIFEST)
    write_recipe(manifest.parent, Manifest.read(manifest.parent).recipe)
    manifest.unlink()
    assert read(lines) == whole
    assert any("expected its record" in line and line.endswith("; made again") for line in lines)


def test_a_sample_is_drawn_once(data, parser_folder):
    whole = collect(data, parser_folder, Source("news"))
    draws = [whole.sampled(4, draw) for draw in (1, 1, 2)]
    texts = [draw.texts() for draw in draws]
    assert texts[0] == texts[1] != texts[2]
    for draw in draws:
        places = [whole.texts().index(text) for text in draw.texts()]
        assert len(draw) == 4
        assert places == sorted(set(places))
    assert whole.sampled(99, 1).digest == whole.sampled(None, 1).digest == whole.digest
    assert whole.sampled(4, 1).digest == draws[0].digest != draws[2].digest != whole.digest


def test_a_sample_keeps_the_weights(data, parser_folder):
    whole = collect(data, parser_folder, Source("news", 0, 5, weight=8.0), Source("news", 5))
    sample = whole.sampled(6, draw=1)
    places = [whole.texts().index(text) for text in sample.texts()]
    assert sample.weights.tolist() == [8.0 if place < 5 else 1.0 for place in places]
    assert sample.lengths.tolist() == [len(sample[index].labels) for index in range(6)]


def test_damaged_examples_of_a_table_are_made_again(data, parser_folder, tmp_path):
    def read():
        return collection((Source("news.jsonl"),), data, recipe(parser_folder), tmp_path, lines.append)

    lines = []
    read()
    (shard,) = tmp_path.glob("*/shard-*.parquet")
    content = shard.read_bytes()
    shard.write_bytes(content[:-9] + b"x" + content[-8:])
    assert len(read()) == 9
    assert shard.read_bytes() == content
    assert any(shard.name in line for line in lines)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"oracle": "kedzie"}, r"oracle 'rouge12-f' there and 'kedzie' here"),
        ({"vectors": "isolated"}, r"encoder 'contextual' there and 'isolated' here"),
        ({"parser": "discsum-gum"}, r"parser '\w+' there and"),
    ],
)
def test_a_dataset_folder_made_otherwise_is_refused(data, parser_folder, changes, message):
    other = replace(recipe(parser_folder), **changes)
    with pytest.raises(InputError, match=message):
        collection((Source("news"),), data, other, data / "cache", lambda line: None)


def test_sources_that_are_none(data, parser_folder):
    with pytest.raises(InputError, match=r"nowhere: expected a dataset folder or a table, found neither"):
        collect(data, parser_folder, Source("nowhere"))
    with pytest.raises(InputError, match="expected documents with text and references, got none"):
        collect(data, parser_folder, Source("news", 50, 60))
    (data / "bad.jsonl").write_text('{"text": " ", "summary": "x"}\n')
    with pytest.raises(InputError, match="expected a dataset folder with documents, got none: 1 failed"):
        collect(data, parser_folder, Source("bad.jsonl"))


def test_memory_is_bounded_and_changes_nothing(data):
    config = SynthesizerConfig("c_tree", width=32)
    free, bound = UnitExamples(data / "news", "edu", config), UnitExamples(data / "news", "edu", config, memory=8_000)
    for _ in range(2):
        for one, other in zip(free, bound, strict=True):
            torch.testing.assert_close(one.inputs.vectors, other.inputs.vectors)
    assert len(free._cache) == 9
    assert 0 < len(bound._cache) < 9
    assert free[3] is free[3]


def test_columns_of_other_names(data, parser_folder):
    rows = [json.loads(line) for line in (data / "news.jsonl").read_text().splitlines()]
    renamed = [{"id": row["id"], "document": row["text"], "short": row["summary"]} for row in rows]
    (data / "renamed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in renamed))
    named = Source("renamed.jsonl", text_column="document", summary_column="short")
    assert collect(data, parser_folder, named).texts() == collect(data, parser_folder, Source("news.jsonl")).texts()
    with pytest.raises(InputError, match="use text_column in the recipe's source"):
        collect(data, parser_folder, Source("renamed.jsonl"))
    with pytest.raises(InputError, match="use summary_column in the recipe's source"):
        collect(data, parser_folder, Source("renamed.jsonl", text_column="document"))
    with pytest.raises(InputError, match="news: summary_column cannot be used with a dataset folder"):
        collect(data, parser_folder, Source("news", summary_column="short"))


def test_sources_without_columns_are_what_they_were():
    # Runs and dataset folders from before sources had columns can still be resumed.
    assert Source("a", 1, weight=2.0).to_dict() == {"path": "a", "first": 1, "last": None, "weight": 2.0}
    assert Source("a", summary_column="short").to_dict()["summary_column"] == "short"
    recipe = SummarizerRecipe((Source("a"),), (Source("b"),))
    assert recipe.to_dict()["train"] == ({"path": "a", "first": 0, "last": None, "weight": 1.0},)


def test_sources_with_vectors_of_two_encoders_are_refused(data):
    one, other = (UnitExamples(data / "news", "sentence", SynthesizerConfig("c_tree", width=32)) for _ in range(2))
    other.encoder = {"encoder": "another"}
    with pytest.raises(InputError, match="expected all sources' vectors from one encoder, got those of 2"):
        UnitCollection([(one, 1.0), (other, 1.0)])
