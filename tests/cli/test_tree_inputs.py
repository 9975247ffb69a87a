"""Trees as inputs: several roots, declared encodings, several trees in a file."""

import subprocess
import sys

import pytest

from discsum.document import Document
from discsum.formats import dump, read_tree
from discsum.parsers.parser import Parser
from discsum.tree import Node, RSTTree

HEADED = """<?xml version="1.0" encoding="windows-1251"?>
<rst><header><relations><rel name="cause" type="rst"/></relations></header><body>
<segment id="1">Мост</segment>
<segment id="2" parent="4" relname="span">The bridge is shut</segment>
<segment id="3" parent="2" relname="cause">because it rained.</segment>
<group id="4" type="span"/>
</body></rst>
"""
DIS = """( Root (span 1 2)
  ( Nucleus (leaf 1) (rel2par span) (text _!The bridge (old) is shut<P>_!) )
  ( Satellite (leaf 2) (rel2par cause) (text _!because it rained._!) ) )
"""


ERST = (
    '<rst><header><relations><rel name="x" type="rst"/></relations><sigtypes><sig type="dm" subtypes="dm"/></sigtypes>'
    '</header><body><segment id="1" parent="3" relname="span">It rained,</segment>'
    '<segment id="2" parent="1" relname="x">so we left.</segment><group id="3" type="span"/>'
    '<signals><signal source="2" type="dm" subtype="dm" tokens="3"/></signals></body></rst>'
)


def test_what_a_format_leaves_out_of_all_files_is_told_once(discsum, tmp_path):
    folder = tmp_path / "trees"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number}.rs4").write_text(ERST.replace("rained", f"rained {number}"))
    result = discsum("parse", folder, "--format", "dis", "-o", tmp_path / "out")
    assert (result.code, len([*(tmp_path / "out").glob("*.dis")])) == (0, 20)
    assert result.err.count("secondary edges and signals are left out") == 1


def test_texts_beside_trees_are_named(discsum, parser_folder, tmp_path):
    folder = tmp_path / "both"
    folder.mkdir()
    (folder / "rain.rs4").write_text(ERST)
    (folder / "rain.txt").write_text("It rained, so we left.")
    result = discsum("parse", folder, "--format", "json", "-o", tmp_path / "out", "--parser", parser_folder)
    assert result.code == 3
    assert f"name the files of one kind only, such as {folder / '*.rs4'}" in result.err


@pytest.fixture
def headed(tmp_path):
    path = tmp_path / "bridge.rs3"
    path.write_bytes(HEADED.encode("cp1251"))
    return path


@pytest.mark.filterwarnings("ignore::discsum.errors.FormatWarning")
def test_roots(discsum, headed):
    assert discsum("parse", headed).out.startswith("├─ [N unattached] Мост\n")
    assert discsum("parse", headed, "--roots", "drop").out == (
        "├─ [N] The bridge is shut\n└─ [S cause] because it rained.\n"
    )
    refused = discsum("parse", headed, "--roots", "error")
    assert (refused.code, refused.out) == (1, "")
    assert f"{headed}:6: expected one root, got 2: segment '1' and group '4' have no parent" in refused.err
    assert discsum("parse", headed, "--roots", "keep").code == 2
    assert discsum("extract", headed, "--model", "lead", "--roots", "error").code == 1
    analyze = ("analyze", "trees", headed, "-o", headed.parent / "analysis")
    assert discsum(*analyze, "--roots", "error").code == 1
    joined, kept = (discsum(*analyze, "--roots", roots) for roots in ("join", "drop"))
    assert ("unattached " in joined.out, "unattached " in kept.out) == (True, False)
    drop = discsum("extract", headed, "--model", "lead", "--roots", "drop", "--unit", "edu", "-n", "1")
    assert drop.out == "The bridge is shut\n"


@pytest.mark.filterwarnings("ignore::discsum.errors.FormatWarning")
def test_what_was_left_apart_is_so_again(discsum, headed, tmp_path):
    path = tmp_path / "again.rs3"
    assert discsum("parse", headed, "-f", "rs3", "-o", path).code == 0
    assert '<segment id="1">Мост</segment>' in path.read_text(encoding="utf-8")
    assert read_tree(path).tree == read_tree(headed).tree


