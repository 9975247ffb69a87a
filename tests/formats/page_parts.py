"""A small document, and what tests of pages read and press in a browser."""

from discsum.document import Document
from discsum.tree import Node, RSTTree

TEXTS = ["The mill stopped", "because the river rose.", "</script><b>Nobody", "was 'surprised'.", "Rain fell."]
TREE = RSTTree(
    5,
    [
        Node(0, 4, 3, "NN", "joint-list"),
        Node(0, 3, 1, "NS", "elaboration-additional", 0.5),
        Node(0, 1, 0, "NS", "causal-cause"),
        Node(2, 3, 2, "SN", "attribution-positive"),
    ],
)


def small():
    return Document.from_edu_texts(TEXTS, TREE, id="mill")


def rows(browser):
    """Return the texts of the drawing's rows from top to bottom."""
    return browser.execute_script(
        """return [...document.querySelectorAll("#drawing text:not(.number):not(.relation)")]
        .map((one) => [+one.getAttribute("y"), one.textContent]).sort((one, other) => one[0] - other[0])
        .map((one) => one[1])"""
    )


def relation(browser, name):
    return next(one for one in browser.find_elements("css selector", ".relation") if one.text == name)


def press(browser, key):
    browser.execute_script(
        "arguments[0].dispatchEvent(new KeyboardEvent('keydown', {key: arguments[1], bubbles: true}))",
        browser.find_element("id", "tree"),
        key,
    )


def active(browser):
    return browser.execute_script("return document.getElementById('active').getAttribute('aria-label')")
