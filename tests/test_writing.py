"""Writing systems: beginnings of words, ends of sentences, and joining units. The texts are made up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discsum.dependency import same_unit_groups
from discsum.document import Document
from discsum.tree import Node, RSTTree, is_same_unit, relation_class
from discsum.writing import count_words, ends_sentence, is_inside_word, is_unspaced, join_units


@pytest.mark.parametrize(
    "text",
    [
        "It rained.",
        "Really?!",
        "»Nein!«",
        "„Nein.“",
        "雨停了。",
        "「雨停了。」",
        "走吗？",
        "هل أمطرت؟",
        "بارش ہوئی۔",
        "बारिश हुई।",
        "Անձրևեց։",
        "ភ្លៀង។",
        "Wait… )",
        "It rained! 😀👍🏽",
        "It rained.[1]",
        "“It rained.” [12][3]",
        "It rained.¹",
        "雨停了。\u200f",
        "Βρέχει;",
        "Βρέχει\u037e",
    ],
)
def test_what_ends_a_sentence(text):
    assert ends_sentence(text) and not ends_sentence(text + " and")


@pytest.mark.parametrize(
    "text",
    ["", " ", "When it rained,", "雨停了，", "أمطرت،", "(so", "see [1]", "rain 😀", "It rained;", "α and β;", "5 Ω;"],
)
def test_what_does_not_end_one(text):
    assert not ends_sentence(text)


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("ab c1", "ac"),
        ("don't", "d't"),
        ("雨停了", "雨停了"),
        # A vowel sign belongs to the letter before it, and the letter after it is in the same word.
        ("कि ताब", "कत"),
        ("किताब", "क"),
        ("cafe\u0301s", "c"),
        # A zero-width non-joiner inside a word.
        ("می\u200cروم", "م"),
        ("ที่", "ท"),
        # Emoji of several characters.
        ("a👩\u200d👩 b", "a👩b"),
        ("❤\ufe0f a", "❤a"),
    ],
)
def test_where_words_begin(text, begins):
    found = "".join(text[place] for place in range(len(text)) if not is_inside_word(text, place))
    assert found.replace(" ", "") == begins


def test_units_of_scripts_without_spaces_are_joined_without():
    assert join_units(["雨停了，", "我们回家。"])[0] == "雨停了，我们回家。"
    assert join_units(["雨 停 了", "我们 回 家"])[0] == "雨 停 了 我们 回 家"
    assert join_units(["Als es regnete,", "gingen wir."])[0] == "Als es regnete, gingen wir."
    assert join_units(["雨停了", "and we left"])[0] == "雨停了 and we left"
    for texts in (["升到5", "3天后停。"], ["见图2.", "3天后停。"], ["有1,000", "2019年停。"]):
        assert join_units(texts)[0] == " ".join(texts)
    # Quotes and numbers are those of the letters beside them.
    assert join_units(["他说：", "“走吧。”", "2019年下雨", "IBM"])[0] == "他说：“走吧。”2019年下雨 IBM"
    assert join_units(["He said:", "“2019”", "雨"])[0] == "He said: “2019”雨"
    document = Document.from_edu_texts(["因为下雨，", "我们回家。", "天黑了"])
    assert (document.text, document.sentence_texts) == (
        "因为下雨，我们回家。天黑了",
        ("因为下雨，我们回家。", "天黑了"),
    )


@given(st.lists(st.text(min_size=1).map(str.strip).filter(bool), min_size=1, max_size=5))
def test_joined_units_keep_their_texts(texts):
    joined, ranges = join_units(texts)
    assert [joined[first:last] for first, last in ranges] == texts
    assert "".join(joined.split()) == "".join("".join(texts).split())
    for character in joined:
        is_unspaced(character)


@given(st.text() | st.text("ab 雨停9“。-\n", max_size=20))
def test_words_are_counted_like_tokens_unless_they_are_not_spaced(text):
    letters = sum(character.isalnum() and is_unspaced(character) for character in text)
    without = "".join(" " if is_unspaced(character) else character for character in text)
    tokens = [token for token in without.split() if any(map(str.isalnum, token))]
    if not any(map(is_unspaced, text)):
        assert count_words(text) == len(text.split())
    else:
        assert len(tokens) + letters <= count_words(text) <= len(text.split()) + len(tokens) + letters


def test_counted_words():
    texts = ("", "It rained -- 3.5 cm.", "雨停了。", "在IBM工作 3.5 年 --", "price ５００ yen")
    assert [*map(count_words, texts)] == [0, 5, 3, 7, 3]


@pytest.mark.parametrize("relation", ["same-unit", "Same-Unit", "sameunit", "same_unit", "Same Unit"])
def test_same_unit_under_the_names_of_several_treebanks(relation):
    assert is_same_unit(relation) and relation_class(relation) == relation
    nodes = [Node(0, 2, 1, "NN", relation), Node(0, 1, 0, "NS", "elaboration")]
    assert same_unit_groups(RSTTree(3, nodes)).tolist() == [0, 1, 0]
    assert not is_same_unit("same-result")
