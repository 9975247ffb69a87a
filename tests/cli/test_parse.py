import json
import subprocess
import sys
from pathlib import Path

import pytest
import tiny

from discsum.document import Document
from discsum.formats import dump, read_tree


@pytest.fixture
def parse(discsum, parser_folder):
    def run(*arguments, stdin=b""):
        return discsum("parse", *arguments, "--parser", parser_folder, stdin=stdin)

    return run


@pytest.fixture
def expected(parser):
    return parser.parse(tiny.ARTICLE, id="article")


def test_an_outline(parse, article, expected):
    result = parse(article)
    assert (result.code, result.err) == (0, "")
    assert result.out == parse("-", stdin=tiny.ARTICLE.encode()).out
    for text in expected.edu_texts:
        assert " ".join(text.split()) in result.out
    assert result.out.splitlines()[-1].startswith("└─ ") or result.out.splitlines()[-1].startswith("   ")


def test_json_is_the_contract(parse, article, expected):
    result = parse(article, "--format", "json")
    data = json.loads(result.out)
    assert list(data) == ["id", "text", "parser", "sentences", "edus", "nodes"]
    assert list(data["sentences"][0]) == ["start", "end"]
    assert list(data["edus"][0]) == ["start", "end", "sentence"]
    assert list(data["nodes"][0]) == ["first", "last", "split", "nuclearity", "relation", "probability"]
    assert Document.from_json(data) == expected


@pytest.mark.parametrize("format", ["json", "rs3", "rs4", "dis", "rsd"])
def test_every_format_is_written_and_read(parse, article, tmp_path, expected, format):
    path = tmp_path / f"out.{format}"
    assert parse(article, "-f", format, "-o", path) == parse(article, "-f", format, "-o", path)
    document = read_tree(path)
    assert [text.split() for text in document.edu_texts] == [text.split() for text in expected.edu_texts]
    assert document.tree.spans.tolist() == expected.tree.spans.tolist()
    assert parse(article, "-f", format).out == path.read_text(encoding="utf-8")


def test_a_drawing(parse, article):
    assert "<svg" in parse(article, "-f", "svg").out


@pytest.mark.parametrize("options", [["--jsonl"], ["--format", "json"]])
def test_several_inputs_are_a_line_each(parse, article, tmp_path, options):
    other = tmp_path / "other.txt"
    other.write_text("The mill broke.")
    lines = parse(article, other, *options).out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["article", "other"]


def test_json_is_the_format_json(parse, article):
    assert parse(article, "--json").out == parse(article, "--format", "json").out


def test_several_outlines_have_headings(parse, article, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("Rain")
    out = parse(other, article).out
    assert out.startswith("== other\nRain\n== article\n")


def test_a_folder_of_results(parse, article, tmp_path):
    texts = tmp_path / "texts"
    (texts / "deep").mkdir(parents=True)
    (texts / "deep" / "other.txt").write_text("The mill broke.")
    (texts / "deep" / "image.png").write_text("not read")
    article.rename(texts / article.name)
    out = tmp_path / "trees"
    result = parse(texts, "-f", "rs3", "-o", out)
    assert (result.code, result.out) == (0, "")
    assert f"{texts}: left out 1 of 3 files, whose endings (.png) are not among .csv, " in result.err
    assert sorted(path.name for path in out.iterdir()) == ["article.rs3", "other.rs3"]


def test_a_text_given_twice_is_written_once_with_a_message(parse, article, tmp_path):
    result = parse(article, article, "-o", tmp_path / "out")
    assert (result.code, result.err) == (0, f"discsum: {article}: given twice, written once\n")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["article.txt"]


@pytest.mark.parametrize(
    ("options", "name"), [((), "out.rs3"), ((), "out.json"), (("-f", "rs3"), "out.dis"), (("--jsonl",), "out.parquet")]
)
def test_a_name_of_another_format(parse, article, tmp_path, options, name):
    result = parse(article, *options, "-o", tmp_path / name)
    assert (result.code, f"got {name}; change the ending, or choose its format" in " ".join(result.err.split())) == (
        2,
        True,
    )
    assert not (tmp_path / name).exists()


def test_a_name_of_a_picture(parse, article, tmp_path):
    result = parse(article, "-f", "svg", "-o", tmp_path / "out.png")
    assert (result.code, "ends in .svg, got out.png; change the ending" in " ".join(result.err.split())) == (2, True)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("out.json.gz", "results are not compressed; leave out .gz"),
        ("out.docx", "change the ending; results are plain text"),
        ("out.JPG", "change the ending; of pictures, only SVG is written (parse --format svg)"),
    ],
)
@pytest.mark.parametrize("command", ["parse --format json", "extract --json --model lead", "abstract --json --model m"])
def test_results_are_neither_compressed_nor_pictures(discsum, article, tmp_path, command, name, remedy):
    result = discsum(*command.split(), article, "-o", tmp_path / name)
    message = f"expected a file name that ends in .json, got {name}; {remedy}"
    assert (result.code, message in " ".join(result.err.split())) == (2, True), result.err
    assert not (tmp_path / name).exists()


