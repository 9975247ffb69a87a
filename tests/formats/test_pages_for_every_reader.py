"""Pages in headless Chromium: keys, screen readers, scripts of other directions and widths, paper."""

import re
from itertools import accumulate

import pytest
from format_cases import chain
from page_parts import active, press, relation, small
from small_trees import document_of, random_tree

from discsum.document import Document, Span


def test_keys_move_through_matrices_and_show_the_row(opened):
    from selenium.webdriver import ActionChains, Keys

    browser = opened(small())
    first, second, _ = browser.find_elements("css selector", "canvas")
    cell, tip = browser.find_element("id", "cell"), browser.find_element("id", "tip")

    def type_keys(*keys):
        ActionChains(browser).send_keys(*keys).perform()
        return cell.get_attribute("textContent")

    browser.execute_script("arguments[0].focus()", first)
    type_keys(Keys.TAB)
    assert browser.switch_to.active_element == second
    # The first key shows where the cell is.
    assert type_keys(Keys.ARROW_DOWN).startswith("row: EDU 1, column: EDU 1, weight 0.")
    assert type_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT).startswith("row: EDU 3, column: EDU 2,")
    assert tip.text.startswith("row: EDU 3\ncolumn: EDU 2\nweight 0.")
    frame, canvas = browser.find_element("css selector", ".cell").rect, second.rect
    side = canvas["width"] / 5
    assert (frame["x"] - canvas["x"], frame["y"] - canvas["y"]) == pytest.approx((side, 2 * side), abs=2)
    type_keys(Keys.ENTER)
    assert active(browser).startswith("EDU 3")
    ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.ARROW_RIGHT).key_up(Keys.SHIFT).perform()
    assert cell.get_attribute("textContent").startswith("row: EDU 3, column: EDU 5,")
    ActionChains(browser).move_to_element(second).click().perform()
    assert type_keys(Keys.ARROW_LEFT).startswith("row: EDU 3, column: EDU 2,")
    type_keys(Keys.TAB)
    assert not tip.is_displayed()
    assert browser.find_elements("css selector", ".cell") == []


def test_a_screen_reader_always_finds_an_item_of_the_tree(opened):
    browser = opened(small())
    tree = browser.find_element("id", "tree")
    assert tree.get_attribute("aria-activedescendant") == "active"
    assert active(browser).startswith("joint-list")
    press(browser, "End")
    assert active(browser).startswith("EDU 5")
    press(browser, "ArrowUp")
    assert active(browser).startswith("EDU 4")
    relation(browser, "elaboration-additional").click()
    assert browser.find_element("id", "active").get_attribute("aria-expanded") == "false"
    assert len(browser.find_elements("css selector", "[role=treeitem]")) == 1


@pytest.mark.parametrize("letter", ["\u6f22", "M", "\U0001f600", "i"])
def test_lines_of_folded_constituents_end_inside_the_drawing(opened, letter):
    browser = opened(Document.from_edu_texts([letter * 120, "ends."], chain(2, "left")))
    browser.find_element("css selector", ".relation").click()
    right, width, text = browser.execute_script(
        """const line = document.querySelector("#folds text:last-child"), box = line.getBBox();
        return [box.x + box.width, document.getElementById("drawing").viewBox.baseVal.width, line.textContent]"""
    )
    assert right <= width
    assert text.startswith(f"\u25b8 2 EDUs: {letter * 30}")
    assert text.endswith("\u2026")


def test_paragraphs_have_their_own_direction_of_writing(opened):
    parts = ["\u05e9\u05dc\u05d5\u05dd.\n", "Rain fell, ", "so it rose.\n", "\u05d6\u05d4 2."]
    ends = [*accumulate(map(len, parts))]
    edus = [Span(end - len(part), end - len(part) + len(part.strip())) for part, end in zip(parts, ends, strict=True)]
    sentences = [edus[0], Span(edus[1].start, edus[2].end), edus[3]]
    browser = opened(Document.from_spans("".join(parts), sentences, edus))
    directions = "return [...document.querySelectorAll('.paragraph')].map((one) => getComputedStyle(one).direction)"
    assert browser.execute_script(directions) == ["rtl", "ltr", "rtl"]
    first, second = (browser.find_element("css selector", f"#text [data-edu='{edu}']").rect for edu in (1, 2))
    assert first["x"] < second["x"]


@pytest.mark.parametrize(
    "edus",
    [
        ("It rained,", "it poured,", "it hailed."),
        ("\u05d9\u05e8\u05d3", "\u05d2\u05e9\u05dd", "\u05d5\u05e9\u05dc\u05d2."),
    ],
)
def test_no_other_colour_between_marked_edus_of_a_sentence(opened, edus):
    browser = opened(document_of([edus], random_tree(3, 1)))
    press(browser, "Home")
    gaps = browser.execute_script(
        """return [...document.querySelectorAll("#text .current:has(+ .current)")].map((one) => {
          const [edu, next] = [one, one.nextElementSibling].map((edu) => edu.getBoundingClientRect());
          const gap = next.left > edu.left ? next.left - edu.right : next.right - edu.left;
          return [gap, getComputedStyle(one).boxShadow];
        })"""
    )
    assert len(gaps) == 2
    for gap, shadows in gaps:
        [reach] = (float(one) for one in re.findall(r"(-?[0-9.]+)px 0px 0px 0px", shadows) if float(one))
        assert reach / gap >= 1


def test_paper_is_white(opened):
    browser = opened(small())
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    colour = "return getComputedStyle(document.body).backgroundColor"
    assert browser.execute_script(colour) == "rgb(255, 255, 255)"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
