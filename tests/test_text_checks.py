"""Warnings about texts in other languages or with markup."""

import json
import warnings

import pytest

from discsum.document import Document
from discsum.errors import FormatError, InputWarning
from discsum.text_checks import _detector, text_warnings
from tests import tiny

OTHER_LANGUAGES = {
    "de": "Der Rat wird den Markt auf höherem Gelände wieder aufbauen, obwohl das mehr kostet.",
    "fr": "Le conseil va reconstruire le marché sur un terrain plus élevé, bien que cela coûte plus cher.",
    "es": "El consejo reconstruirá el mercado en un terreno más alto, aunque cueste más que un muro nuevo.",
    "ru": "Совет восстановит рынок на возвышенности, хотя это дороже новой стены.",
    "ja": "評議会は、費用がかかっても、市場をより高い土地に再建する。",
    "nl": "De raad zal de markt op hogere grond herbouwen, hoewel dat meer kost dan een nieuwe muur.",
}


@pytest.mark.parametrize(("code", "text"), OTHER_LANGUAGES.items())
def test_another_language_is_told(code, text):
    (doubt,) = text_warnings(text)
    assert f"got what looks like {code!r}" in doubt
    assert text_warnings(text, code) == ()
    assert text_warnings(text, "") == ()


def test_short_texts_in_another_script_are_told():
    for text in ("评议会决定重建市场，因为水常常上涨。", "परिषद बाज़ार फिर बनाएगी।"):
        assert "expected the language 'en', got what looks like" in text_warnings(text)[0]


@pytest.mark.parametrize(
    "text",
    [
        "The council will rebuild the market on higher ground, although it costs more than a new wall.",
        "Preheat oven. Mix eggs, flour. Bake 20 min.",
        "OK",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18",
        "def total(prices): return sum(prices)",
        "Oslo, Rome and Lima: three cities with a new market.",
        "Oslo,Rome\nThe council will rebuild the market.",
        "𝐓𝐡𝐢𝐬 𝐭𝐞𝐱𝐭 𝐢𝐬 𝐛𝐨𝐥𝐝 𝐛𝐮𝐭 𝐄𝐧𝐠𝐥𝐢𝐬𝐡",
    ],
)
def test_english_and_what_is_no_language_is_not_doubted(text):
    assert text_warnings(text) == ()


def test_a_text_without_words_is_told():
    for text in ("", " \n\t"):
        assert text_warnings(text) == ("expected some text, got none; its result is empty",)


def test_an_english_text_that_is_not_expected_is_told():
    assert "'en'" in text_warnings("The council will rebuild the market on higher ground.", "de")[0]


def test_html_is_told_but_not_text_about_it():
    page = "<html><body>" + "<p>The council will rebuild the market.</p>" * 3 + "</body></html>"
    (doubt,) = text_warnings(page)
    assert doubt.endswith('got what looks like HTML (10 tags); read it with --input html (Python: input="html")')
    assert text_warnings("Write <b>bold</b> or <p> and </p>; if a < b and c > d then stop.") == ()


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("{\\rtf1\\ansi The council met.}", "got what looks like RTF; save it as plain text first"),
        (
            "The mill stopped.".encode("utf-16-le").decode(),
            "got what looks like UTF-16 without a byte order mark; name",
        ),
        (
            "The mill stopped.".encode("utf-16-be").decode(),
            "got what looks like UTF-16 without a byte order mark; name",
        ),
        (
            "1\n00:00:01,000 --> 00:00:03,000\nWe left.\n\n2\n00:00:04,000 --> 00:00:06,000\nIt rained.",
            "like subtitles; ",
        ),
        (
            'id,"text"\n1,"It rained, so the dam broke."',
            "like a table; a file is read as such if it ends in .csv or .tsv",
        ),
        ("id\ttext\r\n1\tThe dam broke.", "like a table; "),
        ("a/NOTES.JSONL.GZ\n", "got what looks like the name of a file"),
        ("notes/may.txt", "got what looks like the name of a file; read the file first"),
        ("---\ntitle: The Dam\n---\n\nThe dam broke.", "like Markdown; read it with --input markdown"),
        ("## Dam\n\nThe **dam** broke, see [map](https://dam.example).", "like Markdown; "),
        (
            "The dam &amp; the mill broke &mdash; it&#39;s over.",
            "like a part of HTML, with 3 references such as &amp;; ",
        ),
        ("The com-\nmittee met be-\ncause the dam had\nfailed in the val-\nley.", "got 3 lines that end in a hyphen, "),
    ],
)
def test_what_is_no_plain_text_is_told(text, doubt):
    (found,) = text_warnings(text)
    assert doubt in found


