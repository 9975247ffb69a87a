"""The number of documents that came with their own trees, in the manifest of a dataset folder."""

import json

import pytest
from small_news import pairs

from discsum.data.manifest import Manifest
from discsum.data.pairs import PairSource
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe
from discsum.data.run_options import RunOptions
from discsum.data.shard_run import make_all
from discsum.parsers.parser import Parser


@pytest.fixture
def table(parser_folder, tmp_path):
    """Return a table of ten documents, of which the first seven have trees."""
    parser, path = Parser.from_pretrained(parser_folder), tmp_path / "news.jsonl"
    rows = []
    for number, pair in enumerate(pairs(0, 10)):
        document = parser.parse(pair.text).to_json() if number < 7 else {"text": pair.text}
        rows.append(document | {"references": list(pair.references)})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def make(table, folder, parser_folder, tree=True, **options):
    recipe = PreprocessRecipe(str(parser_folder), shard=3, tree=tree, oracle="rouge12-f" if tree else "none")
    source = PairSource(str(table))
    return make_all(preprocess_job(source.pairs(), source.identity(), folder, recipe), RunOptions(**options))


@pytest.mark.parametrize("tree", [True, False])
def test_given_trees_are_counted(table, parser_folder, tmp_path, tree):
    manifest = make(table, tmp_path / "set", parser_folder, tree)
    assert (manifest.given_trees, manifest.documents, [shard.given_trees for shard in manifest.shards]) == (
        7,
        10,
        [3, 3, 1, 0],
    )
    assert Manifest.read(tmp_path / "set").given_trees == 7


def test_verify_keeps_the_number(table, parser_folder, tmp_path):
    folder = tmp_path / "set"
    make(table, folder, parser_folder)
    shard = folder / "shard-00001.parquet"
    shard.write_bytes(shard.read_bytes()[:-1])
    assert make(table, folder, parser_folder, verify=True, warn=lambda line: None).given_trees == 7


def test_manifests_from_before_have_no_number(table, parser_folder, tmp_path):
    path = tmp_path / "set" / "manifest.json"
    make(table, path.parent, parser_folder)
    content = json.loads(path.read_text())
    for shard in content["shards"]:
        del shard["given_trees"]
    path.write_text(json.dumps(content))
    assert Manifest.read(path.parent).given_trees == 0
