"""Texts with summaries as training data of sequence-to-sequence models."""

import json

import datasets
import pytest
from small_news import pairs, write_table
from tiny import make_tokenizer
from transformers import PreTrainedTokenizerFast

from discsum.abstractive.training.pairs import PairData, pair_collection
from discsum.data.manifest import MANIFEST, Manifest
from discsum.data.pairs import PairSource
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe
from discsum.data.shard_run import make_all
from discsum.errors import InputError
from discsum.recipes.sources import Source


@pytest.fixture
def read(tmp_path, parser_folder):
    write_table(tmp_path / "news.jsonl", 0, 9)

    def run(*sources, lines=None, report=None, **changes):
        needs = PairData(str(parser_folder), **changes)
        report = report or (lines if lines is not None else []).append
        return pair_collection(sources, tmp_path, needs, tmp_path / "datasets", report)

    return run


def test_pairs_of_a_table_come_back(read, parser, tmp_path):
    found = read(Source("news.jsonl"))
    for index, pair in enumerate(pairs(0, 9)):
        document = parser.parse(pair.text, id=pair.id)
        example = found[index]
        assert (example.document.id, example.document.text, example.references) == (pair.id, pair.text, pair.references)
        assert (example.document.sentences, example.document.tree) == (document.sentences, None)
    assert [pair.id for pair in pairs(0, 9)] == [found[index].document.id for index in range(len(found))]
    (made,) = (tmp_path / "datasets").iterdir()
    recipe = Manifest.read(made).recipe
    assert (recipe["oracle"], recipe["encoder"], recipe["tree"]) == ("none", "none", False)
    with_trees = read(Source("news.jsonl"), tree=True)
    assert with_trees[0].document.tree is not None
    assert with_trees.texts() == found.texts()


def test_lengths_are_tokens(read):
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=make_tokenizer(), unk_token="[UNK]", pad_token="[PAD]")
    found = read(Source("news.jsonl"), tokenizer=tokenizer, source_tokens=40, target_tokens=5)
    for index, pair in enumerate(pairs(0, 9)):
        source, target = (len(tokenizer(text)["input_ids"]) for text in (pair.text, pair.references[0]))
        assert found.lengths[index] == min(source, 40) + min(target, 5)


def test_a_hugging_face_dataset_gives_what_its_table_gives(read, tmp_path):
    rows = [json.loads(line) for line in (tmp_path / "news.jsonl").read_text().splitlines()]
    datasets.Dataset.from_list(rows).save_to_disk(str(tmp_path / "saved"))
    table, saved = read(Source("news.jsonl", 2, 7)), read(Source("saved", 2, 7))
    assert saved.texts() == table.texts()
    assert [saved[index].references for index in range(5)] == [table[index].references for index in range(5)]


def test_a_run_killed_while_it_parses_goes_on(read, tmp_path):
    class KilledError(Exception):
        pass

    def killed(line):
        if line.endswith("\r"):
            raise KilledError

    with pytest.raises(KilledError):
        read(Source("news.jsonl"), report=killed)
    assert not list((tmp_path / "datasets").rglob(MANIFEST))
    whole = read(Source("news.jsonl"))
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "datasets").rglob("*.parquet")}
    assert made
    assert read(Source("news.jsonl")).digest == whole.digest
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "datasets").rglob("*.parquet")} == made


def test_dataset_folders(read, tmp_path, parser_folder):
    source = PairSource(str(tmp_path / "news.jsonl"))
    for name, recipe in {
        "labelled": PreprocessRecipe(str(parser_folder)),
        "plain": PreprocessRecipe(str(parser_folder), "none", tree=False),
        "other": PreprocessRecipe("discsum-gum", "none", tree=False),
    }.items():
        make_all(preprocess_job(source.pairs(), source.identity(), tmp_path / name, recipe))
    assert read(Source("labelled"), tree=True).texts() == read(Source("plain")).texts()
    with pytest.raises(InputError, match="plain: expected documents with trees"):
        read(Source("plain"), tree=True)
    with pytest.raises(
        InputError, match=r"other: expected a dataset folder made with the parser .*add parser=discsum-gum"
    ):
        read(Source("other"))
    with pytest.raises(InputError, match="tree: expected oracle none and encoder none without trees, got rouge12-f"):
        PreprocessRecipe(str(parser_folder), tree=False)
