"""PDTB-style relations as a second task of a parser's training."""

import numpy as np
import pytest
import small_treebank

from discsum.errors import InputError, InputWarning
from discsum.parsers.training import pdtb
from discsum.parsers.training.augment import restrict
from discsum.parsers.training.examples import make_example, restrict_to_predicted
from discsum.parsers.training.pdtb import SenseNodes, read_senses
from discsum.parsers.treebank import read_gum

HEADER = "doc\tunit1_toks\tunit2_toks\tdir\torig_label\n"
WORDS = ["When", "the", "river", "rose", ",", "the", "miller", "stopped", "the", "wheel.", "He", "said", "that", "the"]
WORDS += ["stones", "were", "old."]


@pytest.fixture
def mill(tmp_path, monkeypatch):
    """The treebank with the tokens of one document, and a folder for its relations."""
    small_treebank.write(tmp_path / "gum")
    path = tmp_path / "gum" / "dep" / "mill.conllu"
    rows = "".join(f"{number}\t{word}\t_\n" for number, word in enumerate(WORDS, start=1))
    lines = [line for line in path.read_text().splitlines() if line.startswith("#")]
    # A word of two tokens has a line of its own, which does not count.
    path.write_text("\n".join([*lines, "1-2\tWhenthe\t_"]) + "\n" + rows)
    (tmp_path / "rels").mkdir()
    monkeypatch.setattr(pdtb, "RARE", 1)
    return tmp_path


def relations(mill, *rows):
    (mill / "rels" / "mill.rels").write_text(HEADER + "".join(f"mill\t{row}\n" for row in rows))
    documents = [document for document in read_gum(mill / "gum", "train") if document.id == "mill"]
    return read_senses(mill / "rels", mill / "gum", documents)


def test_arguments_become_runs_of_edus(mill):
    found, names = relations(
        mill,
        "1-5\t6-10\t1<2\tcause.reason",
        "6-8\t11-12,14\t1<2\tcause.result",
        # The second argument stands first.
        "13-17\t11-12\t1>2\tattribution",
        # Not adjacent, and one in the other.
        "1-5\t11-12\t1<2\tcause.result",
        "1-10\t6-10\t1<2\tcause.result",
    )
    assert names == ["attribution 1>2", "cause.reason 1<2", "cause.result 1<2"]
    assert found["mill"].nodes.tolist() == [[0, 1, 0], [1, 3, 1], [2, 3, 2]]
    assert found["mill"].senses.tolist() == [1, 2, 0]


def test_rare_senses_are_left_out(mill, monkeypatch):
    monkeypatch.setattr(pdtb, "RARE", 2)
    found, names = relations(mill, "1-5\t6-10\t1<2\ta", "6-10\t11-12\t1<2\ta", "11-12\t13-17\t1<2\tb")
    assert names == ["a 1<2"]
    assert len(found["mill"].nodes) == 2
    with pytest.raises(InputError, match="pdtb: expected a sense with at least 2 relations"):
        relations(mill, "1-5\t6-10\t1<2\ta")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "1-5\t6-99\t1<2\ta",
            r"mill\.rels:2: expected numbers of the document's 17 tokens, as 3-8,12, got '1-5' and '6-",
        ),
        ("1-5\tx\t1<2\ta", r"mill\.rels:2: expected numbers"),
        ("0-5\t6\t1<2\ta", r"mill\.rels:2: expected numbers"),
        ("1-5\t6-7\t1<2\t", r"mill\.rels:2: expected the columns .*, found no orig_label"),
    ],
)
def test_files_that_are_none_are_named(mill, row, message):
    with pytest.raises(InputError, match=message):
        relations(mill, row)


def test_a_folder_that_is_none(mill):
    with pytest.raises(InputError, match=r"pdtb: expected a folder of \.rels files, found no"):
        read_senses(mill / "nowhere", mill / "gum", [])


def test_documents_without_relations_are_told(mill):
    (mill / "rels" / "mill.rels").write_text(HEADER + "mill\t1-5\t6-10\t1<2\ta\n")
    with pytest.warns(InputWarning, match=r"no \.rels file for 1 documents, as bread"):
        read_senses(mill / "rels", mill / "gum", read_gum(mill / "gum", "train"))


def test_relations_follow_what_is_left_of_a_document(tokenizer):
    document = small_treebank.gold("mill")
    senses = SenseNodes(np.array([[0, 1, 0], [0, 3, 1], [2, 3, 2]]), np.array([5, 6, 7]))
    labels = [(node.nuclearity, node.relation) for node in document.tree.nodes]
    example = make_example(document, tokenizer, labels, senses)
    without = restrict(example, np.array([True, False, True, True])).targets
    assert without.senses.nodes.tolist() == [[0, 2, 0], [1, 2, 1]]
    assert without.senses.senses.tolist() == [6, 7]
    # The border between the first two EDUs is not found.
    starts = example.targets.edu_starts[[0, 2, 3]]
    predicted = restrict_to_predicted(example, starts, example.targets.sentence_starts)
    assert predicted.senses.nodes.tolist() == [[0, 2, 0], [1, 2, 1]]
    assert predicted.senses.senses.tolist() == [6, 7]


@pytest.mark.skipif(not (small_treebank.DATA / "gdtb_train").is_dir(), reason="needs GDTB beside GUM")
def test_most_relations_of_gdtb_are_used():
    documents = read_gum(small_treebank.GUM, "train")
    found, names = read_senses(small_treebank.DATA / "gdtb_train", small_treebank.GUM, documents)
    nodes = [tuple(node) for document in documents for node in found[document.id].nodes.tolist()]
    trees = {document.id: set(map(tuple, document.tree.spans.tolist())) for document in documents}
    both = sum(tuple(node) in trees[name] for name, own in found.items() for node in own.nodes.tolist())
    assert (len(nodes), both, len(names)) == (8867, 6372, 21)
