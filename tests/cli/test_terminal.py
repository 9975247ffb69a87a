"""Output on a terminal: models being loaded, number of documents done, and failures on lines of their own."""

import os
import pty
import re
import subprocess
import sys

import pytest

COMMAND = [sys.executable, "-m", "discsum"]


def screen(arguments, *, stdout_too, term="xterm"):
    """Run discsum on a terminal of 80 columns; return the lines that it drew there."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ |= {"COLUMNS": "80", "TERM": term}
        if not stdout_too:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execv(sys.executable, [*COMMAND, *map(str, arguments)])
    content = b""
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        content += data
    os.waitpid(pid, 0)
    os.close(terminal)
    # A drawn line ends where the line is erased or the next one begins.
    lines = re.split(r"\r\x1b\[2K|\r\n|\x1b\[1A\x1b\[2K", content.decode())
    return [re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]|\r", "", line) for line in lines]


@pytest.fixture
def texts(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(6):
        (folder / f"{number}.txt").write_text(f"Mill number {number} stood still. The river was low.")
    (folder / f"0-{'long-name-' * 12}.txt").write_bytes(b"caf\xe9")
    return folder


def test_a_folder_on_a_terminal(texts, parser_folder, tmp_path):
    lines = screen(
        ["parse", texts, "--parser", parser_folder, "-o", tmp_path / "out", "--batch-size", 2], stdout_too=True
    )
    failure = f"discsum: {texts}/0-{'long-name-' * 12}.txt: expected utf-8, got byte 0xe9 at offset 3; "
    # The message is wider than the terminal, but not wrapped.
    assert f"{failure}name the file's encoding with --encoding" in lines
    assert any("loading the parser" in line for line in lines)
    assert any(re.search(r" 7 of 7 documents parsed, [0-9.]+ a second 0:00:00 left", line) for line in lines)
    assert "discsum: 1 failed, 6 done" in lines


def test_a_terminal_that_cannot_redraw_shows_no_progress(texts, parser_folder, tmp_path):
    lines = screen(["parse", texts, "--parser", parser_folder, "-o", tmp_path / "out"], stdout_too=True, term="dumb")
    assert len(lines) == 3 and lines[1:] == ["discsum: 1 failed, 6 done", ""]


def test_control_characters_do_not_reach_the_terminal(tmp_path):
    text = tmp_path / "escape.txt"
    text.write_text("Rain fell \x1b]0;owned\x07 on the mill.\tIt stood still.")
    command = ["extract", text, "--model", "lead", "--sentences", "newline"]
    lines = screen(command, stdout_too=True)
    assert "Rain fell \ufffd]0;owned\ufffd on the mill.\tIt stood still." in lines
    result = subprocess.run([*COMMAND, *map(str, command)], capture_output=True, text=True, check=True)
    assert "\x1b]0;owned\x07" in result.stdout


def test_results_on_the_terminal_are_not_broken_by_the_bar(texts, parser_folder):
    lines = screen(["extract", texts, "--parser", parser_folder, "--model", "lead", "--units", 1], stdout_too=True)
    shown = [line for line in lines if line.startswith(("==", "Mill"))]
    texts_of = [(f"== {number}", f"Mill number {number} stood still. The river was low.") for number in range(6)]
    assert shown == [line for pair in texts_of for line in pair]
    assert any("loading the model" in line for line in lines)


def test_results_elsewhere_do_not_reach_the_terminal(texts, parser_folder):
    lines = screen(["extract", texts, "--parser", parser_folder, "--model", "lead"], stdout_too=False)
    assert not [line for line in lines if "Mill" in line]
    assert any("of 7 documents summarized" in line for line in lines)


def test_no_terminal_no_progress(texts, parser_folder, tmp_path):
    arguments = ["parse", texts, "--parser", parser_folder, "-o", tmp_path / "out"]
    command = [*COMMAND, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 2
