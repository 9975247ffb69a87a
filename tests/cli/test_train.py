import json

import german_treebank
import pytest
import tiny
import yaml

from discsum.data.locks import folder_lock


@pytest.fixture
def recipe(tmp_path, encoder_folder, treebank):
    content = {
        "kind": "parser",
        "name": "tiny-gum",
        "data": str(treebank),
        "encoder": str(encoder_folder),
        "network": tiny.SIZES,
        "epochs": 2,
        "bf16": False,
    }
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def test_from_a_recipe_to_a_parser_and_its_figures(discsum, recipe, treebank, article, tmp_path):
    run = tmp_path / "run"
    result = discsum("train", recipe, "epochs=1", "-o", run)
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[1].startswith("step 1/1 loss ") and " validation edus " in result.out
    assert f"use them with --parser {run / 'best'}" in result.out
    assert "# tiny-gum" in (run / "best" / "README.md").read_text()
    assert json.loads(discsum("parse", article, "--parser", run / "best", "-f", "json").out)["parser"] == "tiny-gum"

    result = discsum("evaluate", run / "best", treebank)
    assert (result.code, result.err) == (0, "")
    assert "trees, gold EDUs" in result.out and "parseval|edus:gold|" in result.out
    figures = json.loads(
        discsum("evaluate", run / "best", treebank, "--split", "train", "-f", "json", "--rst-parseval").out
    )
    assert (figures["split"], figures["models"][0]["gold"]["signature"][:20]) == ("train", "method:rst-parseval|")

    result = discsum("train", recipe, "epochs=2", "-o", run)
    assert result.code == 1
    assert "found one of another recipe (epochs 1 there and 2 here); choose another folder" in result.err


def test_a_processor_without_bfloat16_warns(discsum, recipe, tmp_path, monkeypatch):
    monkeypatch.setattr("discsum.parsers.training.task.has_fast_bfloat16", lambda device: False)
    result = discsum("train", recipe, "epochs=1", "bf16=true", "-o", tmp_path / "run")
    assert result.code == 0
    assert result.err == (
        "discsum: bf16: the device cpu has no bfloat16 instructions; the encoder trains in float32, as with "
        "bf16=false, although the recipe in the model card keeps bf16: true\n"
    )


def test_a_pupil_learns_from_a_teacher_and_tables(discsum, recipe, treebank, tmp_path):
    # With such a low threshold, the teacher finds EDUs after one epoch.
    assert discsum("train", recipe, "epochs=1", "network.edu_threshold=0.01", "-o", tmp_path / "teacher").code == 0
    rows = [{"text": "No row before this one."}, {"text": tiny.ARTICLE}, {"text": tiny.ARTICLE.upper()}]
    table = treebank.parent / "unseen.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    taught = [f"teachers=[{tmp_path / 'teacher' / 'best'}]", "silver=1", "epochs=1"]
    result = discsum("train", recipe, *taught, "texts=[{path: ../unseen.jsonl, first: 1}]", "-o", tmp_path / "pupil")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("teachers labelled 2 texts, 2 of them with a tree\n2 documents, 1 steps, ")
    assert "../unseen.jsonl rows 1-end" in (tmp_path / "pupil" / "best" / "README.md").read_text()
    for texts, message in (
        ("texts=[{path: gone.jsonl, first: 1}]", "gone.jsonl: no such file or folder"),
        ("texts=[{path: ../unseen.jsonl, first: 9}]", "expected rows 9 to the end of"),
    ):
        result = discsum("train", recipe, *taught, texts, "-o", tmp_path / "other")
        assert (result.code, len(result.err.splitlines())) == (1, 1)
        assert message in result.err
        assert result.err.count("gone.jsonl") <= 1
    table.write_text('{"text": "A row."}\nno row\n')
    result = discsum("train", recipe, *taught, "texts=[{path: ../unseen.jsonl}]", "-o", tmp_path / "other")
    assert "texts: " in result.err and "unseen.jsonl:2: " in result.err


def test_the_mean_of_two_seeds(discsum, recipe, article, tmp_path):
    run = tmp_path / "mean"
    assert discsum("train", recipe, "epochs=1", "-o", tmp_path / "start").code == 0
    settings = [f"start={tmp_path / 'start' / 'best'}", "stop_after=1", "seeds=[1, 2]"]
    result = discsum("train", recipe, *settings, "-o", run)
    assert (result.code, result.err) == (0, "")
    assert [line for line in result.out.splitlines() if line.startswith("seed ")] == ["seed 1", "seed 2"]
    assert f"{run / 'best'}: the mean of the runs' best weights" in result.out
    assert "| seed 2, step 1 |" in (run / "best" / "README.md").read_text()
    assert json.loads(discsum("parse", article, "--parser", run / "best", "-f", "json").out)["parser"] == "tiny-gum"


def test_a_split_that_is_not_there(discsum, treebank, parser_folder):
    result = discsum("evaluate", parser_folder, treebank, "--split", "test")
    assert result.code == 1
    assert result.err.endswith("expected the split 'test', found train, dev\n")


def test_a_second_run_at_once_is_refused(discsum, recipe, treebank, tmp_path):
    with folder_lock(tmp_path / "run"):
        result = discsum("train", recipe, f"data={treebank}", "-o", tmp_path / "run")
    assert (result.code, "another run is using it; wait for that run to end" in result.err) == (1, True)


def test_a_parser_of_any_treebank(discsum, encoder_folder, tmp_path):
    bank, run = german_treebank.write(tmp_path / "bank"), tmp_path / "run"
    (bank / "kaputt.dis").write_text("( Root")
    sizes = [f"network.{name}={value}" for name, value in tiny.SIZES.items()]
    # The recipe's Transformer has six heads, which must divide `hidden`.
    settings = [f"data={bank}", f"encoder={encoder_folder}", "epochs=1", *sizes, "network.hidden=18"]
    result = discsum("train", "parser", *settings, "-o", run)
    assert result.code == 0
    said = [line for line in result.err.splitlines() if line]
    assert said[0].startswith(f"discsum: left out: {bank / 'kaputt.dis'}") and "sentences of 15 of 15" in said[1]
    result = discsum("evaluate", run / "best", bank, "--split", "test")
    assert (result.code, "docs:2|" in result.out, "relations:labels" in result.out) == (0, True, True)
    story = german_treebank.story(4).text.encode()
    assert discsum("parse", "-", "--parser", run / "best", stdin=story).code == 0
    result = discsum("train", "parser", *settings, "split.seed=3", "-o", run)
    assert result.code == 1 and "choose another folder" in result.err
    result = discsum("train", "parser", f"data={tmp_path / 'gone'}", "-o", tmp_path / "other")
    assert (result.code, "gone: expected a folder with tree files, found no such folder" in result.err) == (1, True)
