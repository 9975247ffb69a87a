"""Formats against GUM's own conversions and against rst2dep 1.4.

Heads come from rst2dep's `make_rsd(…, algorithm="hirao")` with `keep_same_unit` off, so same-unit is a multinuclear
relation like any other, as in Hirao et al. 2013.
"""

import numpy as np
import pytest
from format_cases import LABELS, documents, trees
from format_cases import numbered as document_of
from hypothesis import given, settings
from hypothesis import strategies as st

from discsum.dependency import edu_heads
from discsum.formats import dump, load, read_tree
from discsum.formats._plain_text import fold, printable
from discsum.tree import RSTTree

rst2dep = pytest.importorskip("rst2dep")
dep2rst = pytest.importorskip("rst2dep.dep2rst")
classes = pytest.importorskip("rst2dep.classes")


def rows(rsd):
    return [line.split("\t") for line in rsd.strip("\n").split("\n")]


def hirao(file, as_text):
    """Return rst2dep's head of every EDU, -1 for a root, and the EDUs' texts."""
    table = rows(rst2dep.make_rsd(str(file), "", as_text=as_text, algorithm="hirao"))
    return np.array([int(row[6]) - 1 for row in table]), tuple(row[1] for row in table)


def without_satellite_above(tree: RSTTree):
    """Return the EDUs that no satellite covers: rst2dep's roots."""
    node_parents, edu_parents = tree.parents
    node_nucleus, edu_nucleus = tree.nucleus
    free = []
    for position, parent in enumerate(node_parents):
        free.append(bool(node_nucleus[position]) and (parent < 0 or free[parent]))
    return [edu for edu in range(tree.edus) if edu_nucleus[edu] and (edu_parents[edu] < 0 or free[edu_parents[edu]])]


def assert_heads_agree(found, tree):
    attached = found >= 0
    assert np.array_equal(found[attached], edu_heads(tree)[attached])
    assert np.flatnonzero(~attached).tolist() == without_satellite_above(tree)


def test_rs4_is_gums_own_binary_dis(gum_files, gum):
    assert len(gum) == 207
    for path, document in zip(gum_files, gum, strict=True):
        binary = read_tree(path.parent.parent / "lisp_binary" / f"{path.stem}.dis")
        assert document.tree == binary.tree, path.stem


def test_rsd_of_rst2dep_is_the_rs4(gum_files, gum):
    for path, document in zip(gum_files, gum, strict=True):
        again = load(rst2dep.make_rsd(str(path), "", as_text=False), "rsd")
        assert (again.tree, again.edu_texts) == (document.tree, document.edu_texts), path.stem


@pytest.mark.parametrize("original", [True, False], ids=["original", "written"])
def test_heads_of_gum(gum_files, gum, original):
    # The test above runs rst2dep on all originals already, so a third of them is enough here.
    chosen = slice(None, None, 3 if original else 1)
    for path, document in zip(gum_files[chosen], gum[chosen], strict=True):
        found, texts = hirao(path, False) if original else hirao(document.to_rs3(), True)
        assert texts == document.edu_texts
        assert_heads_agree(found, document.tree)


def test_dep2rst_restores_gum_from_our_rsd(gum):
    for document in gum:
        again = load(dep2rst.rsd2rs3(document.to_rsd()), "rs3")
        assert (again.tree, again.edu_texts) == (document.tree, document.edu_texts), document.id


@given(tree=trees(least=2))
@settings(max_examples=200, deadline=None)
def test_heads_of_any_tree(tree):
    assert_heads_agree(hirao(document_of(tree).to_rs3(), True)[0], tree)


@given(tree=trees(least=2), labels=st.permutations(LABELS))
@settings(max_examples=100, deadline=None)
def test_dep2rst_restores_trees_whose_labels_have_one_use(tree, labels):
    nodes = [
        {**node, "relation": labels[node["first"] % 2 + 2 * (node["nuclearity"] == "NN")]} for node in tree.to_dicts()
    ]
    tree = RSTTree(tree.edus, nodes)
    assert load(dep2rst.rsd2rs3(document_of(tree).to_rsd()), "rs3").tree == tree


# No quotation marks in texts: they can break the regular expressions with which dep2rst edits its XML.
@given(document=documents(texts=st.text().map(lambda text: text.replace('"', "'")).filter(printable), least=2))
@settings(max_examples=100, deadline=None)
def test_rst2dep_reads_the_same_edus(document):
    expected = [printable(text) for text in document.edu_texts]
    assert [row[1] for row in rows(rst2dep.make_rsd(dump(document, "rs3"), "", as_text=True))] == expected
    read = classes.read_rst(dep2rst.rsd2rs3(dump(document, "rsd")), {}, as_text=True)
    assert [fold(node.text) for node in read.values() if node.kind == "edu"] == expected
