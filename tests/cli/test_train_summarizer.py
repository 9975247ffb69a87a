"""`discsum train` for summarizers."""

import json
import sys

import pytest
import tiny
from small_news import write_recipe, write_table

from discsum.data.locks import folder_lock
from discsum.encoder.heads import HEADS
from discsum.files import sha256
from discsum.summarizer.loading import _loaded


@pytest.fixture
def recipe(tmp_path, parser_folder):
    write_table(tmp_path / "train.jsonl", 0, 20)
    write_table(tmp_path / "validation.jsonl", 50, 58)
    # No dropout: its random draws differ between processes.
    synthesizer = {"inner": 16, "scorer": 8, "dropout": 0.0}
    return write_recipe(
        tmp_path, parser_folder, units=1, epochs=2, batch_size=8, learning_rate=1e-3, synthesizer=synthesizer
    )


def test_from_a_recipe_to_a_summary_and_its_figures(discsum, recipe, article, tmp_path):
    run = tmp_path / "runs" / "tiny"
    result = discsum("train", recipe, "-o", run)
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[:2] == ["train.jsonl: 20 documents", "validation.jsonl: 8 documents"]
    assert lines[2].startswith("20 documents, 6 steps, ")
    assert [line.split(" loss")[0] for line in lines[3:5]] == ["step 3/6", "step 6/6"]
    assert "step 6/6" in lines[4] and "rougeLsum" in lines[4]
    assert lines[5].endswith(f"use them with --model {run / 'best'}")
    assert any((run / "tensorboard").iterdir())
    card = " ".join((run / "best" / "README.md").read_text().split())
    assert "Trained on 20 documents of train.jsonl." in card
    assert "The step was chosen by rouge2 on 8 documents of validation.jsonl." in card
    found = json.loads(discsum("extract", article, "--model", run / "best", "--json").out)
    assert (found["model"], found["unit"], len(found["selected"])) == ("tiny-news", "sentence", 1)
    assert found["summary"] in tiny.ARTICLE
    figures = discsum("evaluate", run / "best", "lead", tmp_path / "validation.jsonl", "--units", "1")
    # The model's parser, which has random weights, splits the texts.
    assert figures.code == 0 and "texts are parsed by tiny-chart, the parser of the trained models" in figures.err


def test_trees_that_texts_came_with_are_named(discsum, recipe, parser_folder, tmp_path):
    for name in ("train", "validation"):
        rows = [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()]
        parsed = tmp_path / f"{name}-parsed.jsonl"
        discsum("parse", tmp_path / f"{name}.jsonl", "--parser", parser_folder, "--jsonl", "-o", parsed)
        trees = [json.loads(line) for line in parsed.read_text().splitlines()]
        text = [tree | {"references": [row["summary"]]} for tree, row in zip(trees, rows, strict=True)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in text))
        options = ("--parser", parser_folder, "--encoder", "contextual", "--shard", "7")
        assert discsum("preprocess", tmp_path / f"{name}.jsonl", tmp_path / name, *options).code == 0
    folders = ["train=[{path: train}]", "validation=[{path: validation}]"]
    assert discsum("train", recipe, *folders, "-o", tmp_path / "run").code == 0
    card = " ".join((tmp_path / "run" / "best" / "README.md").read_text().split())
    assert "20 documents of the training sources came with trees of their own." in card
    for data in ("validation", "validation.jsonl"):
        found = json.loads(discsum("evaluate", "lead", tmp_path / data, "--format", "json").out)["signature"]
        assert ("given-trees:8" in found, "parser:" in found) == (True, False)


def test_a_run_on_a_dataset_folder(discsum, recipe, parser_folder, tmp_path):
    for name in ("train", "validation"):
        options = ("--parser", parser_folder, "--encoder", "contextual", "--shard", "7")
        assert discsum("preprocess", tmp_path / f"{name}.jsonl", tmp_path / name, *options).code == 0
    folders = ["train=[{path: train}]", "validation=[{path: validation}]"]
    logs = []
    for name, changes in (("tables", []), ("folders", folders)):
        result = discsum("train", recipe, *changes, "sample=12", "sample_seed=3", "-o", tmp_path / name / "run")
        assert result.code == 0
        assert "12 documents, 4 steps" in result.out
        logs.append(json.loads((tmp_path / name / "run" / "log.json").read_text()))
    assert logs[0] == logs[1]
    card = (tmp_path / "folders" / "run" / "best" / "README.md").read_text()
    assert "Trained on 12 documents drawn (seed 3) from train." in card
    result = discsum("train", recipe, *folders, "oracle=kedzie", "-o", tmp_path / "other")
    assert result.code == 1
    assert (
        "expected a dataset folder made as the recipe says, found one made differently (oracle 'rouge12-f' there"
        in result.err
    )


def test_a_second_run_at_once_is_refused(discsum, recipe, tmp_path):
    with folder_lock(tmp_path / "run"):
        result = discsum("train", recipe, "-o", tmp_path / "run")
    assert result.code == 1
    assert f"{tmp_path / 'run'}: another run is using it; wait for that run to end" in result.err
    assert discsum("train", recipe, "epochs=1", "-o", tmp_path / "run").code == 0


NEIGHBOURS = """
import torch
from discsum.encoder.heads import Head, register


class NeighboursHead(Head):
    def __init__(self, config):
        super().__init__(config)
        place = torch.arange(config.max_units)
        # No buffer, so it is not among the weights.
        self.near = (place[:, None] - place[None, :]).abs() <= 1

    def forward(self, states, prior, mask):
        near = self.near[: states.shape[1], : states.shape[1]] & mask[:, None, :]
        return (near / near.sum(dim=-1, keepdim=True).clamp_min(1))[:, None].to(states.dtype)


register("neighbours", NeighboursHead)
"""


