"""`discsum evaluate` of folders of tree files, which any parser may have written."""

import json
import shutil
import subprocess
import sys

import pytest

from discsum.document import Document
from discsum.formats import dump
from discsum.parsers.treebank import read_gum
from discsum.tree import Node, RSTTree


@pytest.fixture
def write(treebank, parser, tmp_path):
    """Return a function that writes trees of the training documents, predicted from raw text or gold."""

    def write(format, gold=False):
        folder = tmp_path / f"{format}-{gold}"
        folder.mkdir()
        for document in read_gum(treebank, "train"):
            tree = document if gold else parser.parse(document.text)
            written = dump(tree, format)
            (folder / f"{document.id}.{format}").write_text(written, encoding="utf-8")
        return folder

    return write


def scores(discsum, *models, folder, split="train"):
    result = discsum("evaluate", *models, folder, "--split", split, "--format", "json")
    assert result.code == 0, result.err
    return json.loads(result.out)["models"]


def test_trees_have_the_scores_of_the_parser_that_predicted_them(discsum, treebank, parser_folder, write):
    trees = write("json")
    own, given = scores(discsum, parser_folder, trees, folder=treebank)
    assert "gold" in own and "gold" not in given
    for name in ("edus", "sentences", "raw_start", "raw_end"):
        assert given[name] == own[name]
    (against,) = given["against"]
    assert against["raw_end"]["full"]["difference"] == 0 and "gold" not in against
    # rs3 has no sentences; those guessed from punctuation are no predictions.
    (other,) = scores(discsum, write("rs3"), folder=treebank)
    assert "sentences" not in other and other["edus"] == {**given["edus"], "signature": other["edus"]["signature"]}
    assert [other["raw_end"][name] for name in ("span", "full")] == [
        given["raw_end"][name] for name in ("span", "full")
    ]


def test_trees_over_gold_edus(discsum, treebank, write):
    (given,) = scores(discsum, write("dis", gold=True), folder=treebank)
    assert {name for name in given if isinstance(given[name], dict)} == {"gold"}
    assert [given["gold"][name] for name in ("span", "nuclearity", "relation", "full")] == [100] * 4


@pytest.fixture
def trees_of_another_treebank(tmp_path):
    """Return a folder of gold trees, and one of trees with the classes of their relations."""
    found = []
    for name, relations in (("gold", ("elaboration-object-e", "List")), ("found", ("Elaboration", "Joint"))):
        folder = tmp_path / name
        folder.mkdir()
        nodes = [Node(0, 2, 0, "NS", relations[0]), Node(1, 2, 1, "NN", relations[1])]
        document = Document.from_edu_texts(["It rained,", "we left,", "they stayed."], RSTTree(3, nodes))
        (folder / "one.rs3").write_text(dump(document, "rs3"))
        found.append(folder)
    return found


def test_relations_are_compared_by_the_classes_of_a_recipe(discsum, trees_of_another_treebank):
    gold, found = trees_of_another_treebank
    command = ("evaluate", found, gold, "--split", "all", "--format", "json")
    plain, classes = discsum(*command), discsum(*command, "--classes", "parser-rst-dt")
    figures = [json.loads(result.out)["models"][0]["gold"] for result in (plain, classes)]
    assert [(one["nuclearity"], one["full"]) for one in figures] == [(100, 0), (100, 100)]
    assert ["|relations:labels|" in figures[0]["signature"], "|relations:classes-" in figures[1]["signature"]] == [
        True,
        True,
    ]
    assert "expected relations such as Elaboration, Joint, got others at 2 of 2 nodes of the gold trees" in plain.err
    assert "--classes" in plain.err
    # Sentences do not matter over gold EDUs, although they are guessed.
    assert classes.err == ""


def test_trees_are_scored_without_torch(trees_of_another_treebank):
    gold, found = trees_of_another_treebank
    code = "import sys\nfrom discsum.cli import main\ntry:\n    main()\nfinally:\n    print('torch' in sys.modules)\n"
    arguments = ["evaluate", str(found), str(gold), "--split", "all"]
    result = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "False"


def test_classes_that_a_recipe_lacks(discsum, trees_of_another_treebank, tmp_path):
    gold, found = trees_of_another_treebank
    result = discsum("evaluate", found, gold, "--split", "all", "--classes", "parser-gum")
    assert (result.code, "parser-gum: expected a recipe with classes of relations" in result.err) == (1, True)
    (tmp_path / "mine.yaml").write_text("classes: {elaboration*: elaboration, list: joint}\n")
    assert discsum("evaluate", found, gold, "--split", "all", "--classes", tmp_path / "mine.yaml").code == 0


def test_a_document_without_a_tree_is_named(discsum, treebank, write):
    folder = write("json")
    (folder / "mill.json").unlink()
    result = discsum("evaluate", folder, treebank, "--split", "train")
    assert result.code == 1
    assert f"{folder}: expected a tree file for each of the 2 gold documents" in result.err
    assert "found none for mill" in " ".join(result.err.split())


def test_trees_that_share_no_score_are_not_compared(discsum, treebank, write):
    result = discsum("evaluate", write("json"), write("dis", gold=True), treebank, "--split", "train")
    said = " ".join(result.err.split())
    assert result.code == 0
    assert "expected scores that both have, got gold against edus, sentences, raw_start, raw_end" in said


def test_guessed_gold_sentences_are_scored_by_those_of_trees(discsum, treebank, tmp_path):
    gold = tmp_path / "gold"
    gold.mkdir()
    for path in (treebank / "rst" / "lisp_binary").glob("*.dis"):
        shutil.copy(path, gold)
    own = tmp_path / "own"
    own.mkdir()
    for document in read_gum(treebank, "all"):
        # The last EDU is joined to the one before, so that these are no gold EDUs.
        edus = [*document.edu_texts[:-2], " ".join(document.edu_texts[-2:])]
        last = len(edus) - 1
        tree = RSTTree(len(edus), [Node(first, last, first, "NN", "joint-list") for first in range(last)])
        whole = Document.from_edu_texts(edus, tree, id=document.id)
        (own / f"{document.id}.json").write_text(dump(whole, "json"))
    (found,) = scores(discsum, own, folder=gold, split="all")
    assert "gold:guessed" in found["sentences"]["signature"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("empty", "expected the folder of a parser, or a folder of tree files (.dis, "),
        ("mill.dis", "expected a parser or a folder of tree files, got a file; name its folder"),
        ("gone", "expected a folder with config.json"),
        ("run", "did you mean"),
        ("set", "expected parsers for the treebank"),
    ],
)
def test_models_that_are_neither_parsers_nor_trees(discsum, treebank, parser_folder, write, tmp_path, name, said):
    (tmp_path / "empty").mkdir()
    shutil.copytree(parser_folder, tmp_path / "run" / "best")
    shutil.copy(write("dis") / "mill.dis", tmp_path)
    (tmp_path / "table.jsonl").write_text('{"text": "The mill broke.", "summary": "It broke."}')
    options = ("--parser", parser_folder, "--encoder", "none")
    assert discsum("preprocess", tmp_path / "table.jsonl", tmp_path / "set", *options).code == 0
    result = discsum("evaluate", tmp_path / name, treebank, "--split", "train")
    assert result.code != 0 and said in " ".join(result.err.split())


def test_trees_are_not_measured_on_texts(discsum, write, tmp_path):
    (tmp_path / "table.jsonl").write_text('{"text": "The mill broke.", "summary": "It broke."}')
    result = discsum("evaluate", write("dis"), tmp_path / "table.jsonl")
    assert result.code == 1 and "got a folder of tree files; trees are measured on a treebank" in result.err
