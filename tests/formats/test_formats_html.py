import json
import math
import re
from base64 import b64decode, b64encode
from dataclasses import replace
from hashlib import sha256

import html5lib
import numpy as np
import pytest
from format_cases import EDU_TEXTS, chain, documents, numbered
from hypothesis import given, settings
from hypothesis import strategies as st
from small_trees import document_of, random_tree

import discsum
from discsum.document import Document, Span
from discsum.erst import ERST, SecondaryEdge, Signal
from discsum.formats import _heat_maps, _preview, dump
from discsum.formats._heat_maps import heat_maps
from discsum.formats._marked_text import displayable, heat, marked_text
from discsum.formats.html import Listed, index, page
from discsum.formats.svg import draw
from discsum.priors import c_tree, c_tree_nuc, d_tree, project_to_sentences
from discsum.summary import Summary
from discsum.tree import Node, RSTTree

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"'`&amp; {{ 7 * 7 }} {% raw %}",
    "<!-- ]]> --> </textarea></svg></template></style>",
    "אבג \u202eשלום\u202c",
    "👩‍🚒 fire",
    "null\x00 and \ud800",
    "last\u2028line.",
]


def parsed(content):
    """Parse a page as a browser does; lone surrogates are replaced, as in files."""
    return html5lib.parse(content.encode("utf-8", "replace").decode(), namespaceHTMLElements=False)


def texts_of(element):
    return "".join(element.itertext())


def text_of_page(content):
    (text,) = (one for one in parsed(content).iter("div") if one.get("id") == "text")
    return text


def summary_of(document, unit="sentence"):
    count = len(document.units(unit))
    return Summary.from_indices(document, unit, "lead", np.linspace(1, 0, count), range(min(2, count)))


def tags(root):
    return {(one.tag, name) for one in root.iter() if isinstance(one.tag, str) for name in (*one.attrib, "")}


@pytest.mark.parametrize("unit", ["sentence", "edu"])
def test_nothing_of_a_document_becomes_an_element_an_attribute_or_a_script(unit):
    hostile = Document.from_edu_texts(HOSTILE, random_tree(8, 1), id=HOSTILE[0], parser=HOSTILE[1])
    harmless = Document.from_edu_texts(["word"] * 7 + ["word."], random_tree(8, 1), id="id", parser="parser")
    pages = [page(one, summary_of(one, unit), [("options", one.id)]) for one in (hostile, harmless)]
    assert tags(parsed(pages[0])) == tags(parsed(pages[1]))
    roots = [parsed(content) for content in pages]
    for tag in ("script", "style", "img", "svg", "template", "mark"):
        assert len([*roots[0].iter(tag)]) == len([*roots[1].iter(tag)]), tag
    shown = re.sub(r"\s+", " ", texts_of(text_of_page(pages[0])))
    assert shown.strip() == re.sub(r"\s+", " ", displayable(hostile.text).replace("\ud800", "?")).strip()
    assert "alert(1)" not in "".join(texts_of(one) for one in roots[0].iter("script") if not one.get("type"))


@given(document=documents())
@settings(max_examples=40, deadline=None)
def test_pages_of_arbitrary_texts_hold_the_whole_text_once(document):
    content = page(document, summary_of(document, "edu"))
    text = text_of_page(content)
    expected = displayable(document.text).encode("utf-8", "replace").decode().replace("\r\n", "\n").replace("\r", "\n")
    # Blank lines become paragraph breaks; all other characters are kept.
    assert texts_of(text).replace("\n", "") == expected.replace("\n", "")
    assert {int(one.get("data-edu")) for one in text.iter() if one.get("data-edu")} == set(range(len(document.edus)))
    assert len([one for one in text.iter("mark")]) >= min(2, len(document.edus))
    data = json.loads(next(texts_of(one) for one in parsed(content).iter("script") if one.get("id") == "data"))
    assert data["edus"] == len(document.edus)


