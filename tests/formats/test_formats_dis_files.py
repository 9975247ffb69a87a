"""dis: spans that contradict their leaves, paragraphs, brackets in texts, several trees in a file."""

import nltk
import pytest

from discsum.document import Document
from discsum.errors import FormatError, FormatWarning, InputError
from discsum.formats import dump, load, load_all, read_tree, read_trees
from discsum.tree import Node, RSTTree

ONE = """( Root (span {span})
  ( Nucleus (leaf 1) (rel2par span) (text _!The mill stood still{end}_!) )
  ( Satellite (leaf 2) (rel2par reason) (text _!because the river (the old one) was dry._!) )
)
"""


def test_the_leaves_decide():
    with pytest.warns(FormatWarning) as caught:
        document = load(ONE.format(span="1 7", end=""), "dis", source="story")
    assert [str(warning.message) for warning in caught] == [
        "story:1: Root (span 1 7): expected the span of its leaves, 1 2; the leaves decide"
    ]
    assert document.tree == load(ONE.format(span="1 2", end=""), "dis").tree


def test_one_warning_for_a_file():
    content = """( Root (span 1 9)
      ( Nucleus (span 3 4) (rel2par span)
        ( Nucleus (leaf 1) (rel2par span) (text _!one_!) )
        ( Satellite (leaf 2) (rel2par reason) (text _!two_!) ) )
      ( Satellite (leaf 3) (rel2par reason) (text _!three_!) ) )"""
    with pytest.warns(
        FormatWarning, match=r"Nucleus \(span 3 4\).*, 1 2, and 1 more like it; the leaves decide"
    ) as caught:
        load(content, "dis")
    assert len(caught) == 1


@pytest.mark.parametrize("end", ["<P>", " <P> ", "<P>\n"])
def test_paragraphs(end):
    document = load(ONE.format(span="1 2", end=end), "dis")
    assert document.text == "The mill stood still\n\nbecause the river (the old one) was dry."
    assert document.sentence_texts == ("The mill stood still", "because the river (the old one) was dry.")
    assert document.layout[0] == "heading"
    assert load(document.to_dis(), "dis").text == document.text
    whole = load(ONE.format(span="1 2", end=""), "dis")
    assert (len(whole.sentences), whole.text.count("\n")) == (1, 0)


def test_paragraph_ends_in_python():
    document = Document.from_edu_texts(
        ["One", "two", "three"],
        RSTTree(3, [Node(0, 2, 0, "NN", "joint-list"), Node(1, 2, 1, "NN", "joint-list")]),
        paragraph_ends={0, 2},
    )
    assert document.text == "One\n\ntwo three"
    assert document.sentence_texts == ("One", "two three")


def test_brackets_for_other_readers():
    document = load(ONE.format(span="1 2", end=""), "dis")
    content = document.to_dis(brackets=True)
    assert "because the river -LRB-the old one-RRB- was dry." in content
    assert nltk.Tree.fromstring(content).label() == "Root"
    assert content.replace("-LRB-", "(").replace("-RRB-", ")") == document.to_dis()
    # NLTK reads a bracket in a text as part of the tree.
    smiling = load(ONE.format(span="1 2", end=" :)"), "dis")
    with pytest.raises(ValueError, match=r"expected .end-of-string."):
        nltk.Tree.fromstring(smiling.to_dis())
    assert nltk.Tree.fromstring(smiling.to_dis(brackets=True)).label() == "Root"
    with pytest.raises(
        InputError, match="brackets: expected a format whose brackets can be escaped, such as dis, got 'rs3'"
    ):
        dump(document, "rs3", brackets=True)


def test_several_trees(tmp_path):
    content = ONE.format(span="1 2", end="") + "\n" + ONE.format(span="1 2", end="<P>")
    path = tmp_path / "story.dis"
    path.write_text(content)
    first, second = read_trees(path)
    assert (first.id, second.id) == ("story-1", "story-2")
    assert (len(first.sentences), len(second.sentences)) == (1, 2)
    assert [document.parser for document in load_all(content, "dis")] == ["dis", "dis"]
    with pytest.raises(FormatError, match=r"story.dis:6: expected one tree, got more after it; `read_trees` and"):
        read_tree(path)
    with pytest.raises(FormatError, match=r"story:5: expected \( Root after the tree, got '\)'"):
        load_all(ONE.format(span="1 2", end="") + ")", "dis", source="story")
    path.write_text(ONE.format(span="1 2", end=""))
    assert [document.id for document in read_trees(path)] == ["story"]


def test_a_warning_is_of_the_tree_that_it_is_about(tmp_path):
    path = tmp_path / "story.dis"
    path.write_text("".join(ONE.format(span=span, end="") for span in ("1 2", "1 7", "1 8")))
    with pytest.warns(FormatWarning) as caught:
        documents = read_trees(path)
    assert [document.warnings for document in documents] == [(), *((str(one.message),) for one in caught)]
    assert ["span 1 7" in str(one.message) for one in caught] == [True, False]


def test_formats_of_one_document():
    content = load(ONE.format(span="1 2", end=""), "dis").to_rs3()
    assert load_all(content, "rs3") == [load(content, "rs3")]


PAIR = """( Root (span 1 2) {}
  ( Nucleus (leaf 1) (rel2par {}) (text _!It rained_!) )
  ( {} (leaf 2) (rel2par {}) (text _!all day._!) ) )"""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            PAIR.format("", "list", "Nucleus", "sequence"),
            "expected nuclei of one relation, got list, sequence; that of",
        ),
        (
            "( Root (span 1 3)"
            + "".join(
                f" ( Nucleus (leaf {leaf}) (rel2par {relation}) (text _!It rained._!) )"
                for leaf, relation in enumerate(["list", "joint", "list"], start=1)
            )
            + " )",
            "got joint, list; they are nested where it changes, and that of the last nucleus is lost",
        ),
        (
            PAIR.format("", "list", "Satellite", "cause"),
            "expected .rel2par span. on its only Nucleus, got 'list', which",
        ),
    ],
)
def test_relations_that_the_tree_cannot_hold(content, message):
    with pytest.warns(FormatWarning, match=message):
        load(content, "dis")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (PAIR.format("(span 1 2)", "span", "Satellite", "cause"), "Root .span 1 2.: expected .span …. once"),
        (PAIR.format("", "span) (rel2par x", "Satellite", "cause"), "expected .rel2par …. once"),
        (PAIR.format("", "span) (leaf 3", "Satellite", "cause"), "expected .leaf …. once"),
        (PAIR.format("", "span) (text _!It_!", "Satellite", "cause"), "expected .text …. once"),
        (PAIR.format("(text _!lost_!)", "span", "Satellite", "cause"), "expected .leaf …. beside the text 'lost'"),
        (PAIR.format("( Root (leaf 1) (text _!a_!) )", "span", "Satellite", "cause"), "expected Nucleus or Satellite"),
    ],
)
def test_no_part_of_a_bracket_is_lost(content, message):
    with pytest.raises(FormatError, match=message):
        load(content, "dis")
