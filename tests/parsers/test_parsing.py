"""Parsing of documents that lack a tree; parsers are loaded once, and no needless trees are built."""

from dataclasses import replace

import pytest
import tiny
import torch

import discsum
from discsum.data.inputs import Item
from discsum.document import Document, Span
from discsum.errors import InputError
from discsum.parsers import budgets
from discsum.parsers.loading import MOST, _loaded, load_parser
from discsum.parsers.parser import Parser
from discsum.parsers.parsing import ensure_parsed, ensure_segmented, split_lines
from discsum.parsers.reading import STATES
from discsum.parsers.segmenter import split_sentences
from discsum.scoring import ParsedDocument, extract
from discsum.selection import default_policy
from discsum.summarizer.extractive import ExtractiveSummarizer
from discsum.summarizer.loading import _loaded as loaded_scorers
from discsum.tree import RSTTree


@pytest.fixture
def built(monkeypatch):
    """A list with one entry for each tree that was built since the test began."""
    trees, decode = [], RSTTree.from_unordered
    monkeypatch.setattr(RSTTree, "from_unordered", classmethod(lambda cls, *parts: trees.append(cls) or decode(*parts)))
    return trees


def test_parse_and_summarize_load_one_parser(monkeypatch):
    loads, load = [], Parser.from_pretrained.__func__

    def counted(cls, *name, **options):
        loads.append(name)
        return load(cls, *name, **options)

    monkeypatch.setattr(Parser, "from_pretrained", classmethod(counted))
    _loaded.cache_clear()
    loaded_scorers.cache_clear()
    discsum.parse("The river rose. The mill stopped.")
    discsum.summarize("The river rose. The mill stopped.", units=1)
    assert len(loads) == 1


def test_a_parser_is_loaded_once_while_its_folder_is_the_same(parser_folder, tmp_path):
    assert load_parser(parser_folder) is load_parser(str(parser_folder))
    for seed in (1, 2):
        tiny.make_parser(seed=seed).save_pretrained(tmp_path / "own")
        found = load_parser(tmp_path / "own")
        assert found is load_parser(tmp_path / "own")
        assert found.fingerprint == Parser.from_pretrained(tmp_path / "own").fingerprint
    kept = load_parser(parser_folder)
    for seed in range(MOST):
        tiny.make_parser(seed=seed).save_pretrained(tmp_path / str(seed))
        load_parser(tmp_path / str(seed))
    assert load_parser(parser_folder) is not kept


@pytest.mark.parametrize("unit", ["sentence", "edu"])
def test_scoring_builds_a_tree_only_where_there_is_none(summarizer_folders, built, unit):
    summarizer, policy = ExtractiveSummarizer.from_pretrained(summarizer_folders[unit]), default_policy(unit)
    document = summarizer.parser.parse(tiny.ARTICLE)
    built.clear()
    extract(document, summarizer, policy)
    assert len(built) == 0
    bare = Item("bare", "here", document.text, replace(document, tree=None))
    (parsed,) = ensure_parsed([bare], lambda: summarizer.parser)
    again = extract(parsed.document, summarizer, policy, scores=summarizer.scores([parsed], unit)[0])
    assert len(built) == 1
    assert again.document.tree.spans.tolist() == document.tree.spans.tolist()


def test_vectors_are_computed_once_for_several_models(summarizer_folders, monkeypatch):
    models = [ExtractiveSummarizer.from_pretrained(summarizer_folders["sentence"]) for _ in range(2)]
    item = ParsedDocument(models[0].parser.parse(tiny.ARTICLE))
    encodings, vectors = [], Parser.vectors
    monkeypatch.setattr(Parser, "vectors", lambda self, *of: encodings.append(of) or vectors(self, *of))
    one, other = (model.scores([item], "sentence")[0].tolist() for model in models)
    assert one == other
    assert len(encodings) == 1


def test_texts_and_trees_in_their_order(parser, built):
    tree = tiny.make_parser("distance").parse(tiny.ARTICLE, id="old")
    items = [Item("a", "", "The mill broke.\nRain came."), Item("b", "", tree.text, tree), Item("c", "", "")]
    built.clear()
    found = ensure_parsed(items, lambda: parser, sentences="newline", edus="newline")
    assert [item.document.id for item in found] == ["a", "b", "c"]
    assert found[0].document.edu_texts == ("The mill broke.", "Rain came.")
    assert found[1].document == tree.with_id("b")
    assert [bool(item.vectors) for item in found] == [True, False, True]
    assert len(built) == 1
    (encoded,) = ensure_parsed([items[1]], lambda: parser, keep=["edu"])
    assert encoded.vectors[parser.fingerprint].document == tree.with_id("b")
    assert len(built) == 1