def test_the_policy_allows_this_script_and_style_and_nothing_else():
    content = dump(numbered(random_tree(5, 2)), "html")
    root = parsed(content)
    (policy,) = (one.get("content") for one in root.iter("meta") if one.get("http-equiv"))
    (style,) = (texts_of(one) for one in root.iter("style"))
    (script,) = (texts_of(one) for one in root.iter("script") if not one.get("type"))
    for name, inline in (("style-src", style), ("script-src", script)):
        assert f"{name} 'sha256-{b64encode(sha256(inline.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none';")
    attributes = {name for one in root.iter() for name in one.attrib}
    assert not [name for name in attributes if name.startswith("on") or name in ("src", "style", "href")]
    assert "http:" not in content.replace("http://www.w3.org/2000/svg", "")
    assert "https:" not in content


def test_a_page_says_what_made_it():
    document = numbered(random_tree(5, 2)).with_id("mill")
    content = page(document, summary_of(document), [("options", "unit:sentence|units:2")])
    root = parsed(content)
    rows = [[texts_of(one) for one in row] for row in next(root.iter("dl"))]
    assert rows[:2] == [["model", "lead"], ["options", "unit:sentence|units:2"]]
    assert rows[2][0] == "made with"
    assert texts_of(next(root.iter("h1"))) == "mill"
    assert texts_of(next(root.iter("h2"))).startswith("Summary")


def test_the_tree_is_the_drawing_of_svg_and_its_structure():
    document = numbered(random_tree(30, 3))
    root = parsed(dump(document, "html"))
    drawing = next(one for one in root.iter() if one.get("id") == "drawing")
    data = data_of(document)["tree"]
    relations = [one for one in drawing.iter() if "relation" in one.get("class", "").split()]
    assert len(relations) == 29
    for one in relations:
        relation, nuclearity, children = data["nodes"][int(one.get("data-node"))]
        assert texts_of(one) == data["relations"][relation]
        assert len(children) >= 2
        assert ("n" in one.get("class").split()) == (nuclearity == "NN")
    children = sorted(child for _, _, found in data["nodes"] for child in found)
    assert children == [place for place in range(30 + len(data["nodes"])) if place != 30]
    assert len(data["tops"]) == 31
    assert len(data["lines"]) == len(data["nodes"])


def test_the_drawing_of_a_large_tree_waits_as_text():
    def waiting(document):
        return [texts_of(one) for one in parsed(dump(document, "html")).iter("script") if one.get("id") == "waiting"]

    assert waiting(numbered(chain(300, "both"))) == []
    hostile = Document.from_edu_texts([*HOSTILE, *["word"] * 292, "word."], chain(301, "both"))
    (lines,) = waiting(hostile)
    assert lines.split("\n") == [displayable(line).replace("\ud800", "?") for line in draw(hostile).elements]
    assert all(re.fullmatch("<(path|text) [^<>]*(/>|>[^<>]*</text>)", line) for line in lines.split("\n"))


def test_documents_without_tree_sentences_or_text_have_pages():
    for document in (Document(""), Document("Some text."), document_of([["One,", "two."], ["Three."]])):
        content = page(document, Summary(document, "sentence", "lead", (0.0,) * len(document.sentences), ()))
        assert texts_of(text_of_page(content)).strip() == document.text
        assert not [one for one in parsed(content).iter() if one.get("id") in ("tree", "maps")]


def test_sentences_and_edus_that_cross_are_shown_in_pieces():
    text = "One two three. Four five."
    document = Document.from_spans(text, [Span(0, 14), Span(15, 25)], [Span(0, 19), Span(20, 25)])
    text = html5lib.parseFragment(marked_text(document), namespaceHTMLElements=False)
    found = [(one.get("data-edu"), texts_of(one)) for one in text.iter("span") if one.get("data-edu")]
    assert found == [("0", "One two three."), ("0", "Four"), ("1", "five.")]


def data_of(document, summary=None):
    content = page(document, summary)
    data = next(texts_of(one) for one in parsed(content).iter("script") if one.get("id") == "data")
    # A browser's JSON parser rejects NaN.
    return json.loads(data, parse_constant=pytest.fail)


def test_scores_that_are_no_numbers_are_null():
    document = document_of([["Rain fell."], ["Snow fell."], ["Hail fell."], ["All thawed."]], random_tree(4, 1))
    scores = [float("nan"), float("-inf"), float("inf"), 0.25]
    summary = Summary.from_indices(document, "sentence", "lead", scores, [0])
    assert data_of(document, summary)["summary"]["scores"] == [None, None, None, 0.25]


