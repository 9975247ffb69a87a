"""Shapes that occur in files but that discsum never writes."""

import pytest

from discsum.document import Document
from discsum.errors import FormatWarning, InputError
from discsum.formats import FORMATS, Format, dump, load, read_tree, write_tree
from discsum.registry import Entry
from discsum.tree import Node, RSTTree

RS3 = """<?xml version="1.0" encoding="UTF-16"?>
<rst>
<header><relations><rel name="List" type="multinuc"/><rel name="Cause" type="rst"/><rel name="Both" type="rst"/>
<rel name="Both" type="multinuc"/></relations></header>
<body>
{}
</body></rst>
"""


def test_only_documents_are_written():
    with pytest.raises(TypeError, match=r"^expected a Document, got str; parse a text first$"):
        dump("It rained.", "rs3")


def shape(document):
    return [(node.first, node.split, node.last, node.nuclearity, node.relation) for node in document.tree.nodes]


def test_rs3_satellites_wrap_from_the_nearest_outward():
    body = """<segment id="a" parent="c" relname="Cause">far left</segment>
    <segment id="b" parent="c" relname="Cause">near left</segment>
    <segment id="c" parent="0">the nucleus, a root that names parent 0</segment>
    <segment id="d" parent="c" relname="Cause">near
        right</segment>
    <segment id="e" parent="c" relname="Cause">far right</segment>"""
    document = load(RS3.format(body), "rs3")
    assert shape(document) == [
        (0, 3, 4, "NS", "Cause"),
        (0, 0, 3, "SN", "Cause"),
        (1, 2, 3, "NS", "Cause"),
        (1, 1, 2, "SN", "Cause"),
    ]
    assert document.edu_texts[3] == "near right"


def test_rs3_nuclei_branch_to_the_right_inside_their_satellites():
    body = """<segment id="1" parent="9" relname="List">one</segment>
    <segment id="2" parent="9" relname="List">2</segment>
    <segment id="3" parent="9" relname="List">three</segment><segment id="4" parent="9" relname="Cause">four</segment>
    <group id="9" type="multinuc"/>"""
    assert shape(load(RS3.format(body), "rs3")) == [
        (0, 2, 3, "NS", "Cause"),
        (0, 0, 2, "NN", "List"),
        (1, 1, 2, "NN", "List"),
    ]


def test_rs3_label_of_both_types_is_a_nucleus_where_two_share_it():
    body = """<segment id="1" parent="9" relname="List">one</segment>
    <segment id="2" parent="9" relname="List">2</segment>
    <segment id="3" parent="9" relname="Both">three</segment><group id="9" type="multinuc"/>"""
    assert shape(load(RS3.format(body), "rs3"))[0] == (0, 1, 2, "NS", "Both")
    assert shape(load(RS3.format(body.replace("List", "Both")), "rs3"))[0] == (0, 0, 2, "NN", "Both")


def test_dis_n_ary_with_the_marks_of_rst_dt():
    content = """( Root (span 1 5)
      ( Nucleus (leaf 1) (rel2par List) (text _!First (in brackets),_!) )
      ( Satellite (leaf 2) (rel2par elaboration-e) (text _!an aside,_!) ) //TT_ERR
      ( Nucleus (leaf 3) (rel2par List) (text _!second.<P>_!) )
      ( Nucleus (leaf 4) (rel2par List) (text _!third_!) )
      ( Satellite (leaf 5) (rel2par attribution) (text _!said
        somebody._!) ) )"""
    document = load(content, "dis")
    assert shape(document) == [
        (0, 3, 4, "NS", "attribution"),
        (0, 1, 3, "NN", "List"),
        (0, 0, 1, "NS", "elaboration-e"),
        (2, 2, 3, "NN", "List"),
    ]
    assert document.edu_texts == ("First (in brackets),", "an aside,", "second.", "third", "said somebody.")


def test_rs3_groups_of_thousands_take_no_time():
    between = "".join(
        f'<segment id="{number}" parent="l" relname="{("List", "Cause")[number % 2]}">word</segment>'
        for number in range(1, 8001)
    )
    # Relations that the header does not declare.
    others = "".join(f'<segment id="{number}" parent="l" relname="r{number}">word</segment>' for number in range(8000))
    for children in (between, others):
        with pytest.warns(FormatWarning):
            document = load(RS3.format(f'<group id="l" type="multinuc"/>{children}'), "rs3")
        assert len(document.edus) == 8000


