"""Files with several roots, unattached segments, empty groups and unknown parents."""

import re
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
from benchmarks.tree_files import rs3_structure
from hypothesis import given, settings
from hypothesis import strategies as st
from rs3_files import element, n_ary, rs3

from discsum.document import Document
from discsum.errors import FormatError, FormatWarning, InputError
from discsum.formats import dump, load, read_tree
from discsum.tree import Node, RSTTree

# A heading, and a tree over the rest.
HEADED = rs3(element(1), element(2, "", 4, "span"), element(3, "", 2, "purpose-goal"), element(4, "span"))
# The same with the heading between the nucleus and its satellite.
BETWEEN = rs3(element(2, "", 4, "span"), element(1), element(3, "", 2, "purpose-goal"), element(4, "span"))
CROSSING = rs3(
    element(1, "", 5, "joint-list"),
    element(2, "", 6, "joint-list"),
    element(3, "", 5, "joint-list"),
    element(4, "", 6, "joint-list"),
    element(5, "multinuc"),
    element(6, "multinuc"),
)


def shape(document):
    return [(node.first, node.split, node.last, node.nuclearity, node.relation) for node in document.tree.nodes]


def test_a_heading_is_joined_in_front():
    with pytest.warns(FormatWarning) as caught:
        document = Document.from_rs3(HEADED, "story")
    assert shape(document) == [(0, 0, 2, "NN", "unattached"), (1, 1, 2, "NS", "purpose-goal")]
    (warning,) = (str(warning.message) for warning in caught)
    assert warning.startswith(
        "story:5: expected one root, got 2: segment '1', group '4' have no parent; joined in text "
        "order as unattached (discsum parse --roots drop keeps the largest, "
    )
    assert rs3_structure(document.to_rs3().encode()) == rs3_structure(HEADED.encode())
    with pytest.warns(FormatWarning):
        assert Document.from_rs3(document.to_rs3()).tree == document.tree


def test_a_heading_is_joined_where_the_tree_splits():
    with pytest.warns(FormatWarning):
        document = load(BETWEEN, "rs3")
    assert shape(document) == [(0, 1, 2, "NS", "purpose-goal"), (0, 0, 1, "NN", "unattached")]
    assert document.edu_texts == ("unit 2.", "unit 1.", "unit 3.")
    assert rs3_structure(document.to_rs3().encode()) == rs3_structure(BETWEEN.encode())


def test_roots_that_cross_are_refused():
    with pytest.warns(FormatWarning), pytest.raises(FormatError) as caught:
        load(CROSSING, "rs3", source="story")
    assert str(caught.value).startswith(
        "story:7: expected roots one after the other, or one between two EDUs of another, got group '5' and group '6', "
        "which interleave at EDU 3; attach one to the other, or keep only the largest with "
        "discsum parse --roots drop (Python: roots='drop')"
    )
    with pytest.warns(FormatWarning, match="left out 2 of 4 segments, those that are not under group '5', the largest"):
        assert load(CROSSING, "rs3", roots="drop").edu_texts == ("unit 1.", "unit 3.")


@pytest.mark.parametrize("content", [HEADED, BETWEEN])
def test_drop_and_error(content):
    with pytest.warns(FormatWarning, match="left out 1 of 3 segments, those that are not under group '4', the largest"):
        document = Document.from_rs3(content, roots="drop")
    assert document.edu_texts == ("unit 2.", "unit 3.")
    assert shape(document) == [(0, 0, 1, "NS", "purpose-goal")]
    with pytest.raises(
        FormatError,
        match=r"expected one root, got 2: .*; --roots join \(Python: roots='join'\) joins them under .*, drop",
    ):
        Document.from_rs4(content, roots="error")
    with pytest.raises(InputError, match="roots: expected one of join, drop, error, got 'keep'"):
        Document.from_rs3(content, roots="keep")


def test_segments_only():
    with pytest.warns(FormatWarning):
        document = load(rs3(element(1), element(2), element(3), relations=""), "rs3")
    assert shape(document) == [(0, 0, 2, "NN", "unattached"), (1, 1, 2, "NN", "unattached")]
    assert "parent=" not in document.to_rs3()
    assert "<group" not in document.to_rs3()
    with pytest.warns(
        FormatWarning, match="left out 2 of 3 segments, those that are not under segment '1', the largest"
    ):
        assert load(document.to_rs3(), "rs3", roots="drop").edu_texts == ("unit 1.",)


def test_unknown_parents_and_empty_groups():
    content = rs3(
        element(1, "", 9, "purpose-goal"),
        element(2, "", 4, "span"),
        element(3, "", 2, "purpose-goal"),
        element(4, "span"),
        element(5, "multinuc"),
        element(6, "multinuc", 2, "causal-cause"),
        element(7, "span", 6, "joint-list"),
    )
    with pytest.warns(FormatWarning) as caught:
        document = load(content, "rs3", source="story")
    assert shape(document) == [(0, 0, 2, "NN", "unattached"), (1, 1, 2, "NS", "purpose-goal")]
    messages = [str(warning.message) for warning in caught]
    assert messages[0] == "story:2: segment '1': expected a parent in the file, got '9'; treated as unattached"
    assert re.match(r"story:\d: expected segments under each group, got none under group .* left out", messages[1])
    for line in (element(5, "multinuc"), element(6, "multinuc", 2, "causal-cause")):
        with pytest.raises(FormatError, match="expected"):
            load(rs3(element(2), line), "rs3", roots="error")


