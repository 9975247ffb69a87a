"""Parsers of treebanks other than GUM: training on German stories, other scripts and encoders, and evaluation."""

import json
import shutil
import warnings

import german_treebank
import pytest
import tiny_encoders

from discsum.document import Document, Span
from discsum.errors import InputError, InputWarning
from discsum.formats import dump
from discsum.parsers.encoder import longest_window
from discsum.parsers.parser import Parser
from discsum.parsers.parseval import parseval
from discsum.parsers.pretrained import pretrained_encoder
from discsum.parsers.subwords import split_subwords
from discsum.parsers.training import examples
from discsum.parsers.training.examples import GoldExamples, label_set
from discsum.parsers.training.gold_splits import read_split
from discsum.parsers.training.recipe import ParserRecipe
from discsum.parsers.training.splits import Treebank, read_treebank
from discsum.parsers.training.task import ParserTask
from discsum.relation_classes import RelationClasses
from discsum.training.loop import TrainingLoop
from discsum.tree import Node, RSTTree

STORIES = [german_treebank.story(number) for number in range(german_treebank.COUNT)]
CHINESE = ["因为下雨，", "我们回家。", "天黑了，", "所以没人出门。"]
ARABIC = ["عندما ارتفع النهر،", "توقفت الطاحونة.", "هل عاد الخباز", "لأن الخبز رخيص؟"]


def settings(encoder, **changes):
    network = {"window": 64, "hidden": 32, "tagger_hidden": 32, "rank": 16, "label_inner": 32, "layers": 1}
    network |= {"dropout": 0.1, "overlap": 12}
    fields = {
        "encoder": str(encoder),
        "network": network,
        "epochs": 12,
        "batch_size": 1,
        "learning_rate": 0.005,
        "average": 0.9,
    }
    fields |= {
        "encoder_learning_rate": 0.001,
        "flatten": 0,
        "section": 0,
        "drop_satellites": 0,
        "bf16": False,
        "validate_every": 66,
    }
    return ParserRecipe.from_dict(fields | changes)


