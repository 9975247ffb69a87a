"""CSV tables: records that cannot be read, quotes and line ends."""

import re

import pytest

from discsum.data.inputs import Item, read_inputs
from discsum.data.pairs import PairSource
from discsum.errors import InputError


def limited(path, largest):
    return list(read_inputs([str(path)], max_document_bytes=largest))


def test_records_that_are_not_those_of_the_table_are_told(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id,article\n1,The river rose, and the wheel stopped.\n2,It rained.\n")
    failure, item = read_inputs([str(path)])
    assert f"{path}:2: expected 2 fields, got 3; put quotes around a field" in str(failure)
    assert item.text == "It rained."
    path.write_text('id,article\n1,"He said to them.\n2,Next document.\n3,Third.\n')
    (failure,) = read_inputs([str(path)])
    assert "expected a record with fields quoted as in CSV, got: unexpected end of data" in str(failure)


@pytest.mark.parametrize(
    ("name", "header", "told"),
    [
        (
            "t.csv",
            "id;text;summary",
            "separated by ',', got 'id;text;summary', separated by ';'; use commas in ",
        ),
        ("t.csv", "id\ttext", r"got 'id\\ttext', separated by '\\t'"),
        ("t.tsv", "id,text", r"separated by '\\t', got 'id,text', separated by ','"),
    ],
)
def test_another_separator_is_named_once(tmp_path, name, header, told):
    (tmp_path / name).write_text(f"{header}\n" + "1;2,3;4\n" * 5)
    (failure,) = read_inputs([str(tmp_path / name)])
    assert re.search(told, failure.reason)


def test_an_open_quote_is_named_by_the_line_of_its_record(tmp_path):
    path = tmp_path / "news.csv"
    path.write_text('id,text\n1,Rain\n2,"It rained\nand rained\n')
    *_, failure = read_inputs([str(path)])
    assert f"{path}:3: expected a record with fields quoted as in CSV" in str(failure)
    path.write_text('id,"text\n1,Rain\n')
    (failure,) = read_inputs([str(path)])
    assert f"{path}:1: expected a record" in str(failure)


def test_a_bad_row_of_a_csv_table_fails_alone(tmp_path):
    """A line that is too long or of another encoding, also inside quotes, and too many fields."""
    path = tmp_path / "rows.csv"
    lines = [
        b"id,text",
        b"1,First.",
        b"2,caf\xe9",
        b'3,"Two',
        b'caf\xe9 lines"',
        b"4," + b"x" * 2000,
        b"5,a,b",
        b"6,Last.",
    ]
    path.write_bytes(b"\n".join(lines) + b"\n")
    found = limited(path, 1000)
    assert [item.text if isinstance(item, Item) else item.source for item in found] == [
        "First.",
        f"{path}:3",
        f"{path}:5",
        f"{path}:6",
        f"{path}:7",
        "Last.",
    ]
    assert "expected utf-8, got byte 0xe9 at offset" in found[1].reason
    assert "expected a line of at most 1,000 characters, got more" in found[3].reason


@pytest.mark.parametrize(
    ("middle", "line"),
    [
        (b'2,"open\n' + b"x" * 2000 + b'"', 4),
        (b'2,"' + b"x" * 2000 + b'\n9,Inside.\n"', 3),
        (b'2,"Two "words" here"', 3),
    ],
)
def test_rows_after_a_csv_record_without_a_known_end_are_not_read(tmp_path, middle, line):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"id,text\n1,First.\n" + middle + b"\n3,Lost.\n")
    first, failure = limited(path, 1000)
    assert first.text == "First."
    assert f"{path}:{line}: expected" in failure.reason and failure.reason.endswith("; rows from there on are not read")
    # A dataset must not end there unnoticed.
    with pytest.raises(InputError, match="rows from there on are not read"):
        list(PairSource(str(path), summary_column="id", max_document_bytes=1000).pairs())


def test_long_lines_with_whole_quotes_are_one_row_of_csv(tmp_path):
    path = tmp_path / "rows.csv"
    long = b"x" * 2000
    path.write_bytes(b'id,text\n1,"' + long + b'"\n2,"Two\n' + long + b' ""x"" \nlines"\n3,Last.\n')
    first, second, last = limited(path, 1000)
    assert (first.source, second.source, last.text) == (f"{path}:2", f"{path}:4", "Last.")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_csv_tables(tmp_path, end):
    path = tmp_path / "rows.csv"
    content = f'\ufeffid,text{end}1,"Two{end}lines"{end}{end}2,x,y{end}3,caf\xe9{end}4,Last.{end}'
    path.write_bytes(content.encode("latin-1", "ignore").replace(b"id,", "\ufeffid,".encode()))
    first, failure, other, last = limited(path, 1000)
    assert (first.id, first.text.splitlines(), last.text) == ("1", ["Two", "lines"], "Last.")
    assert (failure.source, other.source) == (f"{path}:5", f"{path}:6")
    offset = path.read_bytes().index(b"\xe9")
    assert f"expected utf-8, got byte 0xe9 at offset {offset};" in other.reason


def test_a_column_cannot_be_text_and_summary():
    with pytest.raises(InputError, match="--text-column and --summary-column: expected different columns, got body"):
        PairSource("news.csv", "body", "body")
