"""`--input` of the commands that read texts."""

import json
import subprocess
import sys

import pytest

PAGE = "<html><body><nav>Home</nav><article><p>The council <b>met</b> because it rained.</p></article></body></html>"
TEXT = "The council met because it rained.\n"


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(PAGE)
    return path


def test_parse(discsum, parser_folder, page):
    result = discsum("parse", page, "--format", "json", "--parser", parser_folder)
    assert (result.code, json.loads(result.out)["text"]) == (0, TEXT)
    result = discsum("parse", page, "--format", "json", "--parser", parser_folder, "--input", "text")
    assert json.loads(result.out)["text"] == PAGE


def test_extract(discsum, parser_folder):
    options = ("--model", "lead", "--units", 1, "--parser", parser_folder)
    result = discsum("extract", "-", *options, "--input", "markdown", stdin=b"# Rain\n\nThe *council* met.")
    assert (result.code, result.out, result.err) == (0, "The council met.\n", "")
    result = discsum("extract", "-", *options, "--input", "html", stdin=PAGE.encode())
    assert result.out == TEXT


def test_abstract(discsum, bart_folder, page):
    result = discsum("abstract", page, "--model", bart_folder, "--input", "html", "--max-tokens", 5, "--json")
    assert result.code == 0
    assert json.loads(result.out)["id"] == "page"


@pytest.mark.parametrize("command", ["parse", "extract", "abstract"])
def test_an_input_that_is_not_known(discsum, command, page):
    result = discsum(command, page, "--input", "htm")
    assert result.code == 2
    assert "expected one of auto, text, markdown, html, got 'htm' (did you mean html?)" in result.err


def test_what_is_not_html(discsum, tmp_path):
    (tmp_path / "a.html").write_text("It rained.")
    result = discsum("parse", tmp_path / "a.html")
    assert result.code == 1
    remedy = 'read it with --input text (Python: input="text")'
    assert result.err == f"discsum: {tmp_path / 'a.html'}: expected HTML, got a text without tags; {remedy}\n"


@pytest.mark.parametrize(
    ("name", "library"), [("page.html", "lxml"), ("page.html", "trafilatura"), ("a.md", "mdit_py_plugins")]
)
def test_without_the_extra(page, name, library):
    (page.parent / "a.md").write_text("It rained.")
    code = (
        f"import sys; sys.modules['{library}'] = None\n"
        f"from discsum.cli import main; sys.argv = ['discsum', 'parse', '{page.with_name(name)}']; main()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert f"expected the library {library}, which cannot be imported" in result.stderr
    assert result.stderr.endswith('; run: pip install "discsum[web]"\n')
    assert len(result.stderr.splitlines()) == 1
