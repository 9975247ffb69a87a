"""Pages in headless Chromium: clicks and keys do what they should, and no request is sent."""

import re
from itertools import pairwise

import numpy as np
import pytest
from format_cases import chain, numbered
from page_parts import TEXTS, active, press, relation, rows, small
from small_trees import document_of, random_tree

from discsum.formats.svg import draw
from discsum.tree import Node, RSTTree


def test_folding_by_click(opened):
    browser = opened(small())
    assert rows(browser) == TEXTS
    before = browser.execute_script("return document.getElementById('drawing').height.baseVal.value")
    label = next(
        one for one in browser.find_elements("css selector", ".relation") if one.text == "elaboration-additional"
    )
    label.click()
    # The folded node shows its most nuclear EDU.
    assert rows(browser) == ["▸ 4 EDUs: The mill stopped", "Rain fell."]
    after = browser.execute_script("return document.getElementById('drawing').height.baseVal.value")
    assert before - after == pytest.approx(3 * 37)
    browser.find_element("css selector", ".folded text:last-child").click()
    assert rows(browser) == TEXTS
    assert browser.execute_script("return document.getElementById('drawing').height.baseVal.value") == before


def test_unfolding_restores_the_drawing(opened):
    browser = opened(numbered(random_tree(60, 8)))
    drawing = "return [...document.querySelectorAll('#drawing > path, #drawing > text')].map((one) => one.outerHTML)"
    before = browser.execute_script(drawing)
    browser.find_element("id", "fold").click()
    assert len(rows(browser)) <= 12
    assert len(browser.execute_script(drawing)) < len(before) / 2
    browser.find_element("id", "unfold").click()
    assert browser.execute_script(drawing) == before


HEADS = """return [...document.querySelectorAll("#drawing > .head")].map((one) => one.getBBox().height)"""


def test_arrowheads_keep_their_shape_in_a_folded_drawing(opened):
    browser = opened(small())
    before = browser.execute_script(HEADS)
    assert len(before) == 3
    relation(browser, "causal-cause").click()
    assert browser.execute_script(HEADS) == pytest.approx([7.0] * 2)
    browser.find_element("id", "unfold").click()
    assert browser.execute_script(HEADS) == before == pytest.approx([7.0] * 3)


def test_folding_shows_more_than_a_root_of_many_children(opened):
    nodes = [Node(first, 39, first, "NN", "joint-list") for first in range(39)]
    browser = opened(numbered(RSTTree(40, nodes)))
    browser.find_element("id", "fold").click()
    assert len(rows(browser)) == 40


@pytest.mark.parametrize("side", ["left", "right", "both"])
def test_folded_rows_stay_in_order_and_apart(opened, side):
    browser = opened(numbered(chain(40, side)))
    for place in (5, 20, 2):
        browser.execute_script(
            "document.querySelector(`.relation[data-node='${arguments[0]}']`)"
            "?.dispatchEvent(new MouseEvent('click', {bubbles: true}))",
            place,
        )
        ys = browser.execute_script(
            "return [...document.querySelectorAll('#drawing .number')].map((one) => "
            "[+one.textContent, +one.getAttribute('y')]).sort((one, other) => one[0] - other[0])"
        )
        assert [round(after[1] - before[1]) for before, after in pairwise(ys)] == [37] * (len(ys) - 1)


def test_keys_move_and_fold(opened):
    browser = opened(small())
    press(browser, "ArrowDown")
    assert active(browser).startswith("joint-list")
    press(browser, "ArrowDown")
    assert active(browser).startswith("elaboration-additional: nucleus, then satellite, EDUs 1 to 4")
    press(browser, "ArrowLeft")
    assert rows(browser) == ["▸ 4 EDUs: The mill stopped", "Rain fell."]
    press(browser, "ArrowDown")
    assert active(browser).startswith("EDU 5")
    press(browser, "ArrowUp")
    press(browser, "ArrowRight")
    assert rows(browser) == TEXTS
    press(browser, "End")
    assert active(browser).startswith("EDU 5")
    press(browser, "ArrowLeft")
    assert active(browser).startswith("joint-list")
    width = "return document.getElementById('drawing').width.baseVal.value"
    before = browser.execute_script(width)
    press(browser, "+")
    assert browser.execute_script(width) == pytest.approx(1.2 * before)


