import json

import html5lib
import pytest
import tiny


@pytest.fixture
def extract(discsum, parser_folder):
    def run(*arguments, stdin=b""):
        return discsum("extract", *arguments, "--parser", parser_folder, "--model", "lead", "-n", 2, stdin=stdin)

    return run


def parsed(path):
    return html5lib.parse(path.read_text(encoding="utf-8"), namespaceHTMLElements=False)


def test_a_report_stands_beside_the_usual_output(extract, article, tmp_path):
    plain = extract(article)
    result = extract(article, "--report", tmp_path / "report.html")
    assert (result.code, result.out, result.err) == (0, plain.out, "")
    root = parsed(tmp_path / "report.html")
    assert len([one for one in root.iter("mark") if one.get("data-sentence")]) == 2
    assert "unit:sentence|units:2|layout:skip|version:" in "".join(next(root.iter("dl")).itertext())


def test_several_reports_are_a_folder_with_a_list(extract, article, tmp_path):
    other = tmp_path / "index.txt"
    other.write_text(tiny.ARTICLE, encoding="utf-8")
    missing = tmp_path / "missing.txt"
    result = extract(article, other, missing, "--report", tmp_path / "pages", "-o", tmp_path / "out")
    assert result.code == 3
    assert "missing.txt: no such file" in result.err
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == [
        "article.html",
        "index-1.html",
        "index.html",
    ]
    links = [one.get("href") for one in parsed(tmp_path / "pages" / "index.html").iter("a")]
    assert links == ["article.html", "index-1.html"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["article.txt", "index.txt"]


@pytest.mark.parametrize(
    ("inputs", "options", "message"),
    [
        (1, ["--report", "report.pdf"], "expected an .html file or a folder, got 'report.pdf'"),
        (1, ["--report", "-"], "expected an .html file or a folder, got '-'"),
        (2, ["--report", "pages.html"], "several documents need a folder: --report pages"),
        (1, ["--report", "a.html", "-o", "a.html"], "expected a file name that ends in .txt, got a.html"),
        (2, ["--report", "pages", "-o", "out", "--resume"], "cannot be combined with --resume"),
    ],
)
def test_wrong_places(extract, article, inputs, options, message):
    result = extract(*[article] * inputs, *options)
    assert result.code == 2
    assert message in result.err


@pytest.mark.parametrize("option", ["--report", "--output"])
def test_results_that_the_next_run_would_read_as_documents(extract, tmp_path, option):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("It rained.")
    result = extract(tmp_path / "docs", option, tmp_path / "docs" / "pages")
    assert (result.code, "expected an output folder outside the inputs" in result.err) == (1, True)
    assert not (tmp_path / "docs" / "pages").exists()


def test_an_empty_text_has_a_report(extract, tmp_path):
    path = tmp_path / "empty.txt"
    path.write_text("\n")
    assert extract(path, "--report", tmp_path / "empty.html").code == 0
    assert "<h1>" in (tmp_path / "empty.html").read_text()


def test_a_place_that_cannot_be_written(extract, article, tmp_path):
    folder = tmp_path / "file"
    folder.write_text("")
    result = extract(article, article, "--report", folder)
    assert result.code == 1
    assert f"{folder}: expected a folder for --report, got a file" in result.err


def test_no_page_takes_the_place_of_an_input(extract, article, tmp_path):
    pages = tmp_path / "pages"
    pages.mkdir()
    for name in ("index.html", "article.html"):
        (pages / name).write_text("<p>It rained.</p>")
    refused = extract(pages / "index.html", article, "--report", pages)
    assert (refused.code, refused.out) == (1, "")
    assert f"{pages / 'index.html'}: expected another file for --report, this one is an input" in refused.err
    (pages / "index.html").rename(tmp_path / "index.html")
    refused = extract(article, pages / "article.html", "--report", pages)
    assert "article.html: expected another file for --report, this one is an input" in refused.err
    assert (pages / "article.html").read_text() == "<p>It rained.</p>"


def test_two_documents_of_one_page(extract, tmp_path):
    inputs = [tmp_path / "index.txt", tmp_path / "index-1.txt"]
    for path in inputs:
        path.write_text(f"It rained in {path.stem}.")
    result = extract(*inputs, "--report", tmp_path / "pages")
    assert result.code == 3
    assert f"{inputs[1]}: expected a unique name, index-1.html is the file of {inputs[0]}" in result.err


@pytest.mark.parametrize("id", ["index", "index.", " Index"])
def test_no_page_is_lost_to_the_list(discsum, parser_folder, tmp_path, id):
    table = tmp_path / "odd.jsonl"
    table.write_text(
        "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in ((id, "It rained."), ("b", "Mud.")))
    )
    result = discsum("extract", table, "--model", "lead", "--parser", parser_folder, "--report", tmp_path / "pages")
    assert result.code == 0
    assert "It rained." in (tmp_path / "pages" / "index-1.html").read_text()
