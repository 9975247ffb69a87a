import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import version

import pytest
import tiny
import yaml

import discsum as package
from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.cli.app import COMMANDS as SUMMARIES
from discsum.cli.app import _WarningPrinter
from discsum.errors import InputWarning
from discsum.parsers.training.recipe import ParserRecipe
from discsum.recipes import common_fields, names, read_recipe
from discsum.summarizer.training.recipe import SummarizerRecipe

COMMANDS = (
    *("parse", "extract", "abstract", "preprocess", "train", "evaluate"),
    *(f"analyze {name}" for name in ("attention", "sparsity", "rouge", "time", "corpus", "trees")),
)
COMMAND = "import sys; from discsum.cli import main; main()"


def test_version(discsum):
    assert discsum("--version").out == f"discsum {package.__version__}\n"
    # Signatures and manifests have the version of the installed package.
    assert version("discsum") == package.__version__


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_shows_an_example(discsum, command):
    result = discsum(*command.split(), "--help")
    assert (result.code, result.err) == (0, "")
    assert f"Example: discsum {command}".strip() in " ".join(result.out.split())
    assert discsum(*command.split(), "-h").out == result.out


def test_help_lists_the_commands_by_the_first_line_of_their_own_help(discsum):
    assert [*SUMMARIES] == list(dict.fromkeys(command.split()[0] for command in COMMANDS))
    for name, summary in SUMMARIES.items():
        assert f" {summary} " in " ".join(discsum(name, "--help").out.split())


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_breaks_no_name_at_a_hyphen(discsum, monkeypatch, command):
    for width in (60, 80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        out = discsum(*command.split(), "--help").out
        assert "\N{NON-BREAKING HYPHEN}" not in out
        assert not re.search(r"\w-$", out, re.M)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_the_type_of_one_value(discsum, command):
    assert not re.findall(r"<[^>]*(?:range|list)[^>]*>", discsum(*command.split(), "--help").out)


def test_help_groups_options(discsum):
    out = discsum("evaluate", "--help").out
    _, *sections = re.split(r"^(\w[^\n]*):\n", out, flags=re.M)
    options = {
        name: re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.M)
        for name, text in zip(sections[::2], sections[1::2], strict=True)
    }
    assert options["Options for parsers"] == ["--split", "--rst-parseval", "--classes"]
    assert options["Options for the papers' tables"][:2] == ["--table", "--setting"]
    assert "--help" in options["Options"]
    everywhere = [option for group in options.values() for option in group]
    assert len(everywhere) == len(set(everywhere)) > 30


def test_help_of_train_lists_the_shipped_recipes(discsum):
    out = discsum("train", "--help").out
    lines = [line.strip() for line in out.splitlines()]
    assert re.search(r"^news-edu +The shipped EDU summarizer\.$", "\n".join(lines), re.M)
    assert "small-bart/full The small BART learns to summarize, with full attention. " in " ".join(out.split())
    assert any(line.startswith("xiao2020/{edu,sentence}-{default,balanced}-{dot_product-8,") for line in lines)


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        ("parser-gum", "network.dropout=0.2\n    a number in [0, 1). Dropout of everything above the encoder.\n"),
        ("news-edu", "synthesizer.inner=512\n    a whole number of at least 1. Size of the feed-forward layers.\n"),
        ("small-bart/kl", "objective.gamma=0.1\n    a number of at least 0. Weight of the entropy.\n"),
    ],
)
def test_fields_of_a_recipe(discsum, tmp_path, monkeypatch, recipe, expected):
    monkeypatch.chdir(tmp_path)
    result = discsum("train", recipe, "seeds=[]" if recipe == "parser-gum" else "seed=3", "--fields")
    assert (result.code, result.err, list(tmp_path.iterdir())) == (0, "", [])
    assert expected in result.out
    assert not re.search(r"\w-$", result.out, re.M)
    assert ("seeds=[]" if recipe == "parser-gum" else "seed=3") in result.out.splitlines()
    assert "data=" in result.out
    assert discsum("train", recipe, "seed=-3", "--fields").code == 1


def test_equal_warnings_are_shown_once(capsys):
    show = _WarningPrinter()
    for text in ("first", "second", "first"):
        show(InputWarning(text), InputWarning, "module.py", 1)
    assert capsys.readouterr().err == "discsum: first\ndiscsum: second\n"
    for _ in range(2):
        show(UserWarning("other"), UserWarning, "module.py", 1)
    assert capsys.readouterr().err.count("UserWarning: other") == 2


