"""Folders of tree files: their documents, sentences and splits."""

import shutil
import warnings

import german_treebank
import pytest

from discsum.document import Document, Span
from discsum.errors import InputError
from discsum.formats import dump
from discsum.parsers.training.splits import SplitConfig, draw_splits, read_treebank
from discsum.parsers.tree_folder import has_trees, read_folder, sentence_spans
from discsum.tree import Node, RSTTree

STORIES = [german_treebank.story(number) for number in range(german_treebank.COUNT)]


@pytest.fixture
def bank(tmp_path):
    return german_treebank.write(tmp_path / "bank")


def read(folder, sentences="punctuation"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read_folder(folder, sentences)
        found.warn_of_guesses(folder)
    return found, [str(warning.message) for warning in caught]


def test_a_mixed_folder_is_read(bank):
    found, said = read(bank)
    assert list(found.documents) == [story.id for story in STORIES]
    for story in STORIES:
        document = found.documents[story.id]
        assert (document.text, document.edus, document.sentences) == (story.text, story.edus, story.sentences)
        nodes = {(node.first, node.last, node.split, node.nuclearity, node.relation) for node in document.tree.nodes}
        assert nodes == {
            (node.first, node.last, node.split, node.nuclearity, node.relation) for node in story.tree.nodes
        }
    assert len(said) == 1 and "sentences of 15 of 15 documents are guessed" in said[0]
    assert has_trees(bank)


def test_texts_without_final_punctuation_are_told(tmp_path):
    texts = [f"ฝนตก{letter}" for letter in "กขคงจฉชซฌญฎ"]
    nodes = [Node(first, 10, first, "NN", "joint-list") for first in range(10)]
    (tmp_path / "long.rs3").write_text(dump(Document.from_edu_texts(texts, RSTTree(11, nodes)), "rs3"))
    short = Document.from_edu_texts(["เปิดแล้ว", "ปิดแล้ว"], RSTTree(2, [Node(0, 1, 0, "NN", "joint-list")]))
    (tmp_path / "short.rs3").write_text(dump(short, "rs3"))
    _, said = read(tmp_path)
    assert any("found none in 1 documents, such as long; each is taken for one sentence" in line for line in said)


def test_texts_beside_the_trees(bank):
    german_treebank.write_texts(bank)
    found, said = read(bank, "newline")
    assert (found.guessed, said) == (frozenset(), [])
    assert found.documents["text03"].text.count("\n") == 4
    assert found.documents["text03"].sentence_texts == STORIES[3].sentence_texts
    (bank / "text03.txt").write_text("Ein anderer Text.")
    (bank / "text04.txt").unlink()
    found, said = read(bank, "newline")
    assert found.documents["text03"].text == STORIES[3].text
    assert any(
        "text03.txt: expected the text of text03.rs3; the text of its EDUs is used instead" in line for line in said
    )
    assert any("text04.dis: expected a text file next to it, found none" in line for line in said)
    assert any("sentences of 2 of 15 documents are guessed" in line for line in said)


def test_sentences_begin_where_edus_do():
    text = "Heading\n\nIt rained\nall day, so. We left"
    edus = [Span(0, 7), Span(9, 27), Span(28, 31), Span(32, 39)]
    spans = {
        how: [text[one.start : one.end] for one in sentence_spans(text, edus, how)]
        for how in ("punctuation", "newline")
    }
    assert spans["punctuation"] == ["Heading", "It rained\nall day, so.", "We left"]
    assert spans["newline"] == ["Heading", "It rained\nall day, so. We left"]


def test_bad_documents_are_named_and_left_out(bank):
    (bank / "kaputt.rs3").write_text("<rst>")
    shutil.copy(bank / "text00.rs3", bank / "zweimal.rs3")
    (bank / "text01.rs3").write_text(dump(STORIES[1], "rs3"))
    found, said = read(bank)
    assert len(found.documents) == 15
    for part in (
        "kaputt.rs3",
        "zweimal.rs3: expected a text that no other tree file has, but text00 has the same one",
        "text01.rs3: expected one",
    ):
        assert sum(line.startswith("left out: ") and part in line for line in said) == 1
    (bank / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty: expected a folder with tree files that end in \.dis, .*found none"):
        read_folder(bank / "empty")
    with pytest.raises(InputError, match="gone: expected a folder with tree files, found no such folder"):
        read_folder(bank / "gone")


def test_splits_are_drawn_by_name():
    names = [f"n{number}" for number in range(40)]
    splits = draw_splits(names, SplitConfig(dev=0.2, test=0.1))
    assert [len(splits[split]) for split in ("train", "dev", "test")] == [28, 8, 4]
    assert sorted(name for part in splits.values() for name in part) == sorted(names)
    assert splits == draw_splits(names[::-1], SplitConfig(dev=0.2, test=0.1))
    assert splits != draw_splits(names, SplitConfig(dev=0.2, test=0.1, seed=2))
    assert "test" not in draw_splits(names, SplitConfig(test=0.0))
    with pytest.raises(InputError, match=r"dev: expected a sum with test below 1, got 0\.5 \+ 0\.5"):
        SplitConfig(dev=0.5, test=0.5)


@pytest.mark.filterwarnings("ignore::discsum.errors.InputWarning")
def test_trees_of_one_file_are_documents_of_their_own(bank):
    before = read_folder(bank).documents
    paths = sorted(bank.glob("*.dis"))[:3]
    texts = [path.read_text() for path in paths]
    for path in paths:
        path.unlink()
        path.with_suffix(".txt").unlink(missing_ok=True)
    (bank / "all.dis").write_text("\n".join([*texts, texts[0]]))
    found = read_folder(bank)
    assert found.left_out == {"all-4"}
    for number, path in enumerate(paths, start=1):
        assert found.documents[f"all-{number}"].tree == before[path.stem].tree
    assert len(found.documents) == len(before)


@pytest.mark.filterwarnings("ignore::discsum.errors.InputWarning")
def test_splits_from_files(bank):
    (bank / "splits.tsv").write_text("text00\ttrain\ntext01.dis\tdev\n")
    treebank = read_treebank(bank, SplitConfig())
    assert treebank.splits.names == {"train": ["text00"], "dev": ["text01"]}
    (bank / "mine.yaml").write_text("train: [text02, text03]\ndev: [text04]\ntest: [text05]\n")
    treebank = read_treebank(bank, SplitConfig(file="mine.yaml"))
    assert [document.id for document in treebank.train] == ["text02", "text03"]
    (bank / "mine.json").write_text('{"train": ["text02"], "dev": ["text04"]}')
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_treebank(bank, SplitConfig(file="mine.json"))
    assert caught and not any("mine.json: text" in str(one.message) for one in caught)
    (bank / "mine.json").unlink()
    treebank = read_treebank(bank, SplitConfig(file="mine.yaml", leave_out=("*3",)))
    assert [document.id for document in treebank.train] == treebank.splits.names["train"] == ["text02"]
    with pytest.raises(InputError, match=r"no training document 'text04'; expected patterns of names such as text02"):
        read_treebank(bank, SplitConfig(file="mine.yaml", leave_out=("text04",)))
    with pytest.raises(
        InputError, match=r"split\.leave_out: expected patterns that leave .*, got text\*, which match all"
    ):
        read_treebank(bank, SplitConfig(file="mine.yaml", leave_out=("text*",)))
    for content, message in (
        (
            "text00\ttrain\ntext99\tdev\n",
            r"splits\.tsv: expected names of documents with trees, found no tree for text99",
        ),
        ("text00\ttrain\ntext00\tdev\n", "expected text00 in only one split, got train and dev"),
        ("text00\ttrain\n", "expected documents of the splits train and dev, got 1 and 0 of 15"),
    ):
        (bank / "splits.tsv").write_text(content)
        with pytest.raises(InputError, match=message):
            read_treebank(bank, SplitConfig())
    (bank / "mine.yaml").write_text("- text02\n")
    with pytest.raises(InputError, match=r"mine\.yaml: expected a list of documents for each split"):
        read_treebank(bank, SplitConfig(file="mine.yaml"))
    (bank / "splits.tsv").unlink()
    for path in list(bank.iterdir())[2:]:
        path.unlink()
    with pytest.raises(InputError, match="expected"):
        read_treebank(bank, SplitConfig())
