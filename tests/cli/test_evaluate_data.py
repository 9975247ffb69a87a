"""What `discsum evaluate` says about the data that it is given."""

import json

import pytest
import tiny

from discsum.formats import dump

ROWS = [
    {"id": "a", "text": tiny.ARTICLE, "summary": "The mill broke."},
    {"id": "b", "text": "The river rose. The mill stopped. Rain came.", "summary": "The mill stopped."},
]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def preprocess(discsum, table, folder, parser_folder, *options):
    command = ("preprocess", table, folder, "--parser", parser_folder, "--encoder", "none", *options)
    assert discsum(*command).code == 0


@pytest.mark.parametrize("unit", ["sentence", "edu"])
def test_a_dataset_folder_without_labels(discsum, table, parser_folder, summarizer_folders, tmp_path, unit):
    models = ("lead", summarizer_folders[unit])
    options = ("--unit", unit, "--units", 1, "--format", "json")
    found = {}
    for oracle in ("none", "rouge12-f"):
        preprocess(discsum, table, tmp_path / oracle, parser_folder, "--oracle", oracle)
        result = discsum("evaluate", *models, tmp_path / oracle, *options)
        assert (result.code, result.err) == (0, "")
        found[oracle] = json.loads(result.out)["models"]
    for bare, labelled in zip(*found.values(), strict=True):
        assert bare["overlap"] is None and labelled["overlap"] is not None
        assert (
            "|oracle:none|bs:" in bare["signature"] and "|oracle:rouge12-f|oracle-units:own|" in labelled["signature"]
        )
        for name in ("words", "place", "parameters"):
            assert bare[name] == labelled[name], name
        assert bare["rouge1"]["mean"] == labelled["rouge1"]["mean"]
    assert discsum("evaluate", "lead", tmp_path / "none").out.splitlines()[1].split()[-4:-1] == [
        "in",
        "oracle",
        "parameters",
    ]
    result = discsum("evaluate", "lead", "oracle", tmp_path / "none", "--unit", unit)
    assert (result.code, f"expected labels of the unit {unit}, found none; preprocess" in result.err) == (1, True)


@pytest.mark.parametrize("model", ["lead", "oracle", "discsum-gum"])
def test_a_folder_of_dataset_folders(discsum, table, parser_folder, tmp_path, model):
    data = tmp_path / "DATA"
    for name in ("train", "validation", "test"):
        preprocess(discsum, table, data / name, parser_folder)
    result = discsum("evaluate", model, data)
    assert result.code == 1
    assert (
        f"{data}: expected a dataset folder, a treebank or tables, got a folder of the dataset folders test, train, "
        f"validation; name one of them, such as {data / 'test'}"
    ) in result.err
    # The rows of a table beside them are not guessed to be meant.
    (data / "table.jsonl").write_text(table.read_text())
    assert discsum("evaluate", model, data).err == result.err


def test_a_run_is_not_written_to_a_dataset_folder(discsum, table, parser_folder, tmp_path):
    data = tmp_path / "set"
    preprocess(discsum, table, data, parser_folder)
    result = discsum("train", "news-sentence", f"data={tmp_path}", "-o", data)
    assert result.code == 1
    assert f"{data}: expected the folder of a run, or a new one, got a dataset folder; choose another" in result.err


def test_a_dataset_folder_beside_trees(discsum, table, parser_folder, tmp_path, parser):
    data = tmp_path / "gold"
    preprocess(discsum, table, data / "set", parser_folder)
    (data / "a.dis").write_text(dump(parser.parse(tiny.ARTICLE), "dis"))
    assert discsum("evaluate", parser_folder, data, "--split", "all").code == 0


@pytest.mark.parametrize("argument", ["lead", "table.jsonl"])
def test_a_single_argument(discsum, argument):
    result = discsum("evaluate", argument)
    assert result.code == 2
    said = " ".join(result.err.split())
    assert "discsum evaluate discsum-gum gum, for a parser, or discsum evaluate lead news.jsonl, for a summ" in said


def test_lists_of_sentences_are_told_once(discsum, parser_folder, tmp_path):
    path = tmp_path / "table.jsonl"
    lists = [["The mill broke.", "Rain came."], ["The mill stopped."]]
    rows = [{"text": row["text"], "abstract": value} for row, value in zip(ROWS, lists, strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for command in (
        ("evaluate", "lead", path, "--summary-column", "abstract"),
        ("preprocess", path, tmp_path / "set", "--summary-column", "abstract", "--encoder", "none"),
    ):
        result = discsum(*command, "--parser", parser_folder)
        assert result.code == 0
        assert result.err.count("lists in the column abstract are read as several summaries of a text") == 1


@pytest.mark.parametrize("options", [(), ("--split", "all")])
def test_a_single_tree_file(discsum, tmp_path, options, parser):
    tree = tmp_path / "gold" / "a.rs4"
    tree.parent.mkdir()
    tree.write_text(dump(parser.parse(tiny.ARTICLE), "rs4"))
    result = discsum("evaluate", "discsum-gum", tree, *options)
    assert result.code == 1
    assert f"{tree}: expected a folder of tree files, or a table" in result.err
    assert f"got a file; to measure parsers on its tree, name its folder, {tree.parent}" in result.err


@pytest.mark.parametrize("command", [("discsum-gum", "--split", "all"), ("lead",), ("lead", "--units", 2)])
def test_a_folder_without_documents(discsum, tmp_path, command):
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "notes.md").write_text("Nothing.")
    model, *options = command
    result = discsum("evaluate", model, folder, *options)
    assert result.code == 1
    assert f"{folder}: expected a folder with tree files, for parsers (.dis, .json, " in result.err
    assert ".parquet), found neither" in result.err