def test_secondary_edges_and_signals_are_said_of_their_places():
    nodes = [Node(0, 3, 0, "NN", "joint-list"), Node(1, 3, 2, "NN", "joint-list"), Node(1, 2, 1, "NS", "purpose-goal")]
    edges = (SecondaryEdge((0, 0), (1, 2), "causal-cause"),)
    signals = (
        Signal(None, 0, "dm", "dm", "3"),
        Signal((3, 3), None, "lexical", "word", "1,7,99"),
        Signal((3, 3), None, "graphical"),
        Signal((1, 3), None, "semantic"),
    )
    document = replace(numbered(RSTTree(4, nodes)), erst=ERST(edges, signals))
    assert document.text.split()[:7] == ["unit", "number", "0.", "unit", "number", "1.", "unit"]
    # Nodes 0 and 1 form one list (4), which also has the notes of node 1 over EDUs 2 to 4.
    assert data_of(document)["tree"]["notes"] == {
        "0": ["secondary: causal-cause to EDUs 2 to 3; signal: dm (0.)"],
        "3": ["signal: lexical, word (unit unit); signal: graphical"],
        "4": ["signal: semantic"],
        "5": ["secondary: causal-cause from EDU 1; signal: dm (0.)"],
    }


@pytest.mark.parametrize("joined", [True, False])
def test_lists_in_lists_are_drawn_as_the_file_has_them(joined):
    nodes = [Node(0, 2, 0, "NN", "joint-list"), Node(1, 2, 1, "NN", "joint-list", joined=joined)]
    places = [children for _, _, children in data_of(numbered(RSTTree(3, nodes)))["tree"]["nodes"]]
    assert places == ([[0, 1, 2]] if joined else [[0, 4], [1, 2]])