def test_search_finds_text_across_edus_and_relations_and_unfolds(opened):
    browser = opened(small())
    press(browser, "Home")
    press(browser, "Enter")
    assert len(rows(browser)) == 1
    query, found = browser.find_element("id", "query"), browser.find_element("id", "found")
    for text, _expected, edus in (
        ("SURPRISED", "1 of 1", [3]),
        ("nobody was", "1 of 1", [2, 3]),
        ("attribution", "1 of 1", []),
    ):
        query.clear()
        query.send_keys(text, "\n")
        assert found.text == "1 of 1"
        hits = browser.execute_script(
            "return [...document.querySelectorAll('#text .hit')].map((one) => +one.dataset.edu)"
        )
        assert hits == edus
    assert rows(browser) == TEXTS
    query.clear()
    query.send_keys("no such words", "\n")
    assert found.text == "no matches"


def test_pointing_says_that_there_is_no_score(opened):
    from selenium.webdriver import ActionChains

    browser = opened(small(), unit="edu", most=np.nan)
    ActionChains(browser).move_to_element(browser.find_element("css selector", "#text [data-edu='0']")).perform()
    assert "no score, in the summary" in browser.find_element("id", "tip").text


def test_pointing_says_scores_and_marks_the_other_side(opened):
    from selenium.webdriver import ActionChains

    browser = opened(small(), unit="edu")
    edu = browser.find_element("css selector", "#text [data-edu='0']")
    assert edu.tag_name == "mark"
    ActionChains(browser).move_to_element(edu).perform()
    tip = browser.find_element("id", "tip").text
    assert "EDU 1, sentence 1" in tip
    assert "score 0.900, in the summary" in tip
    assert "nucleus in causal-cause" in tip
    label = next(
        one for one in browser.find_elements("css selector", ".relation") if one.text == "elaboration-additional"
    )
    ActionChains(browser).move_to_element(label).perform()
    assert "probability 0.50" in browser.find_element("id", "tip").text
    assert len(browser.find_elements("css selector", "#text .current")) == 4
    canvas = browser.find_element("css selector", "canvas")
    browser.execute_script("arguments[0].scrollIntoView()", canvas)
    ActionChains(browser).move_to_element(canvas).perform()
    assert "row: EDU 3\ncolumn: EDU 3\nweight " in browser.find_element("id", "tip").text


def test_heat_maps_are_drawn_for_edus_and_sentences_in_light_and_dark(opened):
    pixel = "const canvas = document.querySelector('canvas'); return [canvas.width, canvas.toDataURL()]"
    browser = opened(small())
    light = browser.execute_script(pixel)
    assert light[0] == 5
    browser.execute_script("document.querySelector('[value=sentence]').click()")
    assert browser.execute_script(pixel)[0] == 3
    assert browser.find_element("css selector", ".size").text.startswith("3 × 3")
    dark = opened(small(), dark=True).execute_script(pixel)
    assert dark != light


@pytest.mark.parametrize("width", [390, 1400])
def test_nothing_is_wider_than_the_window(opened, width):
    document = document_of([["word " * 5 + "x" * 300, "and " * 40 + "so."]] * 4, random_tree(8, 9), id="y" * 200)
    browser = opened(document, width=width, height=800)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def test_a_large_tree_opens_folded_and_is_drawn_where_it_is_unfolded(opened):
    document = numbered(random_tree(1500, 10))
    browser = opened(document)
    assert 20 < len(rows(browser)) <= 120
    assert browser.execute_script("return document.querySelectorAll('#text [data-edu]').length") == 1500
    query = browser.find_element("id", "query")
    query.send_keys("unit number 777.", "\n")
    assert "unit number 777." in rows(browser)
    assert browser.find_element("css selector", "#drawing .hit").text == "unit number 777."
    browser.find_element("id", "unfold").click()
    assert rows(browser) == list(document.edu_texts)
    # Elements are painted in document order: thick lines over thin ones, texts last.
    painted = browser.execute_script(
        """return [...document.querySelectorAll("#drawing > path, #drawing > text")]
        .map((one) => [one.tagName, one.dataset.edu ?? one.dataset.node ?? "", one.textContent])"""
    )
    pattern = re.compile('<([a-z]+)(?: class="[a-z ]+")?(?: data-(?:edu|node)="([0-9]+)")?[^>]*>(?:([^<]*)<)?')
    assert painted == [[part or "" for part in pattern.match(line).groups()] for line in draw(document).elements]


def test_panes_shrink_with_what_is_folded(opened):
    height = "return document.getElementById('tree').getBoundingClientRect().height"
    browser = opened(numbered(random_tree(60, 11)))
    before = browser.execute_script(height)
    press(browser, "Home")
    press(browser, "Enter")
    assert len(rows(browser)) == 1
    assert browser.execute_script(height) < 100 < before
