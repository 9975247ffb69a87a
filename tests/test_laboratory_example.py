"""The examples of docs/laboratory.md run as they stand."""

import re
from pathlib import Path

import torch
from small_news import write_table

from discsum.data.preprocess import PreprocessRecipe, preprocess
from discsum.data.sources import PairSource
from discsum.encoder.heads import HEADS, HeadConfig, make_head

DOCUMENT = Path(__file__).parents[1] / "docs" / "laboratory.md"


def examples():
    return re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


def test_a_dataset_folder_in_python(parser_folder, tmp_path, monkeypatch, capsys):
    source = PairSource(str(write_table(tmp_path / "news.jsonl", 0, 5)))
    made = PreprocessRecipe(str(parser_folder), encoder="contextual")
    preprocess(source.pairs(), source.identity(), tmp_path / "DATA" / "train", made)
    monkeypatch.chdir(tmp_path)
    (code,) = (example for example in examples() if "DataLoader" in example)
    known = {}
    exec(code, known)
    assert len(known["rows"]) == len(known["examples"]) == 5
    units = max(known["examples"].lengths)
    assert capsys.readouterr().out == f"torch.Size([5, {units}, 32]) torch.Size([5, {units}])\n"


def test_a_head_of_ones_own(monkeypatch):
    monkeypatch.setattr("discsum.encoder.heads.HEADS", dict(HEADS))
    (code,) = (example for example in examples() if "NeighboursHead(Head)" in example)
    exec(f'{code}\nregister("neighbours", NeighboursHead)\n', {})
    head = make_head("neighbours", HeadConfig(4))
    assert head(torch.zeros(1, 3, 4), {}, torch.ones(1, 3, dtype=torch.bool)).shape == (1, 1, 3, 3)