def test_a_compound_at_a_line_end_is_not_told():
    assert text_warnings("The well-\nknown dam failed. See notes.txt, or 00:00:01,000 --> 00:00:03,000.") == ()
    assert (
        text_warnings("These are the prefixes of the words:\npre-\npost-\nanti-\nsub-\nand they are not words.") == ()
    )


@pytest.mark.parametrize("beginning", ['<?xml version="1.0"?>\n', "<rst>", "\ufeff \n\t<rst>"])
def test_xml_is_told_but_not_text_about_it(beginning):
    tree = f'{beginning}<segment id="1" parent="2" relname="span">The council will rebuild the market.</segment>'
    told = "expected text, got what looks like XML; a tree file is recognised by its ending, .rs3 or .rs4"
    assert text_warnings(tree) == (told,)
    assert text_warnings(f"The file of the council begins with {beginning}") == ()


@pytest.mark.parametrize(
    "tree",
    [
        "( Root (span 1 2)\n  ( Nucleus (leaf 1) (rel2par span) (text _!It rained,_!) )",
        "(NS-elaboration (EDU 1) (EDU 2))",
        "\ufeff(ROOT\n  (S (NP (PRP It)) (VP (VBD rained))))",
    ],
)
def test_trees_in_brackets_are_told(tree):
    told = "expected text, got what looks like a tree in brackets; one in the form of RST-DT is recognised by its"
    assert [warning.startswith(told) for warning in text_warnings(tree, "")] == [True]


@pytest.mark.parametrize(
    "text",
    ["(Reuters (London)) It rained.", "(S) It rained (again).", "(S. Mill (ROM)) It rained.", "(Root beer (again))"],
)
def test_brackets_in_texts_are_not_told(text):
    assert text_warnings(text, "") == ()


def test_headings_of_markdown_are_understood():
    assert text_warnings("# News\n\n## Rain\n\nIt rained.\n\n## Sun\n\nIt did not.\n\n## Wind\n\nNo.\n", "") == ()


def test_a_tag_that_is_never_closed_costs_no_time():
    assert text_warnings("<div " * 1000) == ()


def test_without_a_temporary_folder_languages_are_not_checked(monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("py3langid.langid.LanguageIdentifier.from_model_file", full)
    _detector.cache_clear()
    try:
        with pytest.warns(InputWarning, match="No space left on device; languages of texts are not checked"):
            assert text_warnings(OTHER_LANGUAGES["de"]) == ()
    finally:
        _detector.cache_clear()


def test_the_parser_warns_and_keeps_the_warning():
    parser = tiny.make_parser()
    with pytest.warns(InputWarning, match="markt: expected the language 'en', got what looks like 'de'"):
        document = parser.parse(OTHER_LANGUAGES["de"], id="markt")
    assert len(document.warnings) == 1
    assert json.loads(json.dumps(document.to_json()))["warnings"] == list(document.warnings)
    assert Document.from_json(document.to_json()) == document
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "warnings" not in parser.parse("The council will rebuild the market.").to_json()


def test_the_language_of_a_parser_is_kept(tmp_path):
    parser = tiny.make_parser()
    parser.language = "de"
    parser.save_pretrained(tmp_path / "german")
    loaded = type(parser).from_pretrained(tmp_path / "german")
    assert loaded.language == "de"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded.parse(OTHER_LANGUAGES["de"])


def test_warnings_of_a_json_document_are_strings():
    data = tiny.make_parser().parse("The council met.").to_json() | {"warnings": [1]}
    with pytest.raises(FormatError, match=r"warnings\[0\]: expected a string, got 1"):
        Document.from_json(data)


def test_json_is_told_but_not_text_about_it():
    told = "expected text, got what looks like JSON; a file is read as such if it ends in .json or .jsonl"
    for beginning in ('{"text": ', ' \n[{"text": '):
        assert text_warnings(f'{beginning}"The council will rebuild the market.')[0] == told
    assert text_warnings('{The council} will rebuild "the market" [in May].') == ()
