"""`discsum evaluate` of parsers on treebanks."""

import json
import shutil


def test_a_summarizer_on_a_treebank(discsum, treebank):
    result = discsum("evaluate", "lead", treebank)
    assert (result.code, result.out) == (2, "")
    assert f"expected parsers for the treebank {treebank}, got the summarizer lead" in " ".join(result.err.split())


def test_options_of_tables_on_a_treebank_are_wrong_usage(discsum, treebank, parser_folder):
    result = discsum("evaluate", parser_folder, treebank, "--unit", "edu")
    assert result.code == 2
    assert "--unit cannot be used with a treebank" in result.err


def test_some_documents_of_a_treebank(discsum, treebank, parser_folder):
    options = ("--split", "train", "--format", "json")
    (whole,) = json.loads(discsum("evaluate", parser_folder, treebank, *options).out)["models"]
    parts = [
        json.loads(discsum("evaluate", parser_folder, treebank, *options, *rows).out)["models"][0]
        for rows in (("--last", 1), ("--first", 1))
    ]
    assert [(part["first"], part["documents"]) for part in (whole, *parts)] == [(0, 2), (0, 1), (1, 1)]
    assert "docs:1" in parts[0]["gold"]["signature"]
    assert "docs:2" in whole["gold"]["signature"]
    shown = discsum("evaluate", parser_folder, treebank, "--split", "train", "--first", 1)
    assert shown.out.startswith(f"{parser_folder} on {treebank} train, 1 of 2 documents from 1\n")
    result = discsum("evaluate", parser_folder, treebank, "--first", 1)
    assert result.code == 1
    assert "expected documents of dev between --first and --last, got none; dev has 1" in result.err


def test_an_unfinished_dataset_folder_is_no_treebank(discsum, tmp_path):
    (tmp_path / "recipe.json").write_text('{"documents": {}, "made_by": {}}')
    result = discsum("evaluate", "lead", tmp_path)
    assert result.code == 1
    assert "expected a dataset folder with manifest.json, this one is not finished" in result.err


def test_parsers_in_markdown(discsum, treebank, parser_folder):
    shown = discsum("evaluate", parser_folder, treebank, "--format", "markdown", "--signature").out.splitlines()
    assert "|  | P | R | F1 |" in shown and "|  | S | N | R | F |" in shown
    assert sum(line.startswith("| trees, ") for line in shown) == 3
    assert sum(line.startswith("- ") and line.endswith("`") for line in shown) == 5


def test_several_parsers_are_one_json_object(discsum, treebank, parser_folder, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(parser_folder, other)
    found = json.loads(discsum("evaluate", parser_folder, other, treebank, "--format", "json").out)
    assert [one.pop("model") for one in found["models"]] == [str(parser_folder), str(other)]
    assert found["models"][0] == found["models"][1]
    assert (found["data"], found["split"]) == (str(treebank), "dev")