@pytest.mark.parametrize("name", ["dis", "rsd", "json"])
@pytest.mark.parametrize("content", [HEADED, BETWEEN])
def test_other_formats_keep_the_join(content, name):
    with pytest.warns(FormatWarning):
        document = load(content, "rs3")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = load(dump(document, name), name)
    assert again.tree == document.tree
    assert rs3_structure(again.to_rs3().encode()) == rs3_structure(content.encode())


def rsd(*rows):
    return "\n".join(f"{id}\tunit {id}.\t_\t_\t_\t_\t{head}\t{label}\t_\t_" for id, head, label in rows)


def test_several_roots_of_rsd():
    content = rsd((1, 0, "ROOT"), (2, 0, "ROOT"), (3, 2, "cause_r"), (4, 0, "ROOT"))
    with pytest.warns(FormatWarning, match=r"story:2: expected one root, got 3: EDU 1 and EDU 2 have no head; joined"):
        document = Document.from_rsd(content, "story")
    assert shape(document) == [(0, 0, 3, "NN", "unattached"), (1, 2, 3, "NN", "unattached"), (1, 1, 2, "NS", "cause")]
    with pytest.warns(FormatWarning, match="left out 2 of 4 EDUs, those that are not under EDU 2"):
        dropped = Document.from_rsd(content, roots="drop")
    assert (shape(dropped), dropped.edu_texts) == ([(0, 0, 1, "NS", "cause")], ("unit 2.", "unit 3."))
    between = rsd((1, 0, "ROOT"), (2, 0, "ROOT"), (3, 1, "cause_r"))
    with pytest.warns(FormatWarning):
        assert shape(Document.from_rsd(between)) == [(0, 1, 2, "NS", "cause"), (0, 0, 1, "NN", "unattached")]
    with pytest.warns(FormatWarning), pytest.raises(FormatError, match="got EDU 1 and EDU 2, which interleave at"):
        Document.from_rsd(rsd((1, 0, "ROOT"), (2, 0, "ROOT"), (3, 1, "x_r"), (4, 2, "x_r")))


@given(lines=n_ary(), cut=st.sets(st.integers(1, 14)))
@settings(max_examples=200, deadline=None)
def test_any_tree_with_links_removed_is_read_whole_or_refused(lines, cut):
    """Segments without a link become roots, and groups may be left without nuclei."""
    loose = [
        re.sub(r' parent="\d+" relname="[^"]+"', "", line) if any(f'<segment id="{id}"' in line for id in cut) else line
        for line in lines
    ]
    content = rs3(*loose)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            document = load(content, "rs3")
        except FormatError as error:
            assert re.search(r"expected (one nucleus|nuclei|roots|a continuous span)", str(error))
            return
        assert len(document.edus) == sum("<segment" in line for line in lines)
        written = document.to_rs3()
        assert load(written, "rs3").tree == document.tree
        assert load(dump(document, "json"), "json").to_rs3() == written
    assert rs3_structure(written.encode()) == rs3_structure(content.encode())


def test_warnings_of_a_file_are_in_its_document(tmp_path):
    path = tmp_path / "two.rsd"
    row = "{0}\tunit {0}\t0\t_\t_\t_\t{1}\tROOT\t_\t_\n"
    path.write_text(row.format(1, 0) + row.format(2, 0))
    with pytest.warns(FormatWarning) as caught:
        document = read_tree(path)
    assert document.warnings == tuple(str(one.message) for one in caught)
    assert len(document.warnings) == 1


@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(2, 8))
def test_unattached_nodes_anywhere_survive_a_round_trip(random, edus):
    def nodes(first, last):
        if first == last:
            return []
        split, nuclearity = random.randrange(first, last), random.choice(["NN", "NN", "NS", "SN"])
        relation = random.choice(["unattached", "list"]) if nuclearity == "NN" else "cause"
        return [Node(first, last, split, nuclearity, relation), *nodes(first, split), *nodes(split + 1, last)]

    tree = RSTTree(edus, nodes(0, edus - 1))
    content = dump(Document.from_edu_texts([f"w{edu}." for edu in range(edus)], tree), "rs3")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        found = load(content, "rs3").tree
    assert list(map(str, found.nodes)) == list(map(str, tree.nodes))


def test_a_segment_inside_another_is_an_error():
    content = rs3('<segment id="1">It <segment id="2" parent="1" relname="cause">rained</segment> again.</segment>')
    with pytest.raises(FormatError, match="segment '2': expected segments side by side, got it inside segment '1'"):
        load(content, "rs3")


def test_labels_are_read_as_they_are_written():
    content = rs3(
        '<segment id="1">It rained.</segment>', '<segment id="2" parent="1" relname=" a  b ">All day.</segment>'
    )
    document = load(content, "rs3")
    assert document.tree.nodes[0].relation == "a b"
    assert load(dump(document, "rs3"), "rs3").tree == document.tree


def test_threads_do_not_get_each_others_warnings():
    clean, before = rs3(element(1), element(2, "", 1, "purpose-goal")), warnings._showwarnmsg_impl

    def read_both(_):
        return [len(Document.from_rs3(content, "story").warnings) for content in (HEADED, clean)]

    interval = sys.getswitchinterval()
    # Threads take turns so often that errors show.
    sys.setswitchinterval(1e-5)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with ThreadPoolExecutor(4) as pool:
                found = list(pool.map(read_both, range(400)))
    finally:
        sys.setswitchinterval(interval)
    assert found == [[1, 0]] * 400
    assert warnings._showwarnmsg_impl is before
