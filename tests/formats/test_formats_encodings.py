"""Declared encodings of rs3 and rs4, byte order marks, and `encoding`."""

import codecs

import pytest

from discsum.errors import FormatError, FormatWarning, InputError
from discsum.formats import load, read_tree

BODY = '<rst><header>{header}</header><body><segment id="1">{text}</segment></body></rst>'


def file(text, declared="", header=""):
    start = f'<?xml version="1.0" encoding="{declared}"?>\n' if declared else ""
    return start + BODY.format(text=text, header=header)


@pytest.mark.parametrize(
    ("declared", "written", "text"),
    [
        ("ISO-8859-1", "latin-1", "Caf\xe9"),
        ("windows-1251", "cp1251", "Мост закрыт"),
        ("UTF-16", "utf-16", "Мост"),
        ("utf-16", "utf-16-be", "Мост"),
        ("UTF-16", "utf-16-le", "Мост"),
        ("GB2312", "gb2312", "桥"),
        ("", "utf-8", "Caf\xe9"),
        ("", "utf-8-sig", "Caf\xe9"),
        ("utf-8", "utf-8-sig", "Caf\xe9"),
        ("", "utf-16", "Caf\xe9"),
    ],
)
def test_what_a_file_declares(tmp_path, declared, written, text):
    path = tmp_path / "story.rs3"
    path.write_bytes(file(text, declared).encode(written))
    assert read_tree(path).edu_texts == (text,)
    assert load(path.read_bytes(), "rs4").edu_texts == (text,)


def test_a_declaration_that_is_not_true(tmp_path):
    path = tmp_path / "story.rs3"
    path.write_bytes(file("Caf\xe9", "UTF-16").encode())
    with pytest.warns(
        FormatWarning, match=r"story.rs3:1: declares UTF-16, but its bytes are not in that encoding; read as UTF-8"
    ):
        assert read_tree(path).edu_texts == ("Caf\xe9",)
    path.write_bytes(file("Мост", "windows-1251").encode())
    assert read_tree(path).edu_texts != ("Мост",)
    assert read_tree(path, encoding="utf-8").edu_texts == ("Мост",)


def test_the_header_of_rsttool(tmp_path):
    path = tmp_path / "story.rs3"
    header = '<encoding name="cp1251"/>'
    path.write_bytes(file("Мост", header=header).encode("cp1251"))
    assert read_tree(path).edu_texts == ("Мост",)
    # If the bytes are valid UTF-8, the header is ignored: most such files have been converted since.
    path.write_bytes(file("Мост", header=header).encode())
    assert read_tree(path).edu_texts == ("Мост",)


def test_the_option_overrides_and_errors_name_it(tmp_path):
    path = tmp_path / "story.rs3"
    path.write_bytes(file("Caf\xe9").encode("latin-1"))
    with pytest.raises(
        FormatError, match=r"story.rs3: expected utf-8, got byte 0xe9 at .* with --encoding, for example"
    ):
        read_tree(path)
    assert read_tree(path, encoding="latin-1").edu_texts == ("Caf\xe9",)
    path.write_bytes(file("x", "klingon").encode())
    with pytest.raises(
        FormatError, match=r"story.rs3:1: expected an encoding that Python knows, but the file declares 'kl"
    ):
        read_tree(path)
    for name in ("zlib", "hex", "rot13", "undefined"):
        path.write_bytes(file("x", name).encode())
        with pytest.raises(FormatError, match="expected an encoding that Python knows, but the file declares"):
            read_tree(path)
    path.write_bytes(file("Мост", "ascii").encode())
    with pytest.raises(FormatError, match=r"story.rs3: expected ascii, got byte 0xd0 .* with --encoding"):
        read_tree(path)
    with pytest.raises(FormatError, match="with --encoding"):
        read_tree(path, encoding="ascii")


@pytest.mark.parametrize("mark", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
@pytest.mark.parametrize("name", ["dis", "rsd", "json"])
def test_byte_order_marks_of_the_other_formats(tmp_path, name, mark):
    content = {
        "dis": "( Root (leaf 1) (text _!Caf\xe9_!) )",
        "rsd": "1\tCaf\xe9\t0\t_\t_\t_\t0\tROOT\t_\t_",
        "json": '{"text": "Caf\xe9", "sentences": [{"start": 0, "end": 4}], '
        '"edus": [{"start": 0, "end": 4, "sentence": 0}], "nodes": []}',
    }[name]
    names = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
    path = tmp_path / f"story.{name}"
    path.write_bytes(mark + content.encode(names[mark]))
    assert read_tree(path).edu_texts == ("Caf\xe9",)


@pytest.mark.parametrize("name", ["nope", "base64"])
def test_what_is_no_text_encoding(tmp_path, name):
    (tmp_path / "a.rs3").write_text(file("It rained."))
    with pytest.raises(InputError, match=f"encoding: expected the name of a text encoding, got '{name}'"):
        read_tree(tmp_path / "a.rs3", encoding=name)
