"""The README's console lines and Python blocks run, and print the output that it shows."""

import io
import re
import shlex
import shutil
import sys

import pytest
import typer
from documented import ROOT, blocks, console_lines

from discsum.cli.app import app, main
from discsum.recipes import names

README = ROOT / "README.md"
LINES = console_lines(README)
# Lines about the installation itself, and lines that need a corpus or a model from elsewhere.
INSTALLATION = re.compile(r"(make|pip) ")
ELSEWHERE = re.compile(r"PATH/TO|hf:")
CORPUS = [line.command for line in LINES if ELSEWHERE.search(line.command)]
RUN = [line for line in LINES if not INSTALLATION.match(line.command) and not ELSEWHERE.search(line.command)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the sample article and the note."""
    folder = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "data" / "samples", folder / "data" / "samples")
    (note,) = (line.output for line in LINES if line.command == "cat note.txt")
    (folder / "note.txt").write_text(note, encoding="utf-8")
    return folder


@pytest.fixture
def run(folder, capsysbinary, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")

    def run(command):
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
        try:
            main()
        except SystemExit as stop:
            assert not stop.code, capsysbinary.readouterr().err.decode()
        return capsysbinary.readouterr().out.decode()

    return run


def test_it_is_short():
    assert len(README.read_text(encoding="utf-8").split()) <= 1300


def test_every_console_line_is_run_or_needs_what_is_not_here():
    assert [line.command for line in RUN if not line.command.startswith("discsum ")] == ["cat note.txt"]
    assert len(RUN) > 6
    assert len(CORPUS) > 6


def test_console_lines(run, folder):
    for line in RUN[1:]:
        out = run(line.command)
        assert out == line.output or not line.output, line.command
        written = re.search(r" -o (\S+)", line.command)
        assert bool(out) != bool(written), line.command
        if written:
            assert (folder / written[1]).exists()
            assert (folder / written[1]).stat().st_size


@pytest.mark.parametrize("command", CORPUS)
def test_lines_that_need_a_corpus_are_well_formed(command):
    """They are not run: the test only checks that the command, its options and its recipe exist."""
    _, *words = shlex.split(command)
    found = typer.main.get_command(app)
    while hasattr(found, "commands"):
        _, found, words = found.resolve_command(found.make_context("discsum", [], resilient_parsing=True), words)
    known = {option for parameter in found.params for option in parameter.opts}
    assert {word for word in words if re.match("--?[a-z]", word)} <= known
    if found.name == "train":
        assert words[0] in names()


def test_python_blocks(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    found = blocks(README, "python")
    assert len(found) == 1
    # The blocks run in order, as one session.
    names = {}
    for block in found:
        exec(block.content, names)
        assert capsys.readouterr().out == block.output


def test_targets_of_make_and_extras_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {*re.findall(r"make (\w+)", README.read_text(encoding="utf-8"))}
    assert targets
    for target in targets:
        assert f"\n{target}:" in makefile


def test_links_lead_somewhere():
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README.read_text(encoding="utf-8"))
    assert links
    for link in links:
        assert (ROOT / link).exists(), link
