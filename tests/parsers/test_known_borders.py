"""Where units begin, or cannot begin, whatever the tagger finds."""

import pytest
import tiny

import discsum
from discsum.document import Span
from discsum.layout import BYLINE, Layout
from discsum.parsers.segmenter import known_borders
from discsum.parsers.subwords import split_subwords


def borders(text):
    """Return the offsets at which sentences must begin, and those at which units may begin."""
    known, words = known_borders(text, split_subwords(text, tiny.make_tokenizer()))
    return words.starts[known.forced].tolist(), set(words.starts[words.opens].tolist())


def closed(text):
    """Return the offsets at which no sentence may begin, although an EDU may."""
    known, words = known_borders(text, split_subwords(text, tiny.make_tokenizer()))
    return set(words.starts[known.closed].tolist())


@pytest.mark.parametrize("marker", ["1.", "2.1", "(a)", "[1]", "-", "*"])
def test_no_unit_begins_between_a_marker_and_its_text(marker):
    text = f"{marker}  the mill stopped\n{marker}  the baker left\n"
    forced, allowed = borders(text)
    second, after = text.index("\n") + 1, len(marker) + 2
    assert forced == [0, second]
    assert not allowed & {*range(1, after + 1), *range(second + 1, second + after + 1)}
    assert {0, second, text.index("mill"), text.index("baker")} <= allowed


def test_a_marker_alone_and_a_field_bar_nothing():
    for text, word in (("-\nthe mill", "the"), ("Subject: the mill", "the"), ("a mill - the mill", "the")):
        assert text.index(word) in borders(text)[1]


@pytest.mark.parametrize(
    ("text", "word", "may"),
    [
        ("add 2 tsp. baker flour", "baker", False),
        ("add 1½ oz. (dry) flour", "(", False),
        ("bake it for 20 min. or on", "or", False),
        ("add 2 tsp. The mill stopped", "The", True),
        ("it broke. the mill", "the", True),
        ("in Tab. 3 he said", "3", False),
        ("see Eq. (4) and", "(", False),
        ("see pp. 13-14", "13", False),
        ("see Eq. (A2) and", "(", False),
        ("see the map. 3 mills broke", "3", True),
        ("boil it for 10 min. while the mill stopped", "while", True),
        ("a mill (2 kg.) or 4 km. soon", "soon", False),
        ("add 2 lb.\nflour and", "flour", True),
        ("it is 20 kg.\n\n(the other is light)", "(", True),
        ("he said No. (they had not)", "(", True),
        ("he said No. 3 mills", "3", False),
        ("in Mill v. Baker [1957] 1 WLR 582", "1 WLR", False),
        ("it fell [1957] The mill", "The", True),
        ("he met Cllr. Mill", "Mill", False),
        ("call +1 (415) 555-0132 or", "(", False),
        ("call +1 (415) 555-0132 or", "555", False),
        ("call (415) 555-0132 or", "(", True),
        ("call (415) 555-0132 or", "or", True),
        ("he said No.\n\n3 mills", "3", True),
    ],
)
def test_no_unit_begins_after_an_abbreviation(text, word, may):
    assert (text.index(word) in borders(text)[1]) == may


@pytest.mark.parametrize(
    "dateline",
    [
        "OLDTOWN (News) -",
        "OLDTOWN, March 3 (News) -",
        "Old Town, Norland (NW) —",
        "OLD TOWN, Norland --",
        "OLDTOWN/NEWTOWN, 3 May 2024 –",
        "(nw) -",
    ],
)
def test_no_unit_begins_inside_a_dateline(dateline):
    text = f"It fell.\n\n{dateline} The mill stopped"
    allowed = borders(text)[1]
    start, after = text.index(dateline), text.index("The")
    assert not allowed & {*range(start + 1, after)} and {start, after} <= allowed
    assert Layout(text).kinds([(start, start + len(dateline))]) == (BYLINE,)


@pytest.mark.parametrize(
    "text",
    [
        "The mill (it was old) - stopped",
        "A-1 - stopped",
        "Y- — oh well",
        "OLD-22 ran",
        "NASA — which runs the mill — said",
        "NASA — The mill of the baker — said",
        "Tom Miller (born 1940) – Who knew",
    ],
)
def test_what_is_no_dateline_bars_nothing(text):
    assert not Layout(text).datelines()


def test_a_clause_after_a_measure_begins_no_sentence():
    text = "boil it for 10 min. while the mill stopped"
    assert closed(text) == {text.index("while")}


