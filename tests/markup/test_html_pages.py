"""The text of HTML pages."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discsum
from discsum.errors import InputError
from discsum.layout import Layout
from discsum.markup.blocks import blocks
from discsum.markup.html import declared_encoding, from_html, parse

FERRY = Path(__file__).with_name("ferry.html").read_text(encoding="utf-8")
SENTENCES = (
    "The council will rebuild the market on higher ground, although it costs more than a new wall. "
    "Engineers had warned that the wall would protect the town for only twenty years."
)
LAST = "It will open before the autumn storms."


def page(body, head=""):
    return f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>"


def article(content):
    """Return a page with an unmistakable article that has `content` in its middle."""
    return page(
        f"<article><h1>Market</h1><p>{SENTENCES}</p>{content}<p>It will open before the autumn storms.</p></article>"
    )


def inner(content):
    """Return the blocks that `content` becomes inside an article."""
    found = from_html(article(content)).removesuffix("\n").split("\n\n")
    assert (found[:2], found[-1]) == (["# Market", SENTENCES], LAST)
    return found[2:-1]


def test_a_page_becomes_text_with_the_marks_of_its_layout():
    assert from_html(FERRY) == (
        "# Ferry to Holm gets a second boat\n\n"
        "The county council bought a second ferry on Tuesday, because the only boat to the island of Holm broke down "
        "nine times last winter.\nIt will sail from May.\n\n"
        "## What it costs\n\n"
        "The boat costs 4.2 million crowns & the council pays half of it from its reserves. The rest comes from the "
        "state—although not before next year.\n\n"
        "- Adults pay twelve crowns for a single crossing to the island.\n\n"
        "- Children travel free of charge if an adult is with them:\n\n"
        "  - under six, at any time of the day or night\n\n"
        "  - under twelve, at weekends\n\n"
        "- Bicycles are carried when there is room on the lower deck.\n\n"
        "1. Buy a ticket at the quay.\n\n"
        "2. Show it to the crew before the boat departs.\n\n"
        "We have waited for this for twenty years, said the school's head, Ingrid Moe.\n\n"
        "### Timetable\n\n"
        "| Departs | Arrives |\n| 07:10 | 07:45 |\n| 16:30 | 17:05 |\n\n"
        "The crew is told of changes with this program:\n\n"
        "```\ndef notify(crew):\n    for sailor in crew:\n        send(sailor)\n```\n\n"
        "Residents hope that the school can now keep its two teachers, who had considered leaving when the "
        "boat failed.\n"
    )


@pytest.mark.parametrize(
    ("content", "blocks"),
    [
        ("<p>She said <q>we wait</q> and left.</p>", ["She said “we wait” and left."]),
        ("<p>Type <code>make all</code> to <a href='/x'>build</a> it.</p>", ["Type make all to build it."]),
        ("<p>One line.<br>And one more.</p>", ["One line.\nAnd one more."]),
        ("<p>AT&amp;T and 3 &lt; 4 &eacute;t&#233; are read.</p>", ["AT&T and 3 < 4 été are read."]),
        ("<h2>What\n it <em>costs</em></h2><p>It is dear.</p>", ["## What it costs", "It is dear."]),
        ("<table><tr><td>One cell is a paragraph.</td></tr></table>", ["One cell is a paragraph."]),
        ("<table><tr><td>a b</td><td><p>c</p><p>d</p></td></tr></table>", ["| a b | c d |"]),
        ("<table><td>a</td><td>b</td></table>", ["| a | b |"]),
        ("<p>Seen by all.</p><script>unseen()</script><style>p {unseen: 1}</style><!-- unseen -->", ["Seen by all."]),
        ("<blockquote><p>We have waited for years.</p></blockquote>", ["We have waited for years."]),
    ],
)
def test_elements(content, blocks):
    assert inner(content) == blocks


@pytest.mark.parametrize(
    ("head", "body", "begins"),
    [
        ("<title>Market moves</title>", f"<p>{SENTENCES}</p>", "# Market moves\n\nThe council"),
        ("<title>Market moves</title>", f"<h1>Market moves</h1><p>{SENTENCES}</p>", "# Market moves\n\nThe council"),
        (
            "<title>Market moves - The Herald</title>",
            f"<h1>Market moves</h1><p>{SENTENCES}</p>",
            "# Market moves\n\nThe",
        ),
        ("", f"<p>{SENTENCES}</p>", "The council"),
    ],
)
def test_the_title_comes_first_and_once(head, body, begins):
    text = from_html(page(f"<article>{body}</article>", head))
    assert text.startswith(begins)
    assert text.count("Market moves") == begins.count("Market moves")


def test_what_is_around_a_short_text_is_left_out():
    menu = "<nav><ul><li><a href='/'>Home</a></li><li><a href='/n'>News</a></li></ul></nav>"
    banner = "<div class='cookie-banner'><p>We use cookies to improve your visit. Accept all?</p></div>"
    text = from_html(page(f"{menu}{banner}<main><p>The council bought a boat.</p></main><footer>All rights</footer>"))
    assert text == "The council bought a boat.\n"


def test_what_holds_the_article_is_kept_whatever_its_class():
    body = f"<div class='cookie-notice'><h1>Cookies</h1><article><p>{SENTENCES}</p></article></div>"
    assert SENTENCES in from_html(page(body))
    assert SENTENCES in from_html(page(f"<div class='cookie-recipes'><p>{SENTENCES}</p></div>"))


@pytest.mark.parametrize("around", ["div role='dialog'", "div role='navigation'", "dialog", "nav"])
def test_what_holds_the_article_is_kept_whatever_its_role(around):
    body = f"<{around}><article><p>{SENTENCES}</p></article></{around.split()[0]}>"
    assert SENTENCES in from_html(page(body))
    assert SENTENCES in from_html(f"<html><body role='dialog'><p>{SENTENCES}</p></body></html>")


def test_a_dialog_and_a_menu_beside_the_article_are_left_out():
    body = f"<div role='dialog'><h1>Cookies</h1><p>We use some.</p></div><article><p>{SENTENCES}</p></article>"
    assert from_html(page(body)) == f"{SENTENCES}\n"


@pytest.mark.parametrize(
    "content",
    [
        "<html></html>",
        "<!-- nothing -->",
        page(""),
        page("<nav><ul><li><a href='/'>Home</a></li><li><a href='/n'>News</a></li></ul></nav>"),
        page("<script>let text = 'It has rained.'</script>"),
    ],
)
def test_a_page_without_text_is_an_error_that_says_what_to_do(content):
    with pytest.raises(InputError, match=r"expected HTML.*; read it with --input text \(Python: input=\"text\"\)$"):
        from_html(content)


def test_the_text_that_is_no_page_is_named(parser_folder):
    texts = ["<p>It rained for a week.</p>", "It rained."]
    with pytest.raises(InputError, match=r"^text 1: expected HTML, got a text without tags"):
        list(discsum.parse_many(texts, ids=["a", "b"], input="html", parser=parser_folder))
    with pytest.raises(InputError, match=r"^expected HTML, got a text without tags"):
        discsum.parse(texts[1], input="html", parser=parser_folder)


@pytest.mark.parametrize("content", ["", "It rained, and 3 < 4.", "a <- b"])
def test_a_text_is_no_page(content):
    with pytest.raises(InputError, match="got a text without tags"):
        from_html(content)


def test_a_fragment_is_a_page():
    assert from_html(f"<p>{SENTENCES}</p>") == f"{SENTENCES}\n"


def test_nothing_outside_the_page_is_read(tmp_path):
    (tmp_path / "secret.txt").write_text("the secret words")
    entity = f'<!DOCTYPE html [<!ENTITY secret SYSTEM "file://{tmp_path}/secret.txt">]>'
    body = f"<body><article><p>{SENTENCES} &secret;</p></article></body>"
    for prolog in (entity, f'<?xml version="1.0" encoding="UTF-8"?>\n{entity}'):
        text = from_html(f"{prolog}<html>{body}</html>")
        assert "higher ground" in text
        assert "secret words" not in text


def test_elements_in_each_other():
    # About half of the depth that libxml2 allows.
    deep = "<div>" * 1000 + f"<p>{SENTENCES}</p>" + "</div>" * 1000
    assert "higher ground" in "".join(parse(page(deep)).itertext())
    with pytest.raises(InputError, match="elements nested at most 2,000 deep"):
        from_html(page("<div>" * 5000 + f"<p>{SENTENCES}</p>"))


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (b"<html><head><meta charset='ISO-8859-1'>", "cp1252"),
        (b'<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">', "cp1251"),
        (b'<?xml version="1.0" encoding="ISO-8859-15"?><html>', "iso8859-15"),
        (b"\xef\xbb\xbf<meta charset=latin1>", "utf-8"),
        ("\ufeff<html>".encode("utf-16-le"), "utf-16"),
        (b'<meta charset="gb2312">', "gb18030"),
        (b'<meta charset="shift_jis">', "cp932"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<html><p>charset=latin1</p>", "utf-8"),
    ],
)
def test_declared_encodings(content, encoding):
    assert declared_encoding(content) == encoding


@pytest.mark.parametrize("name", ["klingon", "undefined", "hex", "rot13"])
def test_an_encoding_that_is_not_known(name):
    with pytest.raises(InputError, match=f"but the page declares '{name}'; name it with --encoding"):
        declared_encoding(f"<meta charset={name}>".encode())


PARTS = ("<p>", "</p>", "<div>", "<ul><li>", "</ul>", "<table><tr><td>", "<td>", "</table>", "<h1>", "</h2>", "<br>")
MORE = (
    "<pre>",
    "<code>",
    "</pre>",
    "<!--",
    "-->",
    "<script>",
    "&#0;",
    "&amp",
    "<q>",
    "<![CDATA[",
    "<?php",
    "\x00",
    "\ud800",
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(st.sampled_from([*PARTS, *MORE]), st.text(max_size=8)), max_size=25).map("".join))
def test_any_text_is_read_or_refused(content):
    for whole in (content, page(content), article(content)):
        try:
            text = from_html(whole)
        except InputError as error:
            assert "--input text" in str(error)
        else:
            assert text.strip()
            Layout(text)


def test_a_page_that_is_laid_out_with_one_cell_keeps_its_paragraphs():
    cell = "<p>The ferry broke down.</p><p>It was<br>old.</p><ul><li>Nobody came.</li></ul>"
    page = parse(f"<html><body><table><tr><td>{cell}</td></tr></table></body></html>")
    assert blocks(page) == ["The ferry broke down.", "It was\nold.", "Nobody came."]
    page = parse(f"<html><body><table><tr><td>{cell}</td><td>07:10</td></tr></table></body></html>")
    assert blocks(page) == ["| The ferry broke down. It was old. Nobody came. | 07:10 |"]
    article = f"<h2>The ferry</h2><p>{'It was old. ' * 15}</p><p>Nobody came.</p>"
    page = parse(f"<html><body><table><tr><td>Home News</td><td>{article}</td></tr></table></body></html>")
    assert blocks(page) == ["Home News", "The ferry", " ".join(["It was old."] * 15), "Nobody came."]


def test_a_page_on_which_the_library_fails_is_refused_alone(monkeypatch):
    def fail(*_, **__):
        raise RecursionError("too deep")

    monkeypatch.setattr("trafilatura.bare_extraction", fail)
    with pytest.raises(InputError, match=r"but it failed with RecursionError\('too deep'\).*--input text"):
        from_html(FERRY)
