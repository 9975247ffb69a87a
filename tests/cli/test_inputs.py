"""Messages and exit codes of the commands for inputs that they cannot use."""

import gzip
import json
import os
import sys

import pyarrow
import pytest
from pyarrow import parquet


@pytest.fixture
def extract(discsum, parser_folder):
    """Return a function that runs a command on any input; its results are tested elsewhere."""

    def run(*arguments, stdin=b""):
        return discsum("extract", *arguments, "--model", "lead", "--units", 1, "--parser", parser_folder, stdin=stdin)

    return run


def test_a_missing_file(extract, tmp_path):
    result = extract(tmp_path / "gone.txt")
    assert (result.code, result.out) == (1, "")
    assert result.err == f"discsum: {tmp_path / 'gone.txt'}: no such file or folder\n"


def test_a_folder_without_text(extract, tmp_path):
    (tmp_path / "picture.png").write_bytes(b"")
    result = extract(tmp_path)
    assert result.code == 1
    assert result.err.startswith(f"discsum: {tmp_path}: expected files that end in .csv, .dis, ")
    assert result.err.endswith(", found only .png\n")


def test_some_failed(extract, article, tmp_path):
    result = extract(tmp_path / "gone.txt", article)
    assert result.code == 3
    assert result.out.startswith("== article\n")
    assert result.err.splitlines() == [
        f"discsum: {tmp_path / 'gone.txt'}: no such file or folder",
        "discsum: 1 failed, 1 done",
    ]


def test_a_file_that_is_not_utf8(extract, tmp_path):
    path = tmp_path / "old.txt"
    path.write_bytes("The caf\u00e9 closed.".encode("latin-1"))
    result = extract(path)
    assert result.code == 1
    assert result.err == (
        f"discsum: {path}: expected utf-8, got byte 0xe9 at offset 7; name the file's encoding with --encoding\n"
    )
    result = extract(path, "--encoding", "latin-1")
    assert result.code == 0
    assert "caf\u00e9" in result.out
    for name in ("undefined", "hex", "rot13"):
        result = extract(path, "--encoding", name)
        assert (result.code, f"expected the name of a text encoding, got '{name}'" in result.err) == (2, True)
    result = extract(path, "--encoding", "latin-99")
    assert result.code == 2
    assert "expected the name of a text encoding, got 'latin-99'" in result.err


def test_standard_input_that_is_not_utf8(extract):
    result = extract("-", stdin=b"ab\xff")
    assert result.code == 1
    assert "standard input: expected utf-8, got byte 0xff at offset 2" in result.err


def test_a_byte_order_mark_is_no_text(extract, tmp_path):
    path = tmp_path / "windows.txt"
    path.write_bytes(b"\xef\xbb\xbfRain")
    assert extract(path).out == "Rain\n"
    table = tmp_path / "excel.csv"
    table.write_bytes(b"\xef\xbb\xbftext,id\r\nRain,one\r\n")
    assert extract(table).out == "== one\nRain\n"


def test_a_broken_line_of_a_table(extract, tmp_path):
    path = tmp_path / "news.jsonl"
    broken = ['{"text": "Ra', "[1]", '{"text": 5}', '{"body": "x"}', "[" * 100_000]
    lines = ['{"text": "Rain"}', *broken, '{"text": "Flood"}']
    path.write_text("\n".join(lines))
    result = extract(path)
    assert result.code == 3
    assert result.out == "== news-1\nRain\n== news-7\nFlood\n"
    errors = result.err.splitlines()
    assert errors[0].startswith(f'discsum: {path}:2: expected one JSON object per line, got \'{{"text": "Ra\'')
    assert errors[1:4] == [
        f"discsum: {path}:3: expected a JSON object, got a list; write each object on a line of its own",
        f"discsum: {path}:4: expected text in column text, got a number",
        f"discsum: {path}:5: expected a column article or text, got the columns body; name one with --text-column",
    ]
    assert errors[4].startswith(f"discsum: {path}:6: ")
    assert errors[5] == "discsum: 5 failed, 2 done"


def test_columns_of_a_csv_file(extract, tmp_path):
    path = tmp_path / "news.csv"
    path.write_text('id,body,article\n1,"Mill, ""old""\nmill",Rain\n2,River,Flood\n')
    assert extract(path).out == "== 1\nRain\n== 2\nFlood\n"
    assert extract(path, "--text-column", "body").out == '== 1\nMill, "old" mill\n== 2\nRiver\n'
    result = extract(path, "--text-column", "words")
    assert result.code == 1
    # Reported once for the table, not for every row.
    assert result.err == (
        f"discsum: {path}: expected a column words, got the columns id, body, article; name one with --text-column\n"
    )


