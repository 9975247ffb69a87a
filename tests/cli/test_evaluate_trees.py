"""`discsum evaluate` of folders of tree files, which any parser may have written."""

import json

import pytest

from discsum.formats import dump
from discsum.parsers.treebank import read_gum


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


def scores(discsum, *models, folder):
    result = discsum("evaluate", *models, folder, "--split", "train", "--format", "json")
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


def test_a_document_without_a_tree_is_named(discsum, treebank, write):
    folder = write("json")
    (folder / "mill.json").unlink()
    result = discsum("evaluate", folder, treebank, "--split", "train")
    assert result.code == 1
    assert f"{folder}: expected a tree file for each of the 2 gold documents" in result.err
    assert "found none for mill" in " ".join(result.err.split())