def test_no_command_is_wrong_usage(discsum):
    assert discsum().code == 2
    assert discsum("summarise").code == 2


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom discsum.cli import main\nsys.argv = ['discsum', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'transformers', 'tokenizers', 'numpy', 'scipy', 'sklearn', 'nltk', 'networkx', 'yaml'}\n"
        "heavy.add('msgspec')\n"
        "print('loaded:', sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "loaded: []"


def test_as_a_process(parser_folder):
    arguments = ["parse", "-", "--parser", str(parser_folder), "--jsonl"]
    result = subprocess.run(
        [sys.executable, "-m", "discsum", *arguments], input=tiny.ARTICLE.encode(), capture_output=True, check=True
    )
    assert result.stdout.startswith(b'{"id": "stdin", "text": "The mill')
    assert result.stderr == b""


def test_a_reader_that_has_seen_enough(tmp_path):
    path = tmp_path / "tree.json"
    path.write_text('{"id": "t", "text": "Rain", "sentences": [{"start": 0, "end": 4}], '
                    '"edus": [{"start": 0, "end": 4, "sentence": 0}], "nodes": []}')  # fmt: skip
    reading, writing = os.pipe()
    os.close(reading)
    result = subprocess.run(
        [sys.executable, "-m", "discsum", "parse", *[str(path)] * 50, "--jsonl"],
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert result.returncode == 1
    assert result.stderr == b""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["no-such-recipe"],
            "one of coarse-to-fine/..., faster-encoders/..., manakul2021/..., news-edu, news-sentence, "
            "parser, parser-gum, parser-gum-first, parser-gum-large, parser-gum-open, parser-rst-dt, small-bart/..., "
            "small-coarse-to-fine/..., small-faster-encoders/..., xiao2020/..., got 'no-such-recipe'",
        ),
        (["parser-gum", "kind=cake"], "parser-gum: kind: expected one of parser, extractive, abstractive, got 'cake'"),
        (
            ["parser-gum", "data=", "name="],
            "expected data and name in the recipe, got none; add data=... name=...",
        ),
        (
            ["parser-gum", "epochs=0", "learning_rate=fast", "data=nowhere"],
            "rate: expected a number above 0, got 'fast'",
        ),
        (["parser-gum", "data=nowhere"], "nowhere: expected a folder with tree files, found no such folder; set data="),
        (["parser-gum", "seed=5000000000"], "seed: expected a whole number in [0, 4294967295], got 5000000000"),
        (["parser-gum", "seed="], "seed: expected a whole number in [0, 4294967295], got null"),
        (
            ["parser-gum", "teachers=[]"],
            "teachers: expected at least one with texts, got none; add some, or set texts=[]",
        ),
    ],
)
def test_recipes_that_cannot_be_trained(discsum, tmp_path, monkeypatch, encoder_folder, arguments, message):
    monkeypatch.chdir(tmp_path)
    result = discsum("train", *arguments, f"encoder={encoder_folder}")
    assert result.code == 1
    assert message in result.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed: 1", "r.yaml: expected a recipe with kind (parser, extractive, abstractive) or base"),
        ("base: nosuch", "r.yaml: base: expected a recipe's file or one of "),
        ("only words", "r.yaml: expected the fields of a recipe, such as 'base: parser-gum-first', got 'only words'"),
    ],
)
def test_mistakes_in_the_file_of_a_recipe(discsum, tmp_path, text, message):
    path = tmp_path / "r.yaml"
    path.write_text(text)
    result = discsum("train", path, "-o", tmp_path / "run")
    assert (result.code, message in result.err) == (1, True), result.err


def test_claims_about_the_data_end_with_the_data(tmp_path):
    whole = read_recipe("news-edu")
    assert "CNN/DailyMail" in whole["notes"] and whole["license"] == "apache-2.0"
    own = ["train=[{path: a.jsonl}]"]
    assert not {"notes", "license"} & read_recipe("news-edu", own).keys()
    assert read_recipe("news-edu", [*own, "license=mit"])["license"] == "mit"
    (tmp_path / "mine.yaml").write_text("base: news-edu\nnotes: Mine.\ntrain: [{path: a.jsonl}]\n")
    mine = read_recipe(str(tmp_path / "mine.yaml"))
    assert mine["notes"] == "Mine." and "license" not in mine
    # The shipped recipes are all trained on the data that the notes describe.
    assert read_recipe("news-sentence")["notes"] == whole["notes"]


@pytest.mark.parametrize("command", [("train", "parser-gum"), ("analyze", "corpus", "t.jsonl", "--model", "m")])
def test_a_file_in_the_place_of_an_output_folder(discsum, tmp_path, command):
    (tmp_path / "note.txt").touch()
    result = discsum(*command, "-o", tmp_path / "note.txt")
    assert result.code == 1
    assert "note.txt: expected a folder for --output, got a file" in " ".join(result.err.split())