@pytest.mark.parametrize(
    ("text", "word", "barred"),
    [
        ('"it stopped!" said the miller', "said", True),
        ("“it stopped?” said the miller", "said", True),
        ('"it stopped." said the miller', "said", False),
        ('"it stopped!" The miller left', "The", False),
        ('"it stopped!"\nthe miller left', "the", False),
        ("at 9 p.m. the mill stopped", "the", True),
        ("in Feb. the mill stopped", "the", True),
        ("Mill Inc. the owner", "the", True),
        ("Mill Inc. iPhones are sold", "iPhones", False),
        ("the mill. the owner", "the owner", False),
    ],
)
def test_words_that_go_on_with_a_sentence_begin_none(text, word, barred):
    assert (text.index(word) in closed(text)) == barred


def test_no_sentence_begins_inside_a_heading():
    text = "The old mill and its baker\n\nIt fell. It stood again."
    assert {text.index(word) for word in ("old", "mill", "baker")} <= closed(text)
    assert text.index("It s") not in closed(text)


@pytest.mark.parametrize("mark", ["[2][3]", "[5,6]", " [sic]", "[12-14]", " [citation needed]", " [1957]"])
def test_the_mark_of_a_source_belongs_to_the_text_before(mark):
    text = f"the mill stopped.{mark} the baker left"
    allowed = borders(text)[1]
    assert not allowed & {*range(text.index("["), text.index("]") + 1)} and text.index("the baker") in allowed


@pytest.mark.parametrize(
    ("number", "rest"), [("10:15", "Talk:"), ("3", "See also"), ("9.30am", "The mill"), ("5/5", "If")]
)
def test_no_unit_begins_after_the_number_or_time_of_a_line(number, rest):
    text = f"It fell.\n{number} {rest} the mill stopped"
    assert text.index(rest) not in borders(text)[1]


@pytest.mark.parametrize("markers", ["- 1.", "1) [1]", "- (a)", "- [ ]", "* [x]", "- - -"])
def test_no_unit_begins_between_or_after_several_markers(markers):
    text = f"{markers} the mill stopped\n{markers} the baker left\n"
    allowed = borders(text)[1]
    second = text.index("\n") + 1
    barred = {*range(1, len(markers) + 2), *range(second + 1, second + len(markers) + 2)}
    assert not allowed & barred and {0, second} <= allowed


@pytest.mark.parametrize("mark", ["> ", ">> ", "> > ", ">"])
def test_no_unit_begins_between_the_mark_of_a_quotation_and_its_text(mark):
    allowed = borders(f"{mark}the mill stopped\n{mark}the baker left\n")[1]
    second = len(f"{mark}the mill stopped\n")
    assert not allowed & {*range(1, len(mark) + 1), *range(second + 1, second + len(mark) + 1)} and 0 in allowed


def test_an_item_goes_on_in_an_indented_line():
    text = "- the mill\n- the baker\n  that left the town because of the river\n* the bread\n"
    assert Layout(text).openings() == [0, text.index("- the baker"), text.index("* the bread")]


def test_a_source_at_the_beginning_of_a_line_begins_no_unit():
    text = "The map was drawn by others (see\n[3] and also the letter of the miller) and it was\nshown to all the town."
    assert Layout(text).openings() == []
    for heading in ("", "Notes and references\n"):
        notes = f"{heading}[1] See the map that the old\nmiller drew\n[2] Ibid."
        assert {notes.index("[1]"), notes.index("[2]")} <= {*Layout(notes).openings()}


def test_footnotes_and_lists_in_lists_begin_units():
    notes = "It fell.[1] It stood.[2]\n\n[1] See the map, p. 12.\n[2] Ibid., pp. 13-14."
    assert Layout(notes).openings() == [notes.index("[1] See"), notes.index("[2] Ibid")]
    # The longest line is before the inner list.
    nested = "1. bread\n2. proof for those who seek the permit\na. a letter\nb. a photograph\n"
    assert Layout(nested).openings() == [nested.index(start) for start in ("1.", "2.", "a. a", "b. a")]


@pytest.mark.parametrize("sentences", ["model", "newline", [Span(0, 49), Span(50, 74)]])
def test_edus_do_not_depend_on_who_finds_sentences(sentences):
    text = "See Tab. 3 for details and Eq. (4) for the model.\n- the mill broke in 1900"
    document = discsum.parse(text, sentences=sentences)
    assert document.edu_texts[-1] == "- the mill broke in 1900"
    assert not {"3", "(4"} & {text.split()[0][:2].strip() for text in document.edu_texts}
