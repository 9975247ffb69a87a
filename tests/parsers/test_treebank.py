"""Reading the GUM treebank for training."""

import shutil

import pytest
from small_treebank import gold

from discsum.document import Span
from discsum.errors import InputError, InputWarning
from discsum.parsers.training.splits import SplitConfig, read_treebank
from discsum.parsers.treebank import align, read_gum


def test_the_treebank_is_read(treebank):
    documents = read_gum(treebank, "train")
    assert [document.id for document in documents] == ["mill", "bread"]
    for document in documents:
        expected = gold(document.id)
        assert document.edu_texts == expected.edu_texts
        assert document.sentence_texts == expected.sentence_texts
        assert document.tree.spans.tolist() == expected.tree.spans.tolist()
        assert {node.relation for node in document.tree.nodes} == {node.relation for node in expected.tree.nodes}
        assert (document.parser, document.text.count("\n\n")) == ("gold", 1)


def test_all_documents_are_a_split(treebank):
    assert [document.id for document in read_gum(treebank, "all")] == ["mill", "bread", "bridge"]


def test_documents_of_gum_are_left_out(treebank):
    read = read_treebank(treebank, SplitConfig(leave_out=("br*",)))
    assert [document.id for document in read.train] == ["mill"]
    assert [document.id for document in read.dev] == ["bridge"]
    with pytest.raises(
        InputError, match=r"split\.leave_out: .* no training document 'GUM_\*'; expected patterns of names such as mill"
    ):
        read_treebank(treebank, SplitConfig(leave_out=("br*", "GUM_*")))
    with pytest.raises(
        InputError, match=r"a checkout of GUM has its own splits and sentences; .* except split\.leave_out"
    ):
        read_treebank(treebank, SplitConfig(dev=0.2, leave_out=("br*",)))


def test_a_split_of_gum_that_leaves_nothing_is_refused(treebank, tmp_path):
    with pytest.raises(
        InputError, match=r"split\.leave_out: expected patterns that leave .*, got br\*, m\*, which match all 2"
    ):
        read_treebank(treebank, SplitConfig(leave_out=("br*", "m*")))
    folder = tmp_path / "gum"
    shutil.copytree(treebank, folder)
    (folder / "splits.tsv").unlink()
    (folder / "splits.md").write_text("## train\n\n* mill\n\n## dev\n\n* gone\n")
    with pytest.raises(InputError, match="expected documents with text in the splits train and dev, got 1 and 0"):
        read_treebank(folder, SplitConfig())


def test_what_a_treebank_lacks_is_named(treebank, tmp_path):
    with pytest.raises(InputError, match=r"splits\.md: expected the treebank's list"):
        read_gum(tmp_path, "dev")
    with pytest.raises(InputError, match="expected the split 'test', found train, dev"):
        read_gum(treebank, "test")
    (tmp_path / "splits.tsv").write_text("mill\tdev\n\nbread dev\n")
    with pytest.raises(InputError, match=r"splits\.tsv:3: expected a name, a tab and a split, got 'bread dev'"):
        read_gum(tmp_path, "dev")
    (tmp_path / "splits.tsv").write_text("mill\tdev\n")
    with pytest.raises(InputError, match=r"mill\.dis: expected a file to read"):
        read_gum(tmp_path, "dev")


def test_a_tree_of_another_text_is_named(treebank, tmp_path):
    folder = shutil.copytree(treebank, tmp_path / "gum")
    shutil.copy(folder / "dep" / "bread.conllu", folder / "dep" / "mill.conllu")
    with pytest.raises(
        InputError, match=r"mill\.dis: EDUs of the text in mill\.conllu: expected 'Whentheriverrose,' in the text"
    ):
        read_gum(folder, "train")


def test_a_checkout_of_gum_as_it_is_published(treebank, tmp_path):
    folder = tmp_path / "gum"
    shutil.copytree(treebank, folder)
    (folder / "splits.tsv").unlink()
    (folder / "splits.md").write_text(
        "# Splits\n\nProse.\n\n## dev\n\n  * bridge\n\n## train\n\n  * mill\n  * reddit\n  * none\n"
    )
    (folder / "dep" / "reddit.conllu").write_text("# newpar\n# text = ___ ____ _.\n")
    with pytest.warns(InputWarning, match="dep: left out documents without a file: none$"):
        assert read_gum(folder, "train") == read_gum(treebank, "train")[:1]
    # A byte order mark is no part of the first line.
    (folder / "splits.md").write_text("## dev\n\n* bridge\n\n## train\n\n* mill\n", encoding="utf-8-sig")
    assert read_gum(folder, "dev") == read_gum(treebank, "dev")
    with pytest.raises(InputError, match="split 'test', found dev, train"):
        read_gum(folder, "test")


def test_pieces_are_placed_without_regard_to_white_space():
    assert align(["a b", "cd"], " ab\nc d ", "it") == [Span(1, 3), Span(4, 7)]
    with pytest.raises(InputError, match="it: expected 'xd' in the text, got 'cd'"):
        align(["a b", "xd"], "ab cd", "it")
    with pytest.raises(InputError, match="it: expected to cover the whole text, but the end is left out: 'd'"):
        align(["a b", "c"], "ab cd", "it")


def test_lines_may_end_as_windows_ends_them(treebank, tmp_path):
    folder = tmp_path / "gum"
    shutil.copytree(treebank, folder)
    for path in (folder / "dep").iterdir():
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_gum(folder, "train") == read_gum(treebank, "train")


@pytest.mark.parametrize("again", ["mill\ttrain", "mill\tdev"])
def test_a_document_is_listed_once(treebank, tmp_path, again):
    folder = tmp_path / "gum"
    shutil.copytree(treebank, folder)
    (folder / "splits.tsv").write_text(f"mill\ttrain\nbridge\tdev\n{again}\n")
    with pytest.raises(
        InputError, match=r"splits\.tsv: expected each document once, in one split, got mill more than once"
    ):
        read_gum(folder, "train")