def test_a_long_cell(extract, tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("text\n" + "rain " * 40_000 + "\n")
    assert extract(path).code == 0


def test_a_short_row(extract, tmp_path):
    path = tmp_path / "short.csv"
    path.write_text("id,text\n1\n2,Rain\n")
    result = extract(path)
    assert (result.code, result.out) == (3, "== 2\nRain\n")
    assert f"{path}:2: expected text in column text, got nothing" in result.err


def test_numbers_are_ids_of_parsed_and_unparsed_rows(discsum, extract, parser_folder, tmp_path):
    (tmp_path / "rain.txt").write_text("It rained.")
    parsed = discsum("parse", tmp_path / "rain.txt", "--parser", parser_folder, "-f", "json").out
    rows = [json.loads(parsed) | {"id": id} for id in (7, None)] + [{"text": "Flood", "id": 7}]
    for number, (row, id) in enumerate(zip(rows, ("7", "rows-1", "7"), strict=True)):
        (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
        result = extract(tmp_path / "rows.jsonl")
        assert (number, result.code, result.out.split("\n")[0]) == (number, 0, f"== {id}")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not allow such names")
def test_names_that_are_not_utf8_make_ids_that_are(extract, tmp_path):
    for name in (b"\xe4.txt", b"\xf6.txt"):
        (tmp_path / os.fsdecode(name)).write_text("It rained.")
    result = extract(tmp_path, "--json")
    ids = [json.loads(line)["id"] for line in result.out.splitlines()]
    assert (result.code, ids) == (0, [r"\udce4", r"\udcf6"])


def test_gzipped_tables(extract, tmp_path):
    path = tmp_path / "news.jsonl.gz"
    content = gzip.compress(b'{"text": "Rain"}\n{"text": "Flood"}\n')
    path.write_bytes(content)
    assert extract(path).out == "== news-1\nRain\n== news-2\nFlood\n"
    for broken, code in ((content[:-12], 3), (b"no gzip", 1), (content[:12] + b"\xff" + content[13:], 1)):
        path.write_bytes(broken)
        result = extract(path)
        # Documents before the damage are processed.
        assert result.code == code
        assert result.out in ("", "== news-1\nRain\n")
        assert result.err.startswith(f"discsum: {path}: ")


def test_parquet(extract, tmp_path):
    path = tmp_path / "news.parquet"
    parquet.write_table(pyarrow.table({"id": ["a", "b"], "text": ["Rain", "Flood"]}), path)
    assert extract(path).out == "== a\nRain\n== b\nFlood\n"
    path.write_bytes(b"no parquet")
    assert "expected a Parquet file" in extract(path).err


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("tree.rs3", "<rst>\n<header></header>\n<body>\n<segment id='1'>Rain\n</body>\n</rst>\n", ":5: "),
        ("tree.json", '{"text":\n "Rain",\n oops}', ":3: "),
    ],
)
def test_a_broken_tree_is_named_with_its_line(extract, tmp_path, name, content, line):
    path = tmp_path / name
    path.write_text(content)
    result = extract(path)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(f"discsum: {path}{line}expected ")


def test_a_batch_does_not_fail_with_one_of_its_documents(discsum, parser_folder, tmp_path):
    texts = tmp_path / "texts"
    texts.mkdir()
    for number in range(12):
        (texts / f"{number:02}.txt").write_text("Rain came." if number != 5 else "")
    result = discsum("parse", texts, "-f", "rs3", "-o", tmp_path / "out", "--parser", parser_folder)
    assert result.code == 3
    assert len(list((tmp_path / "out").iterdir())) == 11
    assert "05.txt: expected some text, got none" in result.err
    assert result.err.endswith("discsum: 1 failed, 11 done\n")


def test_a_text_in_another_language_is_told_on_one_line(discsum, parser_folder, tmp_path):
    path = tmp_path / "markt.txt"
    path.write_text("Der Rat will den Markt auf höherem Boden wieder aufbauen, obwohl das mehr kostet als eine Mauer.")
    for command in ("parse", "extract"):
        options = ("--model", "lead", "--json") if command == "extract" else ("--format", "json")
        result = discsum(command, path, "--parser", parser_folder, *options)
        assert result.code == 0
        (line,) = result.err.splitlines()
        assert line.startswith("discsum: markt: expected the language 'en', got what looks like 'de'")
        assert json.loads(result.out)["warnings"] == [line.removeprefix("discsum: markt: ")]


@pytest.mark.parametrize(("name", "options"), [("out.jsonl", ["--json"]), ("out.txt", [])])
def test_an_empty_table_has_an_empty_result(discsum, parser_folder, tmp_path, name, options):
    table, out = tmp_path / "news.jsonl", tmp_path / name
    arguments = ["extract", table, "--model", "lead", "--parser", parser_folder, "-o", out, *options]
    table.write_text('{"text": "It rained."}\n')
    assert discsum(*arguments).code == 0
    assert out.read_text()
    table.write_text("")
    result = discsum(*arguments)
    assert (result.code, out.read_text()) == (0, "")


def test_names_that_differ_in_case_do_not_overwrite_each_other(discsum, tmp_path, monkeypatch):
    rows = [{"id": name, "text": "We came."} for name in ("News", "news")]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = discsum("parse", tmp_path / "rows.jsonl", "-o", tmp_path / "both", "--format", "rsd")
    assert result.code == 0, result.err
    assert sorted(path.name for path in (tmp_path / "both").iterdir()) == ["News.rsd", "news.rsd"]
    # As on a case-insensitive file system.
    monkeypatch.setattr("pathlib.Path.samefile", lambda own, other: own.name.lower() == other.name.lower())
    result = discsum("parse", tmp_path / "rows.jsonl", "-o", tmp_path / "both", "--format", "rsd")
    assert result.code == 3
    assert "rows.jsonl:2: expected a unique name, news.rsd is the file of " in result.err


@pytest.mark.parametrize("command", [("evaluate", "lead"), ("analyze", "corpus")])
def test_an_empty_table_cannot_be_measured(discsum, tmp_path, command):
    table = tmp_path / "empty.jsonl"
    table.touch()
    result = discsum(*command, table)
    assert (result.code, result.out) == (1, "")
    assert result.err.endswith(f"{table}: expected texts with reference summaries, got none\n")