def test_names_that_collide_are_reported_and_not_overwritten(parse, article, tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "article.txt").write_text("The mill broke.")
    result = parse(article, tmp_path / "deep" / "article.txt", "-o", tmp_path / "out")
    assert result.code == 3
    assert "deep/article.txt: expected a unique name" in result.err
    assert "give one of them another name or id" in result.err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["article.txt"]
    assert "river" in (tmp_path / "out" / "article.txt").read_text(encoding="utf-8")


def test_tables(parse, tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text('{"id": "a/1", "article": "The mill broke."}\n\n{"text": "Rain came."}\r\n', encoding="utf-8")
    lines = [json.loads(line) for line in parse(path, "--jsonl").out.splitlines()]
    assert [(line["id"], line["text"]) for line in lines] == [("a/1", "The mill broke."), ("news-2", "Rain came.")]
    parse(path, "-f", "dis", "-o", tmp_path / "out")
    assert "a_1.dis" in {file.name for file in (tmp_path / "out").iterdir()}


def test_trees_are_converted(discsum, article, tmp_path, parser_folder):
    rs3 = tmp_path / "tree.rs3"
    discsum("parse", article, "--parser", parser_folder, "-f", "rs3", "-o", rs3)
    # No parser is needed, so it need not exist.
    result = discsum("parse", rs3, "-f", "dis", "--parser", "no-such-parser")
    assert result.code == 0
    assert result.out.startswith("( Root")
    again = tmp_path / "again.rs3"
    discsum("parse", rs3, "-f", "rs3", "-o", again)
    assert again.read_text(encoding="utf-8") == rs3.read_text(encoding="utf-8")


def test_edus_and_sentences_from_lines(parse, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("When the rain came,\nthe mill stopped.\n\nNobody asked.\n")
    data = json.loads(parse(path, "-f", "json", "--edus", "newline", "--sentences", "newline").out)
    assert len(data["sentences"]) == len(data["edus"]) == 3
    assert [edu["sentence"] for edu in data["edus"]] == [0, 1, 2]


@pytest.mark.parametrize("text", ["", " \n\t "])
@pytest.mark.parametrize("format", ["tree", "json"])
def test_empty_texts(parse, format, text):
    result = parse("-", "-f", format, stdin=text.encode())
    assert (result.code, result.err) == (
        0,
        "discsum: stdin: expected some text, got none; its result is empty\n",
    )
    if format == "json":
        data = json.loads(result.out)
        assert data["warnings"] == ["expected some text, got none; its result is empty"]
        assert (data["text"], data["edus"], data["nodes"]) == (text, [], None)
    else:
        assert result.out == ""


def test_empty_text_has_no_tree_to_write(parse):
    result = parse("-", "-f", "rs3", stdin=b"")
    assert result.code == 1
    assert result.err == (
        "discsum: standard input: expected some text, got none; without text, --format can only be json or tree\n"
    )


@pytest.mark.parametrize("format", ["tree", "json", "rs3", "rs4", "dis", "rsd", "svg", "html"])
def test_one_word(parse, format):
    result = parse("-", "-f", format, stdin=b"Rain")
    assert (result.code, result.err) == (0, "")
    assert "Rain" in result.out


def test_lone_surrogates_stay_in_json(parse, tmp_path):
    path = tmp_path / "odd.jsonl"
    path.write_text('{"text": "mill \\ud800 broke"}\n')
    assert json.loads(parse(path, "--jsonl").out)["text"] == "mill \ud800 broke"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-f", "pdf"], "expected one of dis, html, json, rs3, rs4, rsd, svg, tree, got 'pdf'"),
        (["--sentences", "punkt"], "expected one of model, nltk, newline, got 'punkt'"),
        (["--edus", "nltk"], "expected one of model, newline, got 'nltk'"),
        (["--no-such-option"], "No such option"),
    ],
)
def test_wrong_usage(parse, article, options, message):
    result = parse(article, *options)
    assert result.code == 2
    assert message in result.err
    assert result.out == ""


def test_several_files_need_a_folder(parse, article, tmp_path, monkeypatch):
    result = parse(article, article, "-f", "rs3")
    assert result.code == 2
    assert "several documents as rs3 need a folder: -o FOLDER" in result.err
    monkeypatch.chdir(tmp_path)
    result = parse(article, article, "--format", "rs3", "-o", "trees.rs3")
    assert result.code == 2
    assert "several documents need a folder: trees, or trees.rs3/" in " ".join(result.err.replace("│", " ").split())
    assert not Path("trees.rs3").exists()


