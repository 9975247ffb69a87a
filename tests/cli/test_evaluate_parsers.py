"""`discsum evaluate` of parsers on treebanks."""

import json
import shutil

import pytest
import tiny

from discsum.parsers.training.splits import SplitConfig, read_treebank


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


def test_parsers_are_compared(discsum, treebank, parser_folder, tmp_path):
    names = [str(tmp_path / name) for name in ("second", "third")]
    for seed, name in enumerate(names, start=1):
        tiny.make_parser(seed=seed).save_pretrained(name)
    command = ("evaluate", parser_folder, *names, treebank, "--split", "train")
    shown = discsum(*command).out
    found = json.loads(discsum(*command, "--format", "json").out)["models"]
    differences = []
    for one in found[1:]:
        (pair,) = one["against"]
        assert pair.pop("model") == str(parser_folder) and pair.pop("signature")
        differences += [
            (float(value["difference"]), float(one[name][figure] - found[0][name][figure]))
            for name, row in pair.items()
            for figure, value in row.items()
        ]
    assert any(shown for shown, _ in differences)
    assert [shown for shown, _ in differences] == pytest.approx([expected for _, expected in differences])
    assert found[0]["warnings"] == [
        "intervals and p-values are too small: a bootstrap needs 20 documents or more, got 2"
    ]
    for name in names:
        assert (
            f"\n{name} - {parser_folder}, difference in F1 with p-value (paired bootstrap)\nEDU starts, raw text "
            in shown
        )
    assert shown.count("too small: a bootstrap needs 20 documents or more, got 2") == 2
    result = discsum(*command, "--against", names[1], "--format", "markdown")
    assert result.code == 0
    assert f"{parser_folder} - {names[1]}, difference" in result.out and f"{names[1]} - " not in result.out
    result = discsum(*command, "--against", "discsum-gum")
    assert (result.code, "--against" in result.err, "got discsum-gum" in result.err) == (2, True, True)


def test_parsers_with_other_relations_are_compared_in_the_rest(discsum, treebank, parser_folder, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(parser_folder, other)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(
        json.dumps(config | {"classes": {"names": {"elaboration-*": "more"}, "prefix": True}})
    )
    result = discsum("evaluate", parser_folder, other, treebank, "--format", "json")
    assert result.code == 0
    assert f"{other} is compared with {parser_folder} only in what does not depend on relations" in result.err
    (difference,) = json.loads(result.out)["models"][1]["against"]
    assert [*difference["edus"], *difference["gold"]] == ["f1", "span", "nuclearity"]


def test_relations_that_a_parser_does_not_know_are_named(discsum, treebank, parser_folder, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(parser_folder, other)
    config = json.loads((other / "config.json").read_text())
    labels = [[nuclearity, f"x{relation}"] for nuclearity, relation in config["labels"]]
    (other / "config.json").write_text(json.dumps(config | {"labels": labels}))
    assert "expected relations such as x" in discsum("evaluate", other, treebank).err
    assert "expected relations" not in discsum("evaluate", parser_folder, treebank).err


def test_the_counts_of_each_document(discsum, treebank, parser_folder, tmp_path):
    output = tmp_path / "counts.jsonl"
    result = discsum("evaluate", parser_folder, treebank, "--split", "train", "--format", "json", "-o", output)
    (scores,) = json.loads(result.out)["models"]
    entries = [json.loads(line) for line in output.read_text().splitlines()]
    assert [(entry["model"], bool(entry["id"])) for entry in entries] == [(str(parser_folder), True)] * 2
    for name, figure in (("edus", "f1"), ("gold", "span"), ("raw_end", "full")):
        gold, predicted, right = (
            sum(entry[name][figure][key] for entry in entries) for key in ("gold", "predicted", "right")
        )
        assert 200 * right / (gold + predicted) == pytest.approx(scores[name][figure])


def test_training_documents_of_gum_are_told_whatever_their_names(discsum, treebank, parser_folder, tmp_path):
    parser = shutil.copytree(parser_folder, tmp_path / "parser")
    read_treebank(treebank, SplitConfig()).splits.write(parser)
    said = f"{parser}: was trained on {{}} of the {{}} documents of {{}}, all; expected documents that it has not seen"
    assert said.format(2, 3, treebank) in discsum("evaluate", parser, treebank, "--split", "all").err
    assert "was trained on" not in discsum("evaluate", parser, treebank).err
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(treebank / "rst" / "lisp_binary" / "mill.dis", other / "renamed.dis")
    assert said.format(1, 1, other) in discsum("evaluate", parser, other, "--split", "all").err


def test_splits_of_a_folder_that_the_parser_lacks(discsum, treebank, parser_folder, tmp_path):
    parser = shutil.copytree(parser_folder, tmp_path / "parser")
    read_treebank(treebank, SplitConfig()).splits.write(parser)
    flat = shutil.copytree(treebank / "rst" / "lisp_binary", tmp_path / "flat")
    (flat / "splits.tsv").write_text("mill\ttest\nbread\ttrain\nbridge\tdev\n")
    result = discsum("evaluate", parser, flat, "--split", "test", "--format", "json")
    assert result.code == 0, result.err
    assert f"{parser}: was trained on 1 of the 1 documents of {flat}, test" in result.err
    assert json.loads(result.out)["models"][0]["documents"] == 1


def test_several_parsers_are_one_json_object(discsum, treebank, parser_folder, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(parser_folder, other)
    found = json.loads(discsum("evaluate", parser_folder, other, treebank, "--format", "json").out)
    assert [one.pop("model") for one in found["models"]] == [str(parser_folder), str(other)]
    first, second = found["models"]
    (difference,) = second.pop("against")
    assert (first.pop("against"), difference.pop("model")) == ([], str(parser_folder))
    assert difference.pop("signature").startswith("paired-bs:10000|rs:12345|ci:0.95|sides:2|average:micro|docs:1|")
    assert {name: [*row] for name, row in difference.items()} == {
        "edus": ["f1"],
        "sentences": ["f1"],
        **{key: ["span", "nuclearity", "relation", "full"] for key in ("gold", "raw_start", "raw_end")},
    }
    assert all(
        one == {"difference": 0, "low": 0, "high": 0, "p": 1} for row in difference.values() for one in row.values()
    )
    assert first == second
    assert (found["data"], found["split"]) == (str(treebank), "dev")


@pytest.mark.filterwarnings("ignore:.*are guessed")
def test_parsers_measured_on_other_documents_are_not_compared(discsum, treebank, parser_folder, tmp_path):
    flat = shutil.copytree(treebank / "rst" / "lisp_binary", tmp_path / "flat")
    parsers = [shutil.copytree(parser_folder, tmp_path / name) for name in ("one", "two")]
    for parser, dev in zip(parsers, ("mill", "bread"), strict=True):
        (flat / "splits.tsv").write_text(
            "".join(f"{name}\t{'dev' if name == dev else 'train'}\n" for name in ("mill", "bread", "bridge"))
        )
        read_treebank(flat, SplitConfig()).splits.write(parser)
    (flat / "splits.tsv").unlink()
    result = discsum("evaluate", *parsers, flat, "--format", "json")
    assert result.code == 0, result.err
    assert f"{parsers[1]} is not compared with {parsers[0]}: they were measured on different documents" in result.err
    assert json.loads(result.out)["models"][1]["against"] == []