@pytest.fixture
def new_process(monkeypatch):
    """Return a function that forgets heads and models, as in a new process."""
    known = dict(HEADS.registered)

    def forget():
        monkeypatch.setattr(HEADS, "registered", dict(known))
        for name in [name for name in sys.modules if name.startswith("discsum_heads_")]:
            monkeypatch.delitem(sys.modules, name)
        _loaded.cache_clear()

    forget()
    yield forget
    forget()


def test_a_head_of_ones_own_is_one_file(discsum, recipe, article, tmp_path, new_process):
    code = tmp_path / "neighbours.py"
    code.write_text(NEIGHBOURS)
    run = tmp_path / "run"
    command = ("train", recipe, "synthesizer.head=neighbours", "epochs=1", "-o", run)
    result = discsum(*command)
    assert result.code == 1
    assert "got 'neighbours'; to add a head, use --head-file FILE.py" in result.err
    assert discsum(*command, "--head-file", code).code == 0
    recorded = json.loads((run / "best" / "config.json").read_text())["heads"]
    assert recorded == {"neighbours": f"neighbours.py:NeighboursHead {sha256(code)[:16]}"}
    for command in (
        ("extract", article, "--model", run / "best"),
        ("evaluate", run / "best", tmp_path / "validation.jsonl"),
        ("evaluate", "--parameters", run / "best"),
    ):
        result = discsum(*command, "--head-file", code)
        assert (result.code, "with the code" in result.err) == (0, False)
        new_process()
        result = discsum(*command)
        assert result.code == 1
        assert "expected the head 'neighbours' of neighbours.py:NeighboursHead, which the model was" in result.err
        assert "use --head-file FILE.py" in result.err


def test_changed_code_of_a_head_is_told(discsum, recipe, article, tmp_path, new_process):
    code, run = tmp_path / "neighbours.py", tmp_path / "run"
    code.write_text(NEIGHBOURS)
    train = ("train", recipe, "synthesizer.head=neighbours", "epochs=1", "-o", run, "--head-file", code)
    assert discsum(*train).code == 0
    extract = ("extract", article, "--model", run / "best", "--head-file")
    new_process()
    renamed = tmp_path / "renamed.py"
    renamed.write_text(NEIGHBOURS)
    result = discsum(*extract, renamed)
    assert (result.code, "with the code" in result.err) == (0, False)
    began = sha256(code)[:16]
    code.write_text(NEIGHBOURS.replace("<= 1", "<= 2"))
    new_process()
    result = discsum(*extract, code)
    assert result.code == 0
    assert (
        f"{run / 'best'}: expected the head 'neighbours' with the code that the model was trained with, "
        f"neighbours.py:NeighboursHead {began}, got neighbours.py:NeighboursHead {sha256(code)[:16]}; its scores may "
        "be wrong: restore that code, or train the model again"
    ) in result.err
    result = discsum(*train)
    assert result.code == 1
    assert "synthesizer: expected the code of heads that the run began with" in result.err


def test_the_code_that_a_run_began_with_is_recorded(discsum, recipe, tmp_path, new_process):
    """The file may be edited while a run goes on with the code that it has loaded."""
    code, run = tmp_path / "neighbours.py", tmp_path / "run"
    code.write_text(NEIGHBOURS)
    began = sha256(code)[:16]
    HEADS.register_file(code)
    code.write_text(f"{NEIGHBOURS}\n# Changed.\n")
    assert discsum("train", recipe, "synthesizer.head=neighbours", "epochs=1", "-o", run).code == 0
    recorded = json.loads((run / "best" / "config.json").read_text())["heads"]
    assert recorded == {"neighbours": f"neighbours.py:NeighboursHead {began}"}


LISTS = """
    @staticmethod
    def prior(units, config):
        return {"matrix": [[1.0]]}

    def forward("""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("near / near.sum(dim=-1, keepdim=True).clamp_min(1)", "2 * near"),
            "head NeighboursHead: expected attention whose rows sum to 1, got a row with the sum ",
        ),
        (
            ("\n    def forward(", LISTS),
            "head 'neighbours': expected prior(units, config)['matrix'] as a NumPy array of numbers or booleans, got "
            "list; convert it",
        ),
    ],
    ids=["attention", "prior"],
)
def test_a_head_that_breaks_its_contract_is_not_trained(discsum, recipe, tmp_path, new_process, change, message):
    code = tmp_path / "neighbours.py"
    code.write_text(NEIGHBOURS.replace(*change))
    command = ("train", recipe, "synthesizer.head=neighbours", "epochs=1", "-o", tmp_path / "run")
    result = discsum(*command, "--head-file", code)
    assert result.code == 1
    assert message in result.err


def test_errors_name_what_the_command_has(discsum, recipe, tmp_path):
    rows = (tmp_path / "train.jsonl").read_text()
    (tmp_path / "train.jsonl").write_text(rows.replace('"text":', '"document":'))
    result = discsum("train", recipe, "-o", tmp_path / "run")
    assert (result.code, "use text_column in the recipe's source" in result.err) == (1, True)
    sources = f"train=[{{path: {tmp_path / 'train.jsonl'}, text_column: document}}]"
    assert discsum("train", recipe, sources, "epochs=1", "-o", tmp_path / "run").code == 0
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes('{"text": "Caf\u00e9.", "summary": "Caf\u00e9."}\n'.encode("latin-1"))
    for command in (("evaluate", "lead", latin), ("preprocess", latin, tmp_path / "out")):
        result = discsum(*command)
        assert result.code == 1
        said = result.err + "".join(path.read_text() for path in (tmp_path / "out").glob("failures.jsonl"))
        assert "convert the file to UTF-8 first" in said and "--encoding" not in said