@pytest.mark.parametrize("room", [1, 10**6])
def test_documents_with_trees_are_encoded_together(parser, monkeypatch, room):
    trees = [
        replace(parser.parse(text), id=str(place)) for place, text in enumerate((tiny.ARTICLE, "Rain.", "Rain fell."))
    ]
    bare = replace(trees[0], tree=None)
    items = [Item(str(place), "", own.text, own) for place, own in enumerate([trees[1], bare, trees[0], trees[2]])]
    items.insert(2, Item("text", "", "The mill broke."))
    monkeypatch.setattr(budgets, "ON_CPU", replace(budgets.ON_CPU, documents=room))
    calls, vectors = [], Parser.vectors
    monkeypatch.setattr(
        Parser, "vectors", lambda self, some, keep: calls.append(len(some)) or vectors(self, some, keep)
    )
    found = ensure_parsed(items, lambda: parser, keep=[STATES, "edu"])
    assert calls == [3]
    assert [item.document.id for item in found] == ["0", "1", "text", "2", "3"]
    for item, given in zip(found, items, strict=True):
        assert item.document.text == given.text
        alone = parser.vectors([item.document], [STATES, "edu"])[0].vectors
        for name, own in item.vectors[parser.fingerprint].vectors.items():
            torch.testing.assert_close(own, alone[name])


def test_lines_are_edus_of_documents_that_have_sentences_only(parser):
    text = "The mill broke\nand rain came."
    document = Document.from_spans(text, [Span(0, len(text))], [], None)
    (found,) = ensure_parsed([Item("a", "", text, document)], lambda: parser, edus="newline")
    assert found.document.edu_texts == ("The mill broke", "and rain came.")
    assert found.document.sentences == document.sentences


def test_texts_are_no_documents(parser):
    with pytest.raises(TypeError, match=r"^documents: expected Document, got str; parse the texts first$"):
        parser.vectors(["It rained."], ["edu"])
    with pytest.raises(TypeError, match=r"^document: expected Document, got str; parse the text first$"):
        extract("It rained.", None, default_policy("edu"))


def test_trees_need_no_parser(parser):
    tree = parser.parse(tiny.ARTICLE)
    (found,) = ensure_parsed([Item("a", "", tree.text, tree)], lambda: pytest.fail("asked for a parser"))
    assert found.document == tree.with_id("a")


def test_sentences_without_a_tree(parser, built):
    tree = parser.parse(tiny.ARTICLE)
    built.clear()
    text, given = ensure_segmented([Item("a", "", tree.text), Item("b", "", tree.text, tree)], lambda: parser)
    assert (text.sentences, text.edus, text.tree, given.tree) == (tree.sentences, tree.edus, None, tree.tree)
    assert len(built) == 0


def test_doubts_of_documents_without_a_tree_are_kept(parser):
    given = replace(parser.segment([tiny.ARTICLE])[0], warnings=("as given",))
    (found,) = ensure_parsed([Item("a", "", given.text, given)], lambda: parser)
    assert found.document.tree is not None and found.document.warnings[0] == "as given"


def test_sentences_of_several_lines_become_one_line_each(parser):
    text = "The mill stood still\nbecause the river fell.\n\nNobody came."
    (lines,) = split_lines([text], parser)
    assert len(lines.splitlines()) == len(parser.segment([text])[0].sentences)
    assert " ".join(lines.split()) == " ".join(text.split())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\v", "\u0085", "\u2028"])
def test_every_line_end_ends_a_sentence_that_is_a_line(end):
    text = f"Rain fell{end}  The mill stood still "
    assert [text[span.start : span.end] for span in split_sentences(text, "newline")] == [
        "Rain fell",
        "The mill stood still",
    ]


def test_a_parser_is_no_splitter():
    with pytest.raises(InputError, match="expected nltk or newline to split sentences, got 'model'"):
        split_sentences("Rain fell.", "model")
