"""`--resume`: killed runs resume, and their results are the same as without the kill."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from discsum.cli.json_lines import JsonLines
from discsum.errors import InputError

COMMAND = "import sys; from discsum.cli import main; main()"
# Writing a document takes a while, so that the kill comes between two documents.
SLOW = (
    "import time\nfrom discsum.cli import writer\nwrite = writer.Writer.write\n"
    "def slow(self, item, text):\n    write(self, item, text)\n    time.sleep(0.3)\n"
    "writer.Writer.write = slow\n"
)


@pytest.fixture
def texts(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(9):
        (folder / f"{number}.txt").write_text(f"Mill number {number} stood still. The river was low.")
    return folder


def killed(arguments, enough):
    """Run discsum until `enough()` is true, then kill it."""
    process = subprocess.Popen([sys.executable, "-c", SLOW + COMMAND, *map(str, arguments)])
    for _ in range(1200):
        if enough() or process.poll() is not None:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


@pytest.mark.parametrize("command", ["parse", "extract"])
def test_a_killed_run_to_one_file(discsum, parser_folder, texts, tmp_path, command):
    options = ["--jsonl"] if command == "parse" else ["--json", "--model", "lead"]
    arguments = [command, texts, "--parser", parser_folder, "--batch-size", 2, *options]
    out, partial = tmp_path / "out.jsonl", tmp_path / ".out.jsonl.partial"
    killed([*arguments, "-o", out], lambda: partial.exists() and partial.read_bytes().count(b"\n") >= 3)
    assert not out.exists()
    written = partial.read_bytes()
    count = written.count(b"\n")
    assert 3 <= count < 9
    # As if the run was killed in the middle of a line.
    with partial.open("ab") as file:
        file.write(b'{"id": "7", "te')
    result = discsum(*arguments, "-o", out, "--resume")
    assert (result.code, result.err) == (0, f"discsum: {9 - count} done, {count} skipped (already written)\n")
    assert discsum(*arguments, "-o", tmp_path / "whole.jsonl").code == 0
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    again = discsum(*arguments, "-o", out, "--resume")
    assert (again.code, again.err) == (0, "discsum: 9 skipped (already written)\n")
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.parametrize("command", ["parse", "extract"])
def test_a_killed_run_to_a_folder(discsum, parser_folder, texts, tmp_path, command):
    options = ["-f", "rs3"] if command == "parse" else ["--model", "lead"]
    arguments = [command, texts, "--parser", parser_folder, "--batch-size", 2, *options]
    out, suffix = tmp_path / "out", ".rs3" if command == "parse" else ".txt"
    killed([*arguments, "-o", out], lambda: len(list(out.glob(f"[0-9]*{suffix}"))) >= 3)
    before = {path: path.stat().st_mtime_ns for path in out.glob(f"[0-9]*{suffix}")}
    assert 3 <= len(before) < 9
    result = discsum(*arguments, "-o", out, "--resume")
    assert result.err == f"discsum: {9 - len(before)} done, {len(before)} skipped (already written)\n"
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert discsum(*arguments, "-o", tmp_path / "whole").code == 0
    contents = [
        {path.name: path.read_bytes() for path in folder.glob(f"[0-9]*{suffix}")}
        for folder in (out, tmp_path / "whole")
    ]
    assert contents[0] == contents[1]
    assert len(contents[0]) == 9


def test_documents_that_failed_are_tried_again(discsum, parser_folder, texts, tmp_path):
    (texts / "4.txt").write_bytes(b"caf\xe9")
    arguments = ["parse", texts, "--parser", parser_folder, "--jsonl", "-o", tmp_path / "out.jsonl", "--resume"]
    assert discsum(*arguments).code == 3
    result = discsum(*arguments)
    assert (result.code, result.err.splitlines()[-1]) == (3, "discsum: 1 failed, 8 skipped (already written)")
    (texts / "4.txt").write_text("The coffee house closed.")
    assert discsum(*arguments).code == 0
    ids = [json.loads(line)["id"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert ids == [*"01235678", "4"]


def test_documents_of_one_id_are_matched_in_order_with_a_message(discsum, parser_folder, tmp_path):
    table = tmp_path / "news.jsonl"
    table.write_text('{"id": "a", "text": "Rain."}\n{"id": "a", "text": "Flood."}\n{"id": "b", "text": "Mill."}\n')
    arguments = ["parse", table, "--parser", parser_folder, "--jsonl", "-o", tmp_path / "out.jsonl"]
    assert discsum(*arguments).code == 0
    whole = (tmp_path / "out.jsonl").read_text()
    (tmp_path / ".out.jsonl.partial").write_text(whole.splitlines(keepends=True)[0])
    result = discsum(*arguments, "--resume")
    assert (result.code, (tmp_path / "out.jsonl").read_text()) == (0, whole)
    assert f"{table}:2: another document has the id 'a' too" in result.err


@pytest.mark.parametrize("options", [[], ["-o", "-"], ["-o", "out.txt"]])
def test_outputs_that_cannot_be_resumed(discsum, texts, options):
    result = discsum("parse", texts, "--resume", *options)
    assert result.code == 2
    assert "expected -o FOLDER, or JSON lines in -o FILE" in result.err


def test_lines_that_are_no_documents(discsum, parser_folder, texts, tmp_path):
    out = tmp_path / "out.jsonl"
    arguments = ("parse", texts, "--parser", parser_folder, "--jsonl", "-o", out)
    assert discsum(*arguments).code == 0
    lines = out.read_text().splitlines(keepends=True)[0] + '{"text": "Rain"}\n'
    out.write_text(lines)
    result = discsum(*arguments, "--resume")
    assert result.code == 1
    assert "out.jsonl:2: expected a JSON object with an id" in result.err
    assert out.read_text() == lines


def test_two_runs_do_not_write_one_file(tmp_path):
    path = tmp_path / "out.jsonl"
    with JsonLines(path, resume=False) as first:
        first.write(b'{"id": "a"}\n')
        with (
            pytest.raises(InputError, match=r"out\.jsonl: another run is using it; wait for that run to end"),
            JsonLines(path, resume=True),
        ):
            pass
    assert path.read_bytes() == b'{"id": "a"}\n'


def test_an_error_leaves_the_lines_before_it(tmp_path, monkeypatch):
    path = tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt), JsonLines(path, resume=False) as lines:
        lines.write(b'{"id": "a"}\n')
        raise KeyboardInterrupt
    assert not path.exists()
    with JsonLines(path, resume=True) as lines:
        assert lines.written == {"a": [""]}
        lines.write(b'{"id": "b"}\n')
    assert path.read_bytes() == b'{"id": "a"}\n{"id": "b"}\n'
    assert [left.name for left in tmp_path.iterdir()] == ["out.jsonl"]


def test_lines_of_other_runs_are_refused(discsum, parser_folder, tmp_path):
    table, lines = tmp_path / "news.jsonl", tmp_path / "out.jsonl"
    rows = [
        {"id": "a", "text": "It rained.", "summary": "Rain."},
        {"id": "b", "text": "The mill stopped.", "summary": "Mill."},
    ]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    first = ("extract", table, "--model", "lead", "--parser", parser_folder, "--json", "-o", lines)
    assert discsum(*first, "--query", "mill").code == 0
    written = lines.read_bytes()
    for options, expected in (
        (("--resume", "--query", "rain"), "|query:rain|"),
        (("--resume",), "command:extract|model:lead|parser:"),
        (("--resume", "--query", "mill", "--unit", "edu"), "|unit:edu|"),
        (("--resume", "--query", "mill", "--units", 1), "|units:1|"),
        (("--resume", "--query", "mill", "--layout", "keep"), "|layout:keep|"),
        (("--resume", "--query", "mill", "--no-dependencies"), "|dependencies:no|"),
    ):
        refused = discsum(*first, *options)
        assert refused.code == 1
        wanted, got = refused.err.split(", got ")
        assert "out.jsonl:1: expected results made with the same options (command:extract|" in wanted
        assert expected in wanted and "query:mill" in got
        assert lines.read_bytes() == written
    assert "2 skipped" in discsum(*first, "--resume", "--query", "mill").err
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(table.read_bytes())
    refused = discsum(*first[:-1], copy, "--resume")
    assert "expected results made with the same options (command:extract|" in refused.err
    assert "got no options" in refused.err
    refused = discsum("parse", table, "--parser", parser_folder, "--jsonl", "-o", lines, "--resume")
    assert "expected results made with the same options (command:parse|" in refused.err


def test_lines_of_another_model_are_refused(discsum, parser_folder, summarizer_folders, tmp_path):
    table, lines, model = tmp_path / "news.jsonl", tmp_path / "out.jsonl", tmp_path / "model"
    table.write_text('{"id": "a", "text": "It rained."}\n')
    shutil.copytree(summarizer_folders["sentence"], model)
    arguments = ("extract", table, "--json", "-o", lines)
    assert discsum(*arguments, "--model", model).code == 0
    assert "1 skipped" in discsum(*arguments, "--model", model, "--resume").err
    assert discsum(*arguments, "--model", "lead", "--parser", parser_folder, "--resume").code == 1
    assert "expected results made with the same options" in discsum(*arguments, "--resume").err
    # As if the model was trained again in the same folder.
    (model / "config.json").write_text((model / "config.json").read_text() + "\n")
    assert "expected results made with the same options" in discsum(*arguments, "--model", model, "--resume").err


def test_a_folder_of_other_options(discsum, parser_folder, texts, tmp_path):
    out = tmp_path / "out"
    arguments = ["extract", texts, "--model", "lead", "--parser", parser_folder, "--batch-size", 2, "-o", out]
    killed([*arguments, "--units", 1], lambda: len(list(out.glob("*.txt"))) >= 3)
    refused = discsum(*arguments, "--resume")
    assert refused.code == 1
    assert ".txt.options: expected results made with the same options (command:extract|" in refused.err
    # Options of one command do not restrict what another command writes to the folder.
    assert discsum("parse", texts, "--parser", parser_folder, "-f", "rs3", "-o", out, "--resume").code == 0
    # If a run starts anew and is killed too, resuming it keeps no results of the run before.
    for path in texts.iterdir():
        (out / path.name).write_text("old")
    killed(arguments, lambda: (out / "1.txt").read_text() != "old")
    assert (out / "8.txt").read_text() == "old"
    assert discsum(*arguments, "--resume").code == 0
    assert "old" not in [path.read_text() for path in out.glob("*.txt")]
    assert len(list(out.glob("*.txt"))) == 9
    assert not (out / ".txt.options").exists()
    again = discsum(*arguments, "--resume")
    assert (
        "expected the folder of an interrupted run, got one without .txt.options; its .txt files are kept" in again.err
    )
    assert "9 skipped" in again.err


@pytest.mark.parametrize(
    ("target", "code", "message"),
    [
        ("in/a.txt", 1, "a.txt: expected another file for --output, this one is an input"),
        ("in", 1, "expected an output folder outside the inputs, got one inside"),
    ],
)
def test_no_result_takes_the_place_of_its_input(discsum, parser_folder, tmp_path, target, code, message):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("It rained.")
    single = target.endswith(".txt")
    refused = discsum(
        "extract",
        folder / "a.txt" if single else folder,
        "--model",
        "lead",
        "--parser",
        parser_folder,
        "-o",
        tmp_path / target,
    )
    assert (refused.code, message in " ".join(refused.err.split())) == (code, True)
    assert (folder / "a.txt").read_text() == "It rained."


@pytest.mark.parametrize("command", [("parse", "-f", "rs3"), ("extract", "--model", "lead")])
def test_the_current_folder_is_an_input_too(discsum, parser_folder, tmp_path, monkeypatch, command):
    (tmp_path / "a.txt").write_text("It rained.")
    monkeypatch.chdir(tmp_path)
    refused = discsum(*command, ".", "--parser", parser_folder, "-o", ".")
    assert (refused.code, "expected an output folder outside the inputs" in " ".join(refused.err.split())) == (1, True)


def test_trees_do_not_join_the_inputs_of_a_repeated_run(discsum, parser_folder, tmp_path):
    (tmp_path / "a.txt").write_text("It rained.")
    refused = discsum("parse", tmp_path, "-f", "rs3", "--parser", parser_folder, "-o", tmp_path)
    assert (refused.code, "expected an output folder outside the inputs" in " ".join(refused.err.split())) == (1, True)
    assert discsum("parse", tmp_path / "*.txt", "-f", "rs3", "--parser", parser_folder, "-o", tmp_path).code == 0
    assert (tmp_path / "a.rs3").is_file()


def test_no_result_takes_the_place_of_another_input(discsum, parser_folder, tmp_path):
    """An output that is any of the inputs is refused, in any order of the inputs."""
    folder = tmp_path / "in"
    folder.mkdir()
    texts = {"x.txt": "It rained.", "y.txt": "The mill stopped."}
    for name, text in texts.items():
        (folder / name).write_text(text)
    (tmp_path / "x.txt").write_text("Snow fell.")
    link = tmp_path / "link"
    link.symlink_to(folder)
    first = ("extract", "--model", "lead", "--parser", parser_folder)
    for inputs, output, code in (
        ((folder / "x.txt", folder / "y.txt"), folder / "y.txt", 1),
        ((folder / "x.txt", folder / "y.txt"), link / "y.txt", 1),
        ((tmp_path / "x.txt", folder / "y.txt", folder / "x.txt"), folder, 1),
    ):
        refused = discsum(*first, *inputs, "-o", output)
        assert refused.code == code
        assert "expected another file for --output, this one is an input" in refused.err
        assert {path.name: path.read_text() for path in folder.iterdir()} == texts


@pytest.mark.parametrize("command", [("parse", "--jsonl"), ("extract", "--json", "--model", "lead")])
def test_changed_texts_are_refused_in_lines_and_done_again_in_a_folder(discsum, parser_folder, tmp_path, command):
    table, out = tmp_path / "some.jsonl", tmp_path / "out.jsonl"
    rows = [{"id": name, "text": f"{name} stood still. The river was low."} for name in ("Mill", "Dam")]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = [*command, table, "--parser", parser_folder, "-o", out]
    assert discsum(*arguments).code == 0
    written = out.read_bytes()
    rows[1]["text"] = "Dam broke."
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    refused = discsum(*arguments, "--resume")
    assert (
        refused.code == 1
        and "some.jsonl:2: expected the text from which an earlier run made the line of Dam" in refused.err
    )
    assert out.read_bytes() == written and not (tmp_path / ".out.jsonl.partial").exists()
    # A file that is newer than its result.
    text, folder = tmp_path / "mill.txt", tmp_path / "results"
    text.write_text("The mill stood still.")
    arguments = [*command[:1], text, "--parser", parser_folder, *command[2:], "-o", folder]
    assert discsum(*arguments).code == 0
    assert "1 skipped" in discsum(*arguments, "--resume").err
    os.utime(text, (time.time() + 60,) * 2)
    assert "skipped" not in discsum(*arguments, "--resume").err


def test_results_of_an_interrupted_run_that_are_made_again_are_told(discsum, parser_folder, texts, tmp_path):
    out = tmp_path / "out.jsonl"
    (tmp_path / ".out.jsonl.partial").write_text('{"id": "0"}\n{"id": "1"}\n{"id": "2", "te')
    result = discsum("parse", texts, "--parser", parser_folder, "--jsonl", "-o", out)
    assert result.code == 0 and out.read_bytes().count(b"\n") == 9
    told = "an interrupted run left 2 results in .out.jsonl.partial; this run starts again, --resume would go on"
    assert told in result.err


def test_documents_with_the_same_id_are_told_apart_by_their_texts(discsum, parser_folder, tmp_path):
    first, second = tmp_path / "a" / "x.txt", tmp_path / "b" / "x.txt"
    for path, text in ((first, "The mill stood still."), (second, "The river was low.")):
        path.parent.mkdir()
        path.write_text(text)
    arguments = ["parse", first, second, "--parser", parser_folder, "--jsonl", "-o", tmp_path / "out.jsonl"]
    assert discsum(*arguments).code == 0
    arguments[1:3] = [second, first]
    assert "2 skipped" in discsum(*arguments, "--resume").err


def test_a_run_goes_on_with_another_batch_size(discsum, parser_folder, texts, tmp_path):
    arguments = ["parse", texts, "--parser", parser_folder, "--jsonl", "-o", tmp_path / "out.jsonl"]
    assert discsum(*arguments).code == 0
    again = discsum(*arguments, "--batch-size", 3, "--resume")
    assert (again.code, again.err) == (0, "discsum: 9 skipped (already written)\n")