def run(recipe, folder, bank, report=lambda line: None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        treebank = read_treebank(bank, recipe.split, recipe.sentences)
    task = ParserTask(recipe, treebank, "klein")
    loop = TrainingLoop(task, folder, report)
    loop.run()
    return treebank


def test_classes_of_relations():
    gum = RelationClasses.of(["elaboration-additional", "joint-list", "same-unit"], {})
    assert (gum("elaboration-attribute"), gum("same-unit"), gum.kind) == ("elaboration", "same-unit", "classes")
    assert {gum.scored(one) for one in ("joint-list", "Joint-List", "Joint")} == {"joint"}
    own = RelationClasses.of(["volitional-cause", "list"], {})
    assert (own("volitional-cause"), own.kind) == ("volitional-cause", "labels")
    named = RelationClasses.of(["ursache", "zweck:gut"], {"ursache": "grund"})
    assert (named("ursache"), named("zweck:gut"), named.kind[:8]) == ("grund", "zweck:gut", "classes-")
    assert RelationClasses.of(["zweck:gut", "ursache"], {"ursache": "grund"}).kind == named.kind
    others = ({"ursache": "folge"}, {"ursache": "grund", "folge": "grund"})
    assert named.kind not in {RelationClasses.of(["ursache", "zweck:gut"], other).kind for other in others}
    tree = RSTTree(2, [Node(0, 1, 0, "NS", "ursache")])
    other = RSTTree(2, [Node(0, 1, 0, "NS", "folge")])
    gold, guess = ([Document.from_edu_texts(["So", "it is."], one)] for one in (tree, other))
    assert parseval(gold, guess, classes=own).relation == 0
    assert parseval(gold, guess, classes=RelationClasses({"ursache": "a", "folge": "a"})).relation == 100


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The treebank of German stories, and the folder that holds it and the run of a parser trained on it."""
    folder = tmp_path_factory.mktemp("german")
    german_treebank.write(folder / "bank")
    encoder = tiny_encoders.save(folder / "encoder", "bert", [story.text for story in STORIES])
    recipe = settings(encoder, language="de", classes={"folge": "reihung", "e-reihe": "reihung"})
    return run(recipe, folder / "run", folder / "bank"), folder


def test_the_english_encoder_is_doubted_for_another_language():
    with pytest.warns(InputWarning, match="encoder: expected one of the language 'de', got discsum-gum, which is Engl"):
        ParserTask(settings("discsum-gum", language="de"), Treebank.of_gum("klein", STORIES[:2], STORIES[2:3]), "klein")


def right_branching(documents):
    """Return the documents with right-branching trees whose nodes all have the most frequent label."""
    nodes = [(node.nuclearity, node.relation) for one in documents for node in one.tree.nodes]
    label = max(set(nodes), key=nodes.count)
    return [
        Document.from_spans(
            one.text,
            one.sentences,
            one.edus,
            RSTTree(len(one.edus), [Node(at, len(one.edus) - 1, at, *label) for at in range(len(one.edus) - 1)]),
        )
        for one in documents
    ]


def test_it_learns_its_documents(trained):
    treebank, folder = trained
    parser = Parser.from_pretrained(folder / "run" / "best")
    assert set(parser.network.labels.labels) == set(label_set(treebank.train))
    assert (("NN", "reihung") in parser.network.labels.classes, parser.language) == (True, "de")
    found = [parser.parse(one.text, sentences=one.sentences, edus=one.edus) for one in treebank.train]
    classes = parser.network.labels.relation_classes
    learned = parseval(treebank.train, found, classes=classes)
    trivial = parseval(treebank.train, right_branching(treebank.train), classes=classes)
    assert learned.full > trivial.full + 40 and learned.span > trivial.span + 20
    again = Parser.from_pretrained(folder / "run" / "best").parse(treebank.train[0].text)
    assert again.tree == parser.parse(treebank.train[0].text).tree


def test_the_card_and_the_splits_are_kept(trained):
    treebank, folder = trained
    card = (folder / "run" / "best" / "README.md").read_text()
    for part in (
        "language: de",
        "11 documents of the treebank `bank` (88 EDUs, 6 relations)",
        "the 2 of the test split",
    ):
        assert part in card
    assert "Georgetown" not in card and "license:" not in card.split("\n# ")[0]
    kept = json.loads((folder / "run" / "best" / "treebank.json").read_text())
    assert kept["names"] == treebank.splits.names and len(kept["texts"]) == 15


@pytest.mark.filterwarnings("ignore::discsum.errors.InputWarning")
def test_the_held_out_part_is_measured(trained, tmp_path):
    treebank, folder = trained
    best = folder / "run" / "best"
    bank = shutil.copytree(folder / "bank", tmp_path / "bank")
    # A document that was added after training is in no split.
    (bank / "neu.rs3").write_text(
        dump(Document.from_edu_texts(["Neu", "hier."], RSTTree(2, [Node(0, 1, 0, "NN", "folge")])), "rs3")
    )
    assert [one.id for one in read_split(bank, "test", [best])[0].documents] == treebank.splits.names["test"]
    assert len(read_split(bank, "all", [best])[0].documents) == 16
    with pytest.raises(InputError, match="expected the split 'other', found train, dev, test"):
        read_split(bank, "other", [best])
    next(bank.glob(treebank.splits.names["test"][0] + ".*")).unlink()
    missing = (
        r"treebank\.json: expected names of documents with trees, found no tree for text\S+; name the treebank that "
    )
    with pytest.raises(
        InputError, match=missing + r".*run/best was trained on, .* or measure on all of .*bank with --split all"
    ):
        read_split(bank, "test", [best])
    with pytest.raises(InputError, match="measure on all of its 15 documents with --split all"):
        read_split(bank, "test", ["discsum-gum"])


def test_a_killed_run_goes_on(trained, tmp_path):
    _, folder = trained
    recipe = settings(folder / "encoder", epochs=2, validate_every=11)

    class KilledError(Exception):
        pass

    def kill(line):
        if line.startswith("step 15/"):
            raise KilledError

    run(recipe, tmp_path / "whole", folder / "bank")
    with pytest.raises(KilledError):
        run(recipe, tmp_path / "killed", folder / "bank", kill)
    run(recipe, tmp_path / "killed", folder / "bank")
    whole, killed = (tmp_path / name / "best" / "model.safetensors" for name in ("whole", "killed"))
    assert whole.read_bytes() == killed.read_bytes()


@pytest.mark.parametrize("kind", tiny_encoders.KINDS)
def test_encoders_of_other_kinds(kind, tmp_path):
    texts = [story.text for story in STORIES]
    encoder = tiny_encoders.save(tmp_path / kind, kind, texts)
    loaded = pretrained_encoder(str(encoder))
    # RoBERTa and related models number positions from the padding index plus one.
    assert longest_window(loaded.encoder) == (64 if "roberta" in kind else 66)
    german_treebank.write(tmp_path / "bank")
    run(settings(encoder, epochs=1), tmp_path / "run", tmp_path / "bank")
    parser = Parser.from_pretrained(tmp_path / "run" / "best")
    assert parser.parse(texts[0] * 6).tree is not None
    # A parser's folder can be loaded as an encoder too.
    assert pretrained_encoder(str(tmp_path / "run" / "best")).special == loaded.special
    network = {"window": 70, "overlap": 8}
    with pytest.raises(
        InputError, match=r"network\.window: expected at most 6[46] subwords.* set network\.window=6[46]"
    ):
        run(settings(encoder, network=network), tmp_path / "other", tmp_path / "bank")


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta", "roberta"])
@pytest.mark.parametrize("edus", [CHINESE, ARABIC])
def test_other_scripts_have_a_subword_where_a_unit_begins(kind, edus, tmp_path):
    nodes = [Node(0, 3, 1, "NN", "folge"), Node(0, 1, 0, "SN", "ursache"), Node(2, 3, 2, "SN", "ursache")]
    document = Document.from_edu_texts(edus, RSTTree.from_unordered(4, nodes), id="other")
    assert len(document.sentences) == 2
    tokenizer = pretrained_encoder(str(tiny_encoders.save(tmp_path, kind, edus))).tokenizer
    words = split_subwords(document.text, tokenizer)
    assert (words.ends[1:] >= words.ends[:-1]).all() and (words.starts < words.ends).all()
    examples = GoldExamples([document], tokenizer, label_set([document]))
    starts = examples[0].targets.edu_starts
    assert [int(words.starts[at]) for at in starts] == [edu.start for edu in document.edus]
    assert words.opens[starts].all()


def test_a_segmenter_of_a_script_without_spaces(tmp_path):
    bank = tmp_path / "bank"
    bank.mkdir()
    causes, things = ("下雨", "刮风", "天黑", "河涨"), ("回家", "关门", "停工", "上山")
    texts = []
    for number in range(12):
        edus = [
            f"因为{causes[number % 4]}，",
            f"我们{things[number // 3]}。",
            f"大家{things[number % 4]}",
            f"所以{causes[number // 3]}。",
        ]
        nodes = [Node(0, 3, 1, "NN", "顺承"), Node(0, 1, 0, "SN", "因果"), Node(2, 3, 2, "NS", "结果")]
        document = Document.from_edu_texts(edus, RSTTree.from_unordered(4, nodes))
        texts.append(document.text)
        (bank / f"{number}.rs3").write_text(dump(document, "rs3"), encoding="utf-8")
    encoder = tiny_encoders.save(tmp_path / "encoder", "bert", texts)
    run(settings(encoder, epochs=10, validate_every=100), tmp_path / "run", bank)
    parser = Parser.from_pretrained(tmp_path / "run" / "best")
    found = parser.parse("因为下雨，我们停工。大家上山所以刮风。")
    assert found.edu_texts == ("因为下雨，", "我们停工。", "大家上山", "所以刮风。")
    assert found.sentence_texts == ("因为下雨，我们停工。", "大家上山所以刮风。")


def test_a_tokenizer_of_another_language_is_doubted(tmp_path):
    tokenizer = pretrained_encoder(str(tiny_encoders.save(tmp_path, "bert", ["only english words here"]))).tokenizer
    nodes = [Node(0, 3, 1, "NN", "a"), Node(0, 1, 0, "SN", "b"), Node(2, 3, 2, "SN", "b")]
    document = Document.from_edu_texts(CHINESE, RSTTree.from_unordered(4, nodes))
    with pytest.warns(InputWarning, match="the encoder's tokenizer does not know"):
        GoldExamples([document], tokenizer, label_set([document]))


def test_a_document_without_subwords_of_its_own_is_left_out(tokenizer):
    nodes = [Node(0, 1, 0, "NN", "a")]
    good = Document.from_edu_texts(["the mill", "stopped."], RSTTree(2, nodes), id="good")
    chain = RSTTree(3, [Node(0, 2, 0, "NN", "a"), Node(1, 2, 1, "NN", "a")])
    bad = Document.from_edu_texts(["the mill", "\u200b", "stopped."], chain, id="bad")
    with pytest.warns(InputWarning, match="left out: bad: expected no two EDUs to share a subword"):
        assert GoldExamples([good, bad], tokenizer, [("NN", "a")]).documents == [good]
    with (
        pytest.warns(InputWarning),
        pytest.raises(InputError, match="expected at least one usable training document, got none"),
    ):
        GoldExamples([bad], tokenizer, [("NN", "a")])


def test_borders_inside_of_subwords_are_counted(tokenizer):
    spans, tree = [Span(0, 12)], RSTTree(2, [Node(0, 1, 0, "NN", "a")])
    moved = Document.from_spans("the millrace", spans, [Span(0, 6), Span(6, 12)], tree)
    plain = Document.from_spans("the millrace", spans, [Span(0, 4), Span(4, 12)], tree)
    with pytest.warns(InputWarning, match="^1 of 4 EDUs begin inside of subwords; they are learned to begin with"):
        GoldExamples([moved, plain], tokenizer, [("NN", "a")])


def test_a_document_whose_chart_is_large_is_named(monkeypatch):
    monkeypatch.setattr(examples, "LARGEST_CHART", 2)
    document = Document.from_edu_texts(["the mill", "stopped."], RSTTree(2, [Node(0, 1, 0, "NN", "a")]), id="long")
    with pytest.warns(InputWarning, match=r"long: a training chart over its 2 EDUs takes some 0 GiB of memory"):
        examples.warn_of_memory([document])


@pytest.mark.filterwarnings("ignore::discsum.errors.InputWarning")
def test_a_treebank_that_lost_a_document_keeps_its_splits(trained, tmp_path):
    treebank, folder = trained
    bank, best = shutil.copytree(folder / "bank", tmp_path / "bank"), folder / "run" / "best"
    names = treebank.splits.names
    for path in bank.glob(f"{names['train'][0]}.*"):
        path.unlink()
    (bank / "splits.tsv").write_text(f"{names['train'][1]}\ttest\n{names['test'][0]}\ttrain\n")
    assert [one.id for one in read_split(bank, "test", [best])[0].documents] == names["test"]


@pytest.mark.filterwarnings("ignore::discsum.errors.InputWarning")
def test_another_treebank_with_the_same_names_is_not_that_of_the_parser(trained, tmp_path):
    treebank, folder = trained
    tree = RSTTree(2, [Node(0, 1, 0, "NN", "folge")])
    for number, name in enumerate(treebank.splits.names["test"]):
        (tmp_path / f"{name}.rs3").write_text(dump(Document.from_edu_texts([f"Neu {number}", "hier."], tree), "rs3"))
    with pytest.raises(InputError, match=r"expected a treebank that .* was trained on, or one with splits.tsv"):
        read_split(tmp_path, "test", [folder / "run" / "best"])


@pytest.mark.filterwarnings("ignore::discsum.errors.InputWarning")
def test_another_treebank_with_some_of_the_names_has_its_own_splits(trained, tmp_path):
    treebank, folder = trained
    first = treebank.splits.names["test"][0]
    bank = tmp_path / "bank"
    bank.mkdir()
    for number, name in enumerate((first, "other")):
        (bank / f"{name}.rs3").write_text(
            dump(Document.from_edu_texts([f"Neu {number}", "hier."], RSTTree(2, [Node(0, 1, 0, "NN", "folge")])), "rs3")
        )
    (bank / "splits.tsv").write_text(f"{first}\ttrain\nother\ttest\n")
    assert [one.id for one in read_split(bank, "test", [folder / "run" / "best"])[0].documents] == ["other"]


@pytest.mark.filterwarnings("ignore:.*are guessed")
def test_a_parser_is_measured_on_the_splits_of_another(trained, parser_folder):
    treebank, folder = trained
    own, other = read_split(folder / "bank", "test", [folder / "run" / "best", parser_folder])
    assert [one.id for one in own.documents] == [one.id for one in other.documents] == treebank.splits.names["test"]


@pytest.mark.filterwarnings("ignore:.*are guessed")
def test_measured_documents_of_the_training_set_are_counted(trained, tmp_path):
    treebank, folder = trained
    best, bank = folder / "run" / "best", folder / "bank"
    count = len(treebank.train)
    with pytest.warns(InputWarning, match=rf"run/best: was trained on {count} of the \d+ documents of .*bank, all"):
        read_split(bank, "all", [best])
    name = treebank.splits.names["train"][0]
    (tmp_path / "test").mkdir()
    shutil.copy(next(bank.glob(f"{name}.*")), tmp_path / "test")
    other = dump(Document.from_edu_texts(["Neu", "hier."], RSTTree(2, [Node(0, 1, 0, "NN", "folge")])), "rs3")
    for split in ("train", "test"):
        (tmp_path / split).mkdir(exist_ok=True)
        (tmp_path / split / f"{split}-new.rs3").write_text(other.replace("Neu", split))
    with pytest.warns(InputWarning, match="run/best: was trained on 1 of the 2 documents of .*, test"):
        read_split(tmp_path, "test", [best])


def test_a_folder_is_read_once_for_several_parsers(trained):
    treebank, folder = trained
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        first, second = read_split(folder / "bank", "test", [folder / "run" / "best"] * 2)
    names = [[one.id for one in gold.documents] for gold in (first, second)]
    assert names == [treebank.splits.names["test"]] * 2 and first.guessed >= set(names[0])
    assert len(caught) == 1 and "are guessed" in str(caught[0].message)
