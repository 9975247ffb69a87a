"""Standard streams that are closed, full or special files, in separate processes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX shells")
DISCSUM = f"{sys.executable} -m discsum"


def shell(command, folder):
    return subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a parsed document, so that no parser is loaded."""
    spans = [{"start": 0, "end": 7}]
    content = {"text": "We came", "sentences": spans, "edus": [spans[0] | {"sentence": 0}], "nodes": []}
    (tmp_path / "a.json").write_text(json.dumps(content))
    return tmp_path


def test_closed_standard_input(folder):
    result = shell(f"{DISCSUM} parse - <&-", folder)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "discsum: -: expected a text on standard input, which is closed\n"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("parse a.json --format rs3 >&-", "standard output: Bad file descriptor"),
        ("parse a.json --format rs3 > /dev/full", "No space left on device"),
        ("evaluate --parameters discsum-news-edu >&-", "standard output: Bad file descriptor"),
    ],
)
def test_output_that_cannot_be_written(folder, command, message):
    if "/dev/full" in command and not Path("/dev/full").exists():
        pytest.skip("Linux")
    result = shell(f"{DISCSUM} {command}", folder)
    assert result.returncode == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux")
def test_a_full_output_ends_the_run_at_once(folder):
    result = shell(f"{DISCSUM} parse a.json a.json a.json --format json --jsonl > /dev/full", folder)
    assert (result.returncode, result.stderr) == (1, "discsum: standard output: No space left on device\n")


def test_long_ids_give_short_names_of_files(folder):
    rows = [json.loads((folder / "a.json").read_text()) | {"id": "é" * 200 + end} for end in "xy"]
    (folder / "long.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = shell(f"{DISCSUM} parse long.jsonl --format rsd -o made", folder)
    names = [path.name for path in (folder / "made").iterdir()]
    assert (result.returncode, len(names)) == (0, 2)
    assert all(name.startswith("é" * 100 + "-") and name.endswith(".rsd") for name in names)


def test_results_are_written_though_messages_cannot_be(folder):
    result = shell(f"{DISCSUM} parse a.json gone.txt --format json 2>&-", folder)
    assert result.returncode == 3
    assert "We came" in result.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux")
def test_devices_are_written_to(folder):
    result = shell(f"{DISCSUM} parse a.json -o /dev/null --format rsd", folder)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    result = shell(f"{DISCSUM} parse a.json -o /dev/full --format rsd", folder)
    assert result.returncode == 1
    assert "/dev/full: No space left on device" in result.stderr
    assert Path("/dev/null").is_char_device()
    result = shell(f"mkfifo pipe; {DISCSUM} parse a.json -o pipe --format rsd & cat pipe", folder)
    assert "We came" in result.stdout


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="POSIX")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_output_by_its_name(folder, unbuffered):
    command = f"PYTHONUNBUFFERED={unbuffered} {DISCSUM} parse a.json --format rsd -o /dev/stdout"
    assert "We came" in shell(command, folder).stdout
    assert "We came" in shell(f"{command} | cat", folder).stdout


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_is_read_in_part_is_an_error(folder, unbuffered):
    # More than a pipe holds: without a buffer, Python's write returns what was written before the reader left.
    text = "We came. " * 50_000
    spans = [{"start": 0, "end": len(text) - 1}]
    content = {"text": text, "sentences": spans, "edus": [spans[0] | {"sentence": 0}], "nodes": []}
    (folder / "long.json").write_text(json.dumps(content))
    command = f"(PYTHONUNBUFFERED={unbuffered} {DISCSUM} parse long.json --format json; echo $? > code) | head -c 5"
    assert shell(command, folder).stdout == '{\n "i'
    assert (folder / "code").read_text() == "1\n"


def test_standard_output_is_in_utf_8(folder):
    (folder / "b.json").write_text((folder / "a.json").read_text().replace("We came", "Où cela"))
    result = shell(f"PYTHONIOENCODING=ascii {DISCSUM} analyze trees b.json -o é", folder)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("é/trees.json\n")


@pytest.mark.parametrize(
    "command", ["parse ''", "parse a.json -o ''", "train parser-gum -o ''", "preprocess a.jsonl ''"]
)
def test_empty_arguments_are_refused(folder, command):
    result = shell(f"{DISCSUM} {command}", folder)
    assert result.returncode == 2
    assert "expected no empty argument, got one after " in result.stderr
    assert [path.name for path in folder.iterdir()] == ["a.json"]


def test_a_file_does_not_take_the_place_of_a_closed_stream(folder):
    result = shell(f"{DISCSUM} parse a.json --format rsd -o out.rsd >&- 2>&- <&-", folder)
    assert result.returncode == 0
    assert "We came" in (folder / "out.rsd").read_text()


@pytest.mark.parametrize(
    "command",
    [
        ("preprocess", "-", "out"),
        ("evaluate", "lead", "-"),
        ("evaluate", "-", "news.jsonl"),
        ("analyze", "corpus", "-"),
        ("analyze", "sparsity", "-", "--model", "m"),
        ("analyze", "rouge", "-", "--system", "m"),
    ],
)
def test_commands_that_do_not_read_standard_input(discsum, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    result = discsum(*command)
    assert (result.code, "got -: this command does not read standard input" in result.err) == (2, True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "command",
    [("preprocess", "news.jsonl", "-"), ("train", "parser", "-o", "-"), ("analyze", "corpus", "news.jsonl", "-o", "-")],
)
def test_no_folder_is_named_like_standard_output(discsum, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "news.jsonl").write_text('{"text": "It rained. She left.", "summary": "Rain."}\n')
    result = discsum(*command)
    assert (result.code, "expected a folder, got -, which stands for standard output" in result.err) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["news.jsonl"]