@pytest.mark.parametrize("edus", [1, 7, 100])
def test_heat_maps_are_the_priors(edus):
    tree = random_tree(edus, 4)
    document = document_of([[f"a{edu}", f"b{edu}"] for edu in range(edus // 2)] + [["c"]] * (edus % 2), tree)
    images = {(one["name"], one["unit"]): one for one in heat_maps(document)}
    sentence, count = document.edu_to_sentence, len(document.sentences)
    for name, matrix in (
        ("D-Tree", d_tree(tree, sentence)),
        ("C-Tree", c_tree(tree)),
        ("C-Tree w/Nuc", c_tree_nuc(tree)),
    ):
        for unit, expected in (("edu", matrix), ("sentence", project_to_sentences(matrix, sentence, count))):
            image = images[name, unit]
            assert image["block"] == 1
            assert (image["least"], image["most"]) == pytest.approx(
                (expected[expected > 0].min(), expected.max()), rel=1e-5
            )
            np.testing.assert_allclose(weights_of(image), expected, rtol=half_a_step(image))


def weights_of(image):
    """Decode the weights of an image as the page's script does."""
    cells = np.frombuffer(b64decode(image["cells"]), dtype=np.uint8).astype(float)
    weights = image["least"] * (image["most"] / image["least"]) ** ((cells - 1) / 254)
    side = -(-image["units"] // image["block"])
    return np.where(cells > 0, weights, 0).reshape(side, side)


def half_a_step(image):
    return (image["most"] / image["least"]) ** (0.5 / 254) - 1 + 1e-5


def test_large_matrices_are_shown_by_means_of_blocks_and_very_large_ones_not_at_all(monkeypatch):
    document = numbered(random_tree(601, 5))
    image = heat_maps(document)[2]
    weights = weights_of(image)
    matrix = c_tree(document.tree)
    assert (image["name"], image["block"]) == ("C-Tree", 3)
    for row, column in ((0, 0), (10, 150), (200, 200), (200, 3)):
        mean = matrix[3 * row : 3 * row + 3, 3 * column : 3 * column + 3].mean()
        assert weights[row, column] == pytest.approx(mean, rel=half_a_step(image))
    monkeypatch.setattr(_heat_maps, "MOST_EDUS", 600)
    assert heat_maps(document) == []
    assert "Left out: the document has more than" in dump(document, "html")


@given(scores=st.lists(st.floats(), max_size=9))
def test_the_scale_goes_from_the_least_to_the_greatest(scores):
    steps = heat(scores)
    assert len(steps) == len(scores)
    assert all(0 <= step <= 9 for step in steps)


def test_scale():
    assert heat([0.0, 0.5, 1.0, 0.25]) == [0, 5, 9, 2]
    assert heat([3.0, 3.0]) == [0, 0]
    assert heat([-3.0, -1.0, -math.inf, math.inf, math.nan]) == [0, 9, 0, 9, 0]


def test_the_list_of_pages_is_escaped():
    document = Document.from_edu_texts(["Some text."])
    hostile = replace(Document.from_edu_texts(HOSTILE[1:2]), id=HOSTILE[0], warnings=(HOSTILE[3],))
    two = document_of([["Rain fell,"], ["Snow fell,"]], random_tree(2, 1), id="two")
    summaries = [
        Summary.from_indices(one, "edu", "lead", [1.0] * len(one.edus), [*range(len(one.edus))])
        for one in (hostile, document, two)
    ]
    names = ("a b#?.html", "c.html", "two.html")
    content = index([Listed.of(name, one) for name, one in zip(names, summaries, strict=True)])
    root = parsed(content)
    assert texts_of(next(root.iter("h1"))) == "Summaries of 3 documents"
    assert [one.get("href") for one in root.iter("a")] == ["a%20b%23%3F.html", "c.html", "two.html"]
    assert [texts_of(one) for one in root.iter("a")] == [HOSTILE[0], "c.html", "two"]
    # As in the pages, EDUs of several sentences do not run together.
    assert [texts_of(one) for one in root.iter("p")] == [
        HOSTILE[3],
        HOSTILE[1],
        "Some text.",
        "Rain fell,",
        "Snow fell,",
    ]
    assert not [*root.iter("img"), *root.iter("script")]


def test_a_page_shows_the_warnings_of_its_document():
    document = replace(numbered(random_tree(5, 2)), warnings=("expected English", HOSTILE[0]))
    shown = [texts_of(one) for one in parsed(page(document)).iter("p") if one.get("class") == "warning"]
    assert shown == ["expected English", HOSTILE[0]]
    assert 'class="warning' not in page(numbered(random_tree(5, 2)))


@given(texts=st.lists(EDU_TEXTS, min_size=1, max_size=6))
@settings(max_examples=30, deadline=None)
def test_notebooks_show_one_line_and_a_piece_of_html(texts):
    document = Document.from_edu_texts(texts, random_tree(len(texts), 6), id="a 'name'\n")
    for value in (document, document.tree, summary_of(document), summary_of(document, "edu")):
        assert len(repr(value).splitlines()) == 1
        root = html5lib.parseFragment(
            value._repr_html_().encode("utf-8", "replace").decode(), namespaceHTMLElements=False
        )
        found = {one.tag for one in root.iter()} - {"DOCUMENT_FRAGMENT"}
        assert found <= {"div", "code", "img", "span", "mark"}
    assert str(summary_of(document)) == summary_of(document).text


def test_notebooks_show_the_beginning_of_large_documents_and_say_so():
    document = numbered(random_tree(3000, 7))
    assert "the tree of the first 200 EDUs" in document._repr_html_()
    assert "the tree of the first 200 EDUs" in document.tree._repr_html_()
    assert max(map(len, (document._repr_html_(), document.tree._repr_html_()))) < 200_000
    long = document_of([[f"word {'and more ' * 30}."]] * 400)
    shown = summary_of(long)._repr_html_()
    assert len(shown) < 2 * _preview.MOST_CHARACTERS
    assert "2 of 400 sentences" in shown
    assert re.search(r"the first [\d,]+ of 110,799 characters", shown)
    assert Document("")._repr_html_()
    assert repr(document) == "Document(id='', sentences=3000, edus=3000, parser='')"


def test_the_query_of_a_summary_is_shown():
    asked = discsum.summarize("Rain fell. The otters <slept>.", model="lead", units=1, query='"otters" & <rain>')
    heading = page(asked.document, asked)
    assert "for “&#34;otters&#34; &amp; &lt;rain&gt;”" in heading
