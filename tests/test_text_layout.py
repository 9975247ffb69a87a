"""Layout of the twenty texts of ten kinds in `tests/texts`, which lists the prose and layout of each."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from discsum.document import Document
from discsum.layout import BODY, KINDS, LABEL, Layout, has_content
from discsum.parsers.parser import Parser
from discsum.persistence import shipped

TEXTS = Path(__file__).parent / "texts"
EXPECTED = yaml.safe_load((TEXTS / "expected.yaml").read_text(encoding="utf-8"))


def plain(text):
    return " ".join(str(text).split())


@pytest.fixture(scope="module")
def segmented():
    parser = Parser.from_pretrained()
    texts = [(TEXTS / name).read_bytes().decode("utf-8") for name in EXPECTED]
    return dict(zip(EXPECTED, parser.segment(texts), strict=True))


@pytest.mark.skipif("discsum-gum" not in shipped(), reason="the shipped parser is not installed")
@pytest.mark.parametrize("name", EXPECTED)
def test_prose_is_told_from_layout(segmented, name):
    document = segmented[name]
    prose = {plain(text) for text, kind in zip(document.sentence_texts, document.layout, strict=True) if kind == BODY}
    expected = [plain(line) for line in EXPECTED[name]["layout"]]
    assert [line for line in expected if line in prose] == []
    assert [line for line in EXPECTED[name]["content"] if not any(plain(line) in text for text in prose)] == []


@pytest.mark.skipif("discsum-gum" not in shipped(), reason="the shipped parser is not installed")
@pytest.mark.parametrize("name", [name for name in EXPECTED if EXPECTED[name].get("turns")])
def test_labels_come_with_their_turns(segmented, name):
    document = segmented[name]
    texts = [plain(text) for text in document.sentence_texts]
    labels = Layout(document.text).labels([(span.start, span.end) for span in document.sentences])
    for label, sentence in EXPECTED[name]["turns"]:
        index = next(index for index, text in enumerate(texts) if sentence in text)
        assert label in texts[labels[index]]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Rain ahead\n\nIt will rain on all three days.", "heading body"),
        ("## Usage\nRun the program with a file.\n", "heading body"),
        ("The report was finished\non Friday and nobody who\nread it was surprised by\nthe result.", "body " * 4),
        ("The council voted on it\nand rejected it because\nof the cost.\n\nNobody was there.", "body " * 4),
        ("flour\nsugar\neggs\n\nMix it all with a spoon for ten minutes.", "list list list body"),
        (
            "Goals this year:\n\nto run a marathon\nto read more books\nto sleep well\n\nThat is what I want to do.",
            "heading list list list body",
        ),
        (
            "What to bring\n\na warm coat\nthe ticket\nmy letter\na map\n\nMeet us at nine.",
            "heading list list list list body",
        ),
        ("WHEREAS the Seller owns the Goods; and\nWHEREAS the Buyer wants them all.", "body body"),
        (
            "The bridge was closed on Monday because the\nriver rose above the marks of the spring\nMay had seen.",
            "body body body",
        ),
        ("HARBOURTON, March 3 (Agency) -\nThe ferry stopped.", "byline body"),
        ("PUBLISHED: 05:47 GMT, 3 March 2024\nThe ferry stopped.", "byline body"),
        ("By Jane Doe and John Roe\nThe ferry stopped.", "byline body"),
        ("By noon the ferry had stopped.", "body"),
        ("• soap\n• towels for all the children who swim\n", "list body"),
        ("Anna:\nI will come.\nBen:\nSo will I.", "label body label body"),
        ("```\nx = 1\n```\nThat was code.", "code code code body"),
        ("~~~\n```\nIt may look like prose.\n```text\n~~~\nThat was code.", "code code code code code body"),
        ("````\n```\nIt may look like prose.\n````\nThat was code.", "code code code code body"),
        ("A call:\n\n    open(file)\n    of(all) of\n", "heading code body"),
        ("```make``` builds all of it.\nThat was no block of code.", "body body"),
        ("| a | b |\n|---|---|\nThat was a table.", "code code body"),
        ("42\n...\nIt ended there.", "label label body"),
        ("7.1 Termination\nEither party may end this contract in writing.", "heading body"),
        ("References\nMarl, J. (2016). Sound as a fence.", "heading list"),
        ("The council approved the plan on Monday.\n\n---\n\nThe mayor thanked everybody.", "body label body"),
        ("The plan\n--------\nThe council approved it.", "heading label body"),
        ("Usage\n~~~~~\nRun the program with a file.", "heading label body"),
        ("It rained all day.\n\n~~~\n\nThen it snowed.", "body label body"),
        ("One fence is no block.\n\n```\nThis is prose about the river.", "body label body"),
        ("It says:\n\n    (a) The supplier may end the contract under it;", "heading body"),
        ("It says:\n\n    return to the office by noon (see below).", "heading body"),
        ("It says:\n\n    from the date of the contract. The seller pays.", "heading body"),
        ("It cost:\n\n    $5 million was paid to the seller.", "heading body"),
        ("A call:\n\n    value = f(1);\n    return value;\n    $ make all", "heading code code code"),
        ("From: Anna\nTo: Ben\nSubject: Works\n\nThe works will begin in May.", "label label label body"),
        (
            "*Corresponding author: a.marl@reed.example\n\nE-mail: <b@mill.example>\nThe dam held all winter.",
            "label label body",
        ),
        ("Write to the author: a.marl@reed.example has the data of all trials.", "body"),
        ("Related work on summaries has looked at news. We look at mails.", "body"),
        (
            "Sign up for news\nRelated articles\nAdvertisement\nIt rained on all three days in the mountains.",
            "label label label body",
        ),
        ("The com-\nmittee met because the well-\nknown dam had failed.", "body " * 3),
        ("- Milk (two litres)\n- Bread: one loaf\n- Tea\n", "list list label"),
        (
            "7\n00:00:01,000 --> 00:00:03,000\nWe wanted to leave\n\n8\n00:03.600 --> 00:06.200\nat noon",
            "label label body " * 2,
        ),
        ("Region  Q1   Q2\nNorth   10    5\nSouth    7   12\n\nIt  sold  well.", "code code code body"),
        (
            "The old bridge was rebuilt for\nthe  trucks  that  now  have to\ncross,    but   WITHOUT   ANY\n"
            "LIGHTS;  without  even   a path\non    either    side    of   it.",
            "body " * 5,
        ),
        (
            "10:15  anna   hello everybody, the meeting is about to start\n"
            "10:16  bob    I have read all of it and I think it is wrong",
            "body " * 2,
        ),
        (
            "The book was written by the famous\nA. Smith and his good friend\nB. Jones in the last year of\nthe war, "
            "when paper was scarce.",
            "body " * 4,
        ),
        ("Kinds of words:\na) sub-\nb) super-\nc) meta-", "heading list list list"),
        (
            "(c) 2019 was a good year for us.\n\nAll rights reserved by the charter are ours.\n\nEditing by Hand\n\n"
            "It is slow.",
            "body body heading body",
        ),
        ("Reporting by Ann Hill; Editing by Bob Low\n\nCopyright © 2021 Lake News Ltd.", "byline label"),
        ("Copyright law changed in 2019.\n\n(c) 2023 The Lake Press.\n\nAll rights reserved.", "body label label"),
        ("It closes in winter. The board has three wishes:\n\n- boats\n- buses", "body list list"),
        ("The board has three wishes:\n\n- boats\n- buses", "heading list list"),
        ("Dr. Low's wishes:\n\n- boats\n- buses", "heading list list"),
        (
            "The report of the town, which many had waited for, says what it heard from\n"
            "Anna Berg: the mill must close before the winter, because of the new law\n"
            "of the land. It also has the questions that many of them have raised by\n"
            "John Low: who pays, and who will tell the workers in the end, who asked\n"
            "once again that the town hears them, together with the friends of\n"
            "Anna Berg: this was refused.",
            "body " * 6,
        ),
        ("The mayor said on Monday that she had met Anna\nBerg and others in town.", "body body"),
        ("Good boots, because the path is steep\nA map\nWater for the day", "heading heading list"),
        ("- A flag, which prints every single step\n### Fixed\n- A crash", "body heading list"),
        (
            "England play Spain on Sunday evening in the south\nat Wembley (kick-off 19:45) and it is sold out.",
            "body body",
        ),
        ('It fails.\n\n  File "/srv/app.py", line 4, in open\n    at Mill.load (/srv/app.js:8:15)', "body code code"),
        ("It fell.\n\n¹ The mill is old and has stood for many years here.", "body list"),
        ("It fell.\n\n¹ The mill is old and stood here.\n² The dam is older than all of it.", "body list list"),
        ("It fell.\n\n¹³C spectra were recorded on a new machine in the mill.", "body body"),
        ("- 2 large eggs, beaten well with a fork\n- 1 large onion, peeled and halved with care", "list list"),
        ("- 3 people died in the fire on Monday night\n- The mill burned down to the last stone", "body body"),
        ("It fell.\n\n© 2024 by Lake Media. All rights reserved.\n\n(c) Copyright Lake News 2024.", "body label label"),
        ("My labor, and my leisure too,\nFor his civility.", "body body"),
        ("1. Heat the oven for half an hour\n2. Mix the flour with the eggs and milk", "body body"),
        (
            "Die Kommission trifft sich am Montag im alten\nRathaus. Danach gehen alle.\nhttps://example.org/"
            + "a" * 80,
            "body body label",
        ),
    ],
)
def test_kinds_of_lines(text, kinds):
    assert [line.kind for line in Layout(text).lines] == kinds.split()


def test_one_word_between_sentences_is_prose():
    text = "Jurors met for nine days. Guilty. The family wept. Reuters.\n\nVerdict.\n"
    parts = ("Jurors met", "Guilty.", "Reuters.", "Verdict.")
    spans = [(text.index(part), text.index(part) + len(part)) for part in parts]
    assert Layout(text).kinds(spans) == (BODY, BODY, "label", "label")


def test_lines_that_open_a_unit():
    text = "The list is short\nand dry.\n- soap\n- towels\nNext steps\n\nBuy it."
    assert [text[start:].split("\n")[0] for start in Layout(text).openings()][:2] == ["- soap", "- towels"]
    # A wrapped line is not a list item.
    wrapped = "The old bridge was closed for a week, and trucks took the\n7.5 km road around the lake, which was dry.\n"
    assert Layout(wrapped).openings() == []


@given(st.text(alphabet=st.sampled_from(list("aB1.:-•#|`\n\r\t ()[]\"'é\u2028")), max_size=80))
def test_any_text_has_a_layout(text):
    layout = Layout(text)
    assert all(text[line.start : line.end].strip() == text[line.start : line.end] != "" for line in layout.lines)
    assert all(line.start <= line.content <= line.end and line.kind in KINDS for line in layout.lines)
    spans = [(line.start, line.end) for line in layout.lines]
    labels = layout.labels(spans)
    assert all(-1 <= label < index for index, label in enumerate(labels))
    assert all(
        kind != BODY or has_content(text[start:end])
        for kind, (start, end) in zip(layout.kinds(spans), spans, strict=True)
    )
    Document(text)


@pytest.mark.parametrize(
    "part",
    ["-", "(", "[", "![a", "| a ", "A ", "Aa ", " [1]", "a\t", "1.2.", "Aa Bb Cc: ", "`", "```a", "a(", "a", "🎉", "¹"],
)
def test_no_line_takes_long(part):
    """Patterns that look ahead are bounded; patterns of quadratic time would take minutes on these lines."""
    text = part * 20_000 + "x"
    assert len(Layout(text).kinds([(0, len(text))])) == 1
    Layout(text).datelines()
    Layout(f"{part * 20_000}:\n\nIt rained.")
    assert len(Layout(f"Code:\n\n    {text}").lines) == 2


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"It fell.\n\nCopyright 2020 A{'.' * 40_000}!\n\nIt rose.", 3),
        (f"{'- ' * 100_000}x", 1),
        (f"{'[' * 290}x]({'y' * 290})" * 200, 1),
        (f"{'a ' * 40_000}\n{'[1] ' * 3}\n" + "[1]\n" * 20_000, 20_002),
    ],
    ids=["copyright", "bullets", "links", "citations"],
)
def test_no_layout_takes_long(text, lines):
    layout = Layout(text)
    assert len(layout.lines) == lines
    layout.markers()
    layout.kinds([(0, len(text))])


def test_time_does_not_double_with_each_author_or_image():
    authors = ", ".join(f"{letter}. Smith" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" * 4)
    kinds = [line.kind for line in Layout(f"By {authors} (2020)\n\n[{'![a](b)' * 200}\n\nIt rained.").lines]
    assert len(kinds) == 3


@pytest.mark.parametrize("line", ["A" + "-" * 100_000 + "x", "Posted " + ", " * 100_000 + "x", "B" + " ," * 100_000])
def test_long_lines_are_no_bylines_and_take_no_time(line):
    # Patterns of quadratic time would take hours.
    assert Layout(line).lines[0].kind != "byline"


def test_short_sentences_of_one_line_take_linear_time():
    part = "The old mill closed. Yes. "
    spans = [
        (start + own, start + own + size) for start in range(0, 26 * 20_000, 26) for own, size in ((0, 20), (21, 4))
    ]
    kinds = Layout(part * 20_000).kinds(spans)
    # Only the last "Yes." is not between two sentences.
    assert (kinds[:-1], kinds[-1]) == ((BODY,) * 39_999, LABEL)


def test_sentences_without_spaces_are_prose():
    text = "昨日市議会は新しい橋の建設を承認した。工事は来年の春に始まる。住民の多くは計画に反対している。"
    ends = [index + 1 for index, character in enumerate(text) if character == "。"]
    assert Layout(text).kinds(list(zip([0, *ends], ends, strict=False))) == (BODY,) * 3
    assert not has_content("橋")


def test_what_somebody_says_in_a_conversation_is_no_heading():
    turns = ["Anna: Is the bridge open yet?", "Ben: It opens in May.", "Anna: Who pays for the delay?", "Ben: They do."]
    layout = Layout("\n\n".join(turns * 2))
    assert layout.conversation
    assert {line.kind for line in layout.lines} == {BODY}


@pytest.mark.parametrize(
    "turns",
    [
        ["Özlem: Kommst du heute?", "Élodie: Ja, klar.", "Özlem: Gut."],
        [
            "12/03/2024, 10:15 - Anna Berg: Are you there?",
            "12/03/2024, 10:16 - Ben: Yes.",
            "12/03/2024, 10:18 - Ben: Hm.",
        ],
        ["[12.03.24, 10:20:01] Ben: Here I am.", "[12.03.24, 10:21:01] Ana: Good.", "[12.03.24, 10:22:01] Ben: Yes."],
        ["<anna> Are you there?", "<ben> Yes.", "<anna> Good."],
    ],
)
def test_turns_of_chats(turns):
    layout = Layout("\n".join(turns))
    assert layout.conversation
    assert [line.speaker for line in layout.lines] == [True] * 3


@pytest.mark.parametrize(
    "text",
    [
        "From: Anna\nTo: Ben\nSubject: Works\nDate: Monday\n\nThe works begin in May.\n\nThey end in June.",
        "Background: We studied rivers.\nMethods: We swam in them.\nResults: They are wet.",
        "<p> It rained.\n<p> It snowed.\n<p> It froze.",
    ],
)
def test_texts_with_labels_that_are_no_conversation(text):
    layout = Layout(text)
    assert not layout.conversation
    spans = [(line.start, line.end) for line in layout.lines]
    assert layout.labels(spans) == [-1] * len(spans)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blank_lines_may_hold_spaces(end):
    assert [line.blank for line in Layout(f"It rained.{end} \t{end}It snowed.{end}It froze.").lines] == [
        True,
        True,
        False,
    ]


def test_the_turns_of_a_log_without_full_stops():
    text = "Anna: the mill stood still and nobody had noticed\nBo: so it was for days\nAnna: then call the miller now"
    layout = Layout(text)
    assert layout.conversation and {text.index("Bo:"), text.rindex("Anna:")} <= {*layout.openings()}