def test_a_parser_that_is_not_there_is_reported_once(discsum, article):
    result = discsum("parse", article, article, "--parser", "no-such-parser")
    assert result.code == 1
    assert result.err.count("no-such-parser: expected a folder with config.json") == 1
    assert len(result.err.splitlines()) == 1


def test_an_output_that_cannot_be_written(parse, article, tmp_path):
    (tmp_path / "file").write_text("")
    result = parse(article, "-o", tmp_path / "file" / "out.txt")
    assert result.code == 1
    assert result.err.startswith("discsum: ") and "file" in result.err


def test_nothing_is_left_half_written(parse, article, tmp_path):
    parse(article, tmp_path / "missing.txt", "-o", tmp_path / "out" / "all.txt")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["all.txt"]


def test_a_path_with_a_slash_at_its_end_is_a_folder(parse, article, tmp_path):
    assert parse(article, "-o", f"{tmp_path}/trees.v2/").code == 0
    assert [path.name for path in (tmp_path / "trees.v2").iterdir()] == ["article.txt"]


def test_nothing_done_is_nothing_written(parse, tmp_path):
    assert parse(tmp_path / "none.txt", "-o", tmp_path / "out.json", "--format", "json").code == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["--json", "--jsonl"])
def test_json_of_another_format_is_wrong_usage(parse, article, option):
    result = parse(article, option, "--format", "rs3")
    assert result.code == 2
    assert "cannot be combined with --format rs3" in result.err


def test_a_less_precise_encoder(parse, article, expected):
    result = parse(article, "--precision", "bf16", "--format", "json")
    found = Document.from_json(json.loads(result.out))
    assert (result.code, found.text) == (0, expected.text)
    # The lower precision changes the four digits of a random parser's probabilities.
    assert found.tree.nodes != expected.tree.nodes or found.edus != expected.edus
    refused = parse(article, "--precision", "fp8")
    assert (refused.code, refused.out) == (2, "")
    assert "expected one of fp32, bf16, fp16, got 'fp8'" in refused.err


@pytest.mark.parametrize("command", [("parse", "--format", "json"), ("extract", "--json", "--model", "lead")])
def test_the_ending_of_json_files(discsum, parser_folder, tmp_path, command):
    name, *options = command
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    for path in (first, second):
        path.write_text("It rained. The mill stood still.")
    options = [*options, "--parser", parser_folder]
    assert discsum(name, first, *options, "-o", tmp_path / "one.jsonl").code == 0
    assert len((tmp_path / "one.jsonl").read_text().splitlines()) == 1
    result = discsum(name, first, second, *options, "-o", tmp_path / "two.json")
    assert (result.code, "expected a name that ends in .jsonl" in " ".join(result.err.split())) == (2, True)
    assert discsum(name, first, second, *options, "-o", tmp_path / "two.jsonl").code == 0
    assert len((tmp_path / "two.jsonl").read_text().splitlines()) == 2


def test_any_limit_of_bytes(discsum, parser_folder, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("It rained.")
    for limit in (10**11, 2**63 - 1):
        assert discsum("parse", path, "--parser", parser_folder, "--max-document-bytes", limit).out == "It rained.\n"


def test_converting_a_tree_imports_no_torch(tmp_path, expected):
    tree = tmp_path / "a.dis"
    tree.write_text(dump(expected, "dis"))
    code = (
        "import sys; from discsum.cli.app import app\n"
        f"app(['parse', {str(tree)!r}, '--format', 'rs3'], standalone_mode=False)\n"
        "sys.exit(', '.join({'torch', 'transformers', 'scipy'} & {*sys.modules}))"
    )
    result = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert (result.stderr.strip(), "<rst>" in result.stdout) == ("", True)


def test_the_column_of_a_text_file(discsum, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("It rained.")
    result = discsum("parse", path, "--text-column", "body")
    assert (result.code, result.out) == (2, "")
    assert f"--text-column: expected a table, got {path}" in " ".join(result.err.split())
    assert discsum("parse", "-", "--text-column", "body").code == 2


@pytest.mark.parametrize("options", [[], ["--text-column", "body"]])
def test_an_input_that_is_no_path_fails_alone(parse, article, options):
    result = parse(article, "n" * 300, "file://host/x", *options)
    assert (result.code, "== article" in result.out) == (3, True), result.err


def test_misspelt_parsers_are_compared_with_parsers(discsum, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("It rained.")
    result = discsum("extract", path, "--model", "lead", "--parser", "nope")
    assert result.code == 1 and "discsum-gum" in result.err and "discsum-news" not in result.err