def test_a_run_is_no_model(discsum, tmp_path, parser_folder):
    shutil.copytree(parser_folder, tmp_path / "run" / "best")
    (tmp_path / "a.txt").write_text("It rained.")
    result = discsum("parse", tmp_path / "a.txt", "--parser", tmp_path / "run")
    assert (result.code, f"(did you mean {tmp_path / 'run' / 'best'}?)" in result.err) == (1, True)


def test_the_shipped_recipes_can_be_read():
    for name in names():
        content = read_recipe(name)
        kinds = {"parser": ParserRecipe, "extractive": SummarizerRecipe, "abstractive": AbstractiveRecipe}
        kind = kinds[content["kind"]]
        common_fields(content)
        assert yaml.safe_dump(kind.from_dict(content).to_dict())


def test_evaluate_needs_a_model_and_data(discsum, tmp_path):
    result = discsum("evaluate", "discsum-gum")
    assert result.code == 2
    assert "expected at least one model and the data" in result.err
    result = discsum("evaluate", "discsum-gum", tmp_path / "gone")
    assert result.code == 1
    assert "gone: no such file or folder" in result.err


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_terminal_of_80_columns(discsum, monkeypatch, command):
    helps = {}
    for columns in (66, 80):
        monkeypatch.setenv("COLUMNS", str(columns))
        helps[columns] = discsum(*command.split(), "--help").out
    assert max(map(len, helps[80].splitlines())) <= 80
    # The words are the same at any width: lines break only between words or after a hyphen.
    words = [re.sub(r"(?<=\w)-\n\s+", "-", out).split() for out in helps.values() if "Commands:" not in out]
    assert words[:1] == words[1:]
    # Summaries of commands are not truncated.
    assert not any(line.endswith("...") for line in helps[80].partition("Commands:")[2].splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["parsee"], "Did you mean 'parse'?"),
        (["parse", "--fromat", "rs3"], "--format"),
        (["parse", "TEXT", "--format", "rs33"], "(did you mean rs3?)"),
        (["parse", "TEXT", "--parser", "discsum-gun"], "(did you mean discsum-gum?)"),
        (["extract", "TEXT", "--model", "textrnk"], "(did you mean textrank?)"),
        (["extract", "TEXT", "--model", "discsum-news-edus"], "(did you mean discsum-news-edu?)"),
        (["train", "parser-gumm"], "(did you mean parser-gum?)"),
        (["abstract", "TEXT", "--model", "TEXT", "--selector", "mean_kye"], "(did you mean mean_key?)"),
        (["extract", "TEXT", "--ratio", "3"], "expected a number above 0 and at most 1, got 3.0"),
        (["extract", "TEXT", "--dependencies"], "dependencies: expected unit edu, got sentence"),
        (
            ["extract", "TEXT", "--model", "tree-knapsack", "--block-trigrams"],
            "tree-knapsack, which selects all units at once",
        ),
        (
            ["extract", "TEXT", "--unit", "edu", "--model", "discsum-news-sentence"],
            "got one for sentence; add --unit sentence",
        ),
        (["extract", "TEXT", "--model", "lead", "--parser", "discsum-news-edu"], "expected a discsum-parser"),
        (["extract", "gone.txt"], "gone.txt: no such file or folder"),
        (["extract", "TEXT", "-o", "TEXT/out"], "which is not a folder"),
        (["parse", "gone.txt"], "gone.txt: no such file or folder"),
        (["abstract", "TEXT", "--model", "nowhere"], "nowhere: expected the folder of a sequence-to-sequence model"),
        (["evaluate", "leed", "TEXT"], "(did you mean lead?)"),
        (["preprocess", "gone.jsonl", "out"], "gone.jsonl: expected a table"),
        (["analyze", "time", "--model", "nowhere"], "found no such folder"),
        (["analyze", "rouge", "gone.jsonl", "--system", "nowhere"], "found no such folder"),
    ],
)
def test_mistakes_are_told_before_torch_is_imported(article, tmp_path, arguments, message):
    code = "import atexit, sys\natexit.register(lambda: print('torch' in sys.modules))\n" + COMMAND
    given = [argument.replace("TEXT", str(article)) for argument in arguments]
    result = subprocess.run(
        [sys.executable, "-c", code, *given], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert result.returncode in (1, 2)
    assert message in " ".join(result.stderr.split())
    assert result.stdout.splitlines()[-1] == "False"