def test_rs3_satellites_between_nuclei_join_the_nucleus_before():
    body = """<group id="l" type="multinuc"/>
    <segment id="a" parent="l" relname="List">first</segment>
    <segment id="b" parent="l" relname="Cause">near</segment>
    <segment id="c" parent="l" relname="Cause">far</segment>
    <segment id="d" parent="l" relname="List">second</segment>
    <segment id="e" parent="l" relname="Cause">after</segment>"""
    message = r"group 'l': expected satellites before or after its nuclei, got 2 between them; each was attached"
    with pytest.warns(FormatWarning, match=message):
        document = load(RS3.format(body), "rs3")
    assert shape(document) == [
        (0, 3, 4, "NS", "Cause"),
        (0, 2, 3, "NN", "List"),
        (0, 1, 2, "NS", "Cause"),
        (0, 0, 1, "NS", "Cause"),
    ]


def test_rsd_keeps_every_relation_of_nuclei_at_one_distance():
    content = "".join(
        f"{id}\tunit {id}\t_\t_\t_\t_\t{head}\t{label}\t_\t_\n"
        for id, head, label in [(1, 0, "ROOT"), (2, 1, "List_m"), (3, 1, "Contrast_m")]
    )
    assert shape(load(content, "rsd")) == [(0, 1, 2, "NN", "Contrast"), (0, 0, 1, "NN", "List")]


def test_rsd_without_distances_and_with_a_comment():
    content = "# made elsewhere\n" + "\n".join(
        f"{id}\tunit {id}\t_\t_\t_\t_\t{head}\t{label}\t_\t_"
        for id, head, label in [
            (1, 2, "Cause_r"),
            (2, 0, "ROOT"),
            (3, 2, "Cause_r"),
            (4, 2, "List_m"),
            (5, 2, "List_m"),
        ]
    )
    # The nearest on each side attaches first; between the sides, nuclei before satellites, near before far, left first.
    assert shape(load(content.replace("\n", "\r\n"), "rsd")) == [
        (0, 2, 4, "NN", "List"),
        (0, 1, 2, "NS", "Cause"),
        (0, 0, 1, "SN", "Cause"),
        (3, 3, 4, "NN", "List"),
    ]


@pytest.fixture
def document():
    """A document of two EDUs."""
    return Document.from_edu_texts(["It rained,", "so we left."], RSTTree(2, [Node(0, 1, 0, "SN", "causal-cause")]))


@pytest.mark.parametrize("suffix", [".rs3", ".dis", ".json", ".svg"])
def test_a_document_written_by_the_suffix_of_a_file(document, tmp_path, suffix):
    path = tmp_path / "new" / f"story{suffix}"
    write_tree(document, path)
    assert path.read_text(encoding="utf-8") == dump(document, suffix[1:])
    if suffix != ".svg":
        assert read_tree(path).tree == document.tree


def test_files_that_are_not_written_or_read(document, tmp_path):
    with pytest.raises(InputError, match=r"expected a suffix among .*, got '.png'"):
        write_tree(document, tmp_path / "story.png")
    with pytest.raises(InputError, match="expected a tree file, got a folder"):
        read_tree(tmp_path)
    lines = tmp_path / "stories.jsonl"
    lines.write_text("{}")
    with pytest.raises(
        InputError, match=r"got the suffix '.jsonl'; read each line with json.loads and Document.from_j"
    ):
        read_tree(lines)
    for read in (Document.from_rs3, Document.from_dis, Document.from_rsd):
        with pytest.raises(InputError, match=r"expected the content of a file, got the path 'a/story.rs3'; use"):
            read("a/story.rs3")


def test_a_format_that_writes_no_text(document, monkeypatch):
    monkeypatch.setitem(FORMATS.registered, "odd", Entry(Format(dumps=lambda document: 123)))
    with pytest.raises(TypeError, match="format odd: expected dumps to return str, got int"):
        dump(document, "odd")