@pytest.mark.filterwarnings("ignore::discsum.errors.FormatWarning")
def test_the_encoding_overrides_what_is_declared(discsum, headed):
    headed.write_bytes(HEADED.encode())
    assert "Мост" not in discsum("parse", headed).out
    assert "Мост" in discsum("parse", headed, "--encoding", "utf-8").out
    assert "Мост" in discsum("parse", headed, "--encoding", "UTF8", "--roots", "join").out
    headed.write_bytes(HEADED.replace("windows-1251", "utf-8").encode("cp1251"))
    failed = discsum("parse", headed)
    assert failed.code == 1
    assert "expected utf-8, got byte 0xcc" in failed.err
    assert "with --encoding, for example --encoding windows-1251" in failed.err
    assert discsum("parse", headed, "--encoding", "cp1251").code == 0


def test_warnings_are_one_line(headed):
    command = [sys.executable, "-m", "discsum", "parse", str(headed)]
    result = subprocess.run(command, capture_output=True, check=True, encoding="utf-8")
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"discsum: {headed}:6: expected one root, got 2: ")


def test_every_tree_of_a_file(discsum, tmp_path):
    path = tmp_path / "bridge.dis"
    path.write_text(DIS + DIS)
    assert [line for line in discsum("parse", path).out.splitlines() if line.startswith("==")] == [
        "== bridge-1",
        "== bridge-2",
    ]
    assert discsum("parse", path, "-f", "rs3").code == 2
    assert discsum("parse", path, "-f", "rs3", "-o", tmp_path / "out").code == 0
    assert sorted(child.name for child in (tmp_path / "out").iterdir()) == ["bridge-1.rs3", "bridge-2.rs3"]
    assert discsum("extract", path, "--model", "lead", "-n", "1").out.count("== bridge-") == 2
    path.write_text(DIS)
    assert not discsum("parse", path).out.startswith("==")


def test_brackets(discsum, tmp_path):
    path = tmp_path / "bridge.dis"
    path.write_text(DIS)
    assert "The bridge (old) is shut" in discsum("parse", path, "-f", "dis").out
    assert "The bridge -LRB-old-RRB- is shut" in discsum("parse", path, "-f", "dis", "--brackets").out
    wrong = discsum("parse", path, "-f", "rs3", "--brackets")
    assert wrong.code == 2
    assert "needs --format dis, got rs3" in wrong.err


@pytest.mark.parametrize("option", ["--sentences newline", "--edus newline", "--parser {parser}"])
def test_units_and_trees_are_not_kept_in_silence(discsum, parser_folder, tmp_path, option):
    option = option.format(parser=parser_folder)
    document = Document.from_edu_texts(["It rained.", "The mill stopped."], RSTTree(2, [Node(0, 1, 0, "NN", "joint")]))
    for name in ("a", "b"):
        (tmp_path / f"{name}.rs3").write_text(dump(document, "rs3"))
    for more in ((), ("--shards", "-o", tmp_path.with_name(f"{tmp_path.name}-set"))):
        result = discsum("parse", tmp_path, *option.split(), *more)
        assert result.code == 0
        assert result.err.splitlines()[0] == (
            f"discsum: {tmp_path / 'a.rs3'}: expected a text for {option}, got a tree or a parsed text, "
            "which keeps its own units and tree, as do all other such inputs"
        )
        assert len(result.err.splitlines()) == 1 + bool(more)
    assert discsum("parse", tmp_path).err == ""


def test_a_parsers_own_trees_are_not_kept_in_error(discsum, parser_folder, tmp_path):
    path, other = tmp_path / "a.json", tmp_path / "other"
    (tmp_path / "a.txt").write_text("It rained. The mill stopped.")
    assert discsum("parse", tmp_path / "a.txt", "-f", "json", "--parser", parser_folder, "-o", path).code == 0
    assert discsum("parse", path, "--parser", parser_folder).err == ""
    assert discsum("extract", path, "--model", "lead", "--parser", parser_folder).err == ""
    assert "expected a text for --parser discsum-gum, got a tree" in (
        discsum("extract", path, "--model", "lead", "--parser", "discsum-gum").err
    )
    assert (
        "expected a text for --parser discsum-gum, got a tree" in discsum("parse", path, "--parser", "discsum-gum").err
    )
    Parser.from_pretrained(parser_folder).save_pretrained(other)
    assert discsum("parse", path, "--parser", other).err == ""
