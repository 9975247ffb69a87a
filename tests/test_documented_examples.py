"""The Python examples in docs/ run unchanged, and print the output that is shown."""

import pytest
from documented import ROOT, blocks
from small_news import write_table

from discsum import formats, oracles
from discsum.abstractive import families
from discsum.data import engines
from discsum.data.input_source import InputSource
from discsum.data.pairs import PairSource
from discsum.data.parse_parts import ParseRecipe, parse_job
from discsum.data.part_maker import Division
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe
from discsum.data.shard_run import make_all
from discsum.encoder import heads

DOCS = ROOT / "docs"
# tests/abstractive/test_documented_sparsify.py has the example of abstractive.md.
PAGES = ("index.md", "python.md", "formats.md", "extending.md", "families.md")
EXAMPLES = [
    pytest.param(page, block, id=f"{page}-{number}")
    for page in PAGES
    for number, block in enumerate(blocks(DOCS / page, "python"))
]


@pytest.fixture
def restored(monkeypatch):
    """Undo what an example registers."""
    for registry in (heads.HEADS, oracles.ORACLES, formats.FORMATS, engines.ENGINES):
        monkeypatch.setattr(registry, "registered", dict(registry.registered))
    # Removed again, whatever the example sets it to.
    monkeypatch.setitem(families.FAMILIES, "heads", "")


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize(("page", "block"), EXAMPLES)
def test_an_example(page, block, capsys):
    exec(block.content, {})
    assert capsys.readouterr().out == (block.output or "")


def test_parts_in_python(tmp_path, monkeypatch, capsys):
    (tmp_path / "news").mkdir()
    for name in ("a", "b"):
        (tmp_path / "news" / f"{name}.txt").write_text("It rained. The river rose, so nobody came.")
    monkeypatch.chdir(tmp_path)
    exec(blocks(DOCS / "scale.md", "python")[-1].content, {})
    assert capsys.readouterr().out == "2 ['part-00000.jsonl.gz']\n"


def test_parts_in_other_tools(parser_folder, tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("It rained. The river rose, so nobody came.")
    source, recipe = InputSource([str(tmp_path / "a.txt")]), ParseRecipe(str(parser_folder))
    for name, kind in (("parsed", "jsonl.gz"), ("parsed-parquet", "parquet")):
        make_all(parse_job(source, tmp_path / name, recipe, Division(shard_format=kind)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    found = {}
    exec(blocks(DOCS / "scale.md", "python")[0].content, found)
    assert found["lines"][0]["text"] == found["frame"]["text"][0] == "It rained. The river rose, so nobody came."


def test_a_dataset_folder_in_python(parser_folder, tmp_path, monkeypatch, capsys):
    source = PairSource(str(write_table(tmp_path / "news.jsonl", 0, 5)))
    made = PreprocessRecipe(str(parser_folder), encoder="contextual")
    make_all(preprocess_job(source.pairs(), source.identity(), tmp_path / "DATA" / "train", made))
    monkeypatch.chdir(tmp_path)
    (example,) = blocks(DOCS / "experiments.md", "python")
    known = {}
    exec(example.content, known)
    assert len(known["rows"]) == len(known["examples"]) == 5
    units = max(known["examples"].lengths)
    assert capsys.readouterr().out == f"torch.Size([5, {units}, 32]) torch.Size([5, {units}])\n"
