"""The text of Markdown documents."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discsum.constants import INPUTS
from discsum.errors import InputError
from discsum.layout import CODE, Layout
from discsum.markup import READERS, to_text
from discsum.markup.markdown import from_markdown

FERRY = Path(__file__).with_name("ferry.md").read_text(encoding="utf-8")


def test_a_document_becomes_text_with_the_marks_of_its_layout():
    assert from_markdown(FERRY) == (
        "# Ferry to Holm gets a second boat\n\n"
        "The county council bought a second ferry on Tuesday, because the only boat to the island broke down nine "
        "times last winter.\n\n"
        "The rest of the money comes from the state — although not before next year.\n\n"
        "## Fares and rules\n\n"
        "- Adults pay twelve crowns for a single crossing to the island.\n\n"
        "- Children travel free of charge if an adult is with them:\n\n"
        "  1. under six\n\n"
        "  2. under twelve, at weekends\n\n"
        "- Bicycles are carried when there is room on the lower deck.\n\n"
        "We have waited for this for twenty years, said the head of the school.\n\n"
        "| Departs | Arrives |\n| 07:10 | 07:45 |\n\n"
        "The crew is told of changes with this program:\n\n"
        "```\n# not a heading\ndef notify(crew):\n    send(crew)\n```\n\n"
        "More\n\n"
        "Engineers had warned that the quay would last for twenty years only.\n\n"
        "1. The log of the harbour office counts nine of them.\n"
    )


@pytest.mark.parametrize(
    ("document", "blocks"),
    [
        ("Read [the *log*](x.html 'title') and ![a map](m.png).", ["Read the log and a map."]),
        ("[![build](b.svg)](https://ci.example)", ["build"]),
        ("A line  \nand a break.", ["A line\nand a break."]),
        ("A line\nand none.", ["A line and none."]),
        ("### Costs ###", ["### Costs"]),
        ("Costs\n=====\n\nMany.", ["# Costs", "Many."]),
        ("AT&amp;T &copy; `&amp;` \\*no\\*", ["AT&T © &amp; *no*"]),
        ("1) one\n2) two", ["1. one", "2. two"]),
        ("7. seven\n\n   More of it.\n8. eight", ["7. seven", "More of it.", "8. eight"]),
        ("- # Head\n- \n- b", ["# Head", "- b"]),
        ("> - in a quote", ["- in a quote"]),
        ("- a\n  - b\n    - c;", ["- a", "  - b", "  - c;"]),
        ("````\n```\nx\n```\n````", ["````\n```\nx\n```\n````"]),
        ("    x = 1\n\n    y = 2", ["```\nx = 1\n\ny = 2\n```"]),
        ("| a | b |\n|---|---|\n| c |   |\n\n| d | e |\n|---|---|", ["| a | b |\n| c |  |", "| d | e |"]),
        ("<p>One</p>\n<p>Two</p>\n\n***\n\nThree", ["One", "Two", "Three"]),
        ("Press <kbd>Ctrl</kbd> and <!-- not --> wait.", ["Press Ctrl and wait."]),
        ("Use the <script> tag.\n\nAnd go on.", ["Use the <script> tag.", "And go on."]),
        ("Hello <script>alert(1)</script>there.", ["Hello there."]),
        ("<script>\nunseen()\n</script>\n\nSeen.", ["Seen."]),
        ("~~old~~ new", ["old new"]),
        ("<pre>a <b>bold</b> c\nd <i>e</i> f</pre> g", ["```\na bold c\nd e f\n```", "g"]),
        ("\ufeff---\ntitle: x\n---\nSeen.", ["Seen."]),
        ("---\n# of the office\n\ntitle: x\n---\nSeen.", ["Seen."]),
        ("---\n\nSeen\n\n---\nToo.", ["Seen", "Too."]),
        ("---\n\nA rule is no front matter.", ["A rule is no front matter."]),
        ("<https://ferry.example>", ["https://ferry.example"]),
        ("", []),
        ("<!-- only -->", []),
    ],
)
def test_elements(document, blocks):
    expected = "\n\n".join(blocks) + "\n" if blocks else ""
    assert from_markdown(document) == expected


def test_code_stays_code_whatever_it_holds():
    text = from_markdown("~~~\n```\nA sentence that looks like prose to all.\n~~~\n\nProse comes after it.")
    assert [line.kind for line in Layout(text).lines] == [CODE, CODE, CODE, CODE, "body"]


def test_blocks_in_each_other():
    assert from_markdown("> " * 40 + "It rained.") == "It rained.\n"
    with pytest.raises(InputError, match="blocks nested at most 100 deep, got more; read it with --input text"):
        from_markdown("> " * 120 + "It rained.")
    with pytest.raises(InputError, match="elements nested at most 2,000 deep"):
        from_markdown("<div>" * 5000)


WORDS = st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1, max_size=12)


@given(st.lists(WORDS, max_size=6))
def test_plain_paragraphs_keep_their_words(paragraphs):
    written = "\n\n".join(" ".join(words) for words in paragraphs)
    assert from_markdown(written) == (written + "\n" if written else "")


@given(st.lists(st.one_of(WORDS, WORDS.map(lambda words: ["-", *words])), min_size=1, max_size=6))
def test_lists_are_as_they_were_written(lines):
    """The text is Markdown too, and reading it again changes nothing."""
    text = from_markdown("\n\n".join(" ".join(words) for words in lines))
    assert from_markdown(text) == text


PARTS = (
    "# ",
    "- ",
    "1. ",
    "> ",
    "|",
    "|-|-|\n",
    "```",
    "~~~",
    "    ",
    "\n",
    "\n\n",
    "---\n",
    "[^1]",
    "[a](b)",
    "![",
    "<div>",
)


@settings(deadline=None)
@given(
    st.lists(st.one_of(st.sampled_from([*PARTS, "<script>", "<!--", "*", "`", "&", "\x00"]), st.text(max_size=6))).map(
        "".join
    )
)
def test_any_text_is_read_or_refused(document):
    try:
        text = from_markdown(document)
    except InputError as error:
        assert "--input text" in str(error)
    else:
        assert not text or (text.strip() and text.endswith("\n"))
        Layout(text)


def test_what_a_text_is_written_in():
    assert to_text("# As *it* is", "text") == "# As *it* is"
    assert to_text("*It* rained.", "markdown") == "It rained.\n"
    with pytest.raises(
        InputError, match=r"input: expected one of text, markdown, html, got 'htm' \(did you mean html\?\)"
    ):
        to_text("", "htm")
    with pytest.raises(TypeError, match="text: expected str, got bytes"):
        to_text(b"", "html")


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ("Press <Button> to go on.", "Press <Button> to go on."),
        ("Use the <canvas> element.", "Use the <canvas> element."),
        ("Press <button>Start</button> now.", "Press now."),
        ("First.\n\n<title> is required.\n\nNext.", "First.\n\n<title> is required.\n\nNext."),
        ("First.\n\n<video src=a.mp4>\n\nNext.", "First.\n\n<video src=a.mp4>\n\nNext."),
        ("First.\n\n<video>\n\nno film\n\n</video>\n\nNext.", "First.\n\nNext."),
        ("<option> is an element.\n\nNext.", "<option> is an element.\n\nNext."),
    ],
)
def test_tags_that_are_not_closed_swallow_nothing(document, text):
    assert from_markdown(document) == text + "\n"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<table><tr><td><table><tr><td>a</td><td>b</td></tr></table></td><td>c</td></tr></table>", "| a b | c |"),
        ("<table><td>a</td><td>b</td></table>", "a b"),
    ],
)
def test_words_of_neighbouring_cells_stay_apart(content, text):
    assert from_markdown(content).strip() == text


def test_every_format_of_inputs_has_a_reader():
    assert tuple(READERS) == INPUTS
