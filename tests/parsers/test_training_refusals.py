"""What a parser's training refuses to start or resume with."""

from dataclasses import replace

import pytest
from parser_runs import KilledError, recipe, train

from discsum.errors import InputError, InputWarning, WeightsError
from discsum.parsers.training.examples import digest
from discsum.parsers.training.splits import Treebank
from discsum.parsers.training.task import ParserTask
from discsum.parsers.treebank import read_gum
from discsum.training.loop import TrainingLoop


def test_a_run_goes_on_with_its_own_documents_only(encoder_folder, treebank, tmp_path):
    with pytest.raises(KilledError):
        train(recipe(encoder_folder), treebank, tmp_path / "run", "step 3/")
    bank = Treebank.of_gum("gum", read_gum(treebank, "train")[::-1], read_gum(treebank, "dev"))
    with pytest.raises(InputError, match="expected the training data that the run began with"):
        other = ParserTask(recipe(encoder_folder), bank, "x")
        TrainingLoop(other, tmp_path / "run")


def test_other_labels_layouts_or_dev_documents_are_other_data(encoder_folder, treebank):
    documents = [read_gum(treebank, split) for split in ("train", "dev")]
    task = ParserTask(recipe(encoder_folder), Treebank.of_gum("gum", *documents), "tiny")
    first, *others = task.train
    words, targets = first.subwords, first.targets
    for changed in (
        replace(first, targets=replace(targets, labels=targets.labels[::-1] + 1)),
        replace(first, subwords=replace(words, gaps=words.gaps + 1)),
        replace(first, subwords=replace(words, cases=words.cases + 1)),
    ):
        assert digest([changed, *others]) != digest([first, *others])
    bank = Treebank.of_gum("gum", documents[0], [replace(documents[1][0], id="other")])
    other = ParserTask(recipe(encoder_folder), bank, "tiny")
    assert other.digest != task.digest
    with pytest.raises(InputError, match="expected no validation document among the training documents, got 1"):
        ParserTask(recipe(encoder_folder), Treebank.of_gum("gum", documents[0], documents[0][:1]), "tiny")


def test_teachers_texts_are_no_dev_documents(encoder_folder, treebank, tmp_path):
    train, dev = (read_gum(treebank, split) for split in ("train", "dev"))
    taught = {"teachers": ["gone"], "texts": [{"path": "unseen.jsonl"}]}
    texts = ["The mill stopped.", dev[0].text.replace("\n", "  ")]
    bank = Treebank.of_gum("gum", train, dev)
    task = ParserTask(recipe(encoder_folder, **taught), bank, "tiny", texts=texts, cache=tmp_path)
    with pytest.raises(InputError, match=r"texts: expected none of the 1 documents to validate on, got 1 .* text 2"):
        task.prepare(print)


def test_a_class_of_no_relation_is_refused(encoder_folder, treebank):
    bank = Treebank.of_gum("gum", *(read_gum(treebank, split) for split in ("train", "dev")))
    relation = next(node.relation for node in bank.train[0].tree.nodes)
    with pytest.raises(InputError, match=rf"classes: expected relations of the treebank, got '{relation}x' \(did you"):
        ParserTask(recipe(encoder_folder, classes={f"{relation}x": "other"}), bank, "tiny")
    # Patterns are tables for any treebank with these relations, of which some may be missing.
    classes = {f"{relation.upper()}*": "own", "gone-*": "other"}
    with pytest.warns(InputWarning, match=r"classes: no relation of the treebank has its class by gone-\*$"):
        task = ParserTask(recipe(encoder_folder, classes=classes), bank, "tiny")
    assert task.parser.labels.relation_classes(relation) == "own"


def test_a_damaged_checkpoint_is_named(encoder_folder, treebank, tmp_path):
    (tmp_path / "last.safetensors").write_bytes(b"half a file")
    with pytest.raises(WeightsError, match=r"last\.safetensors: expected a checkpoint.*delete it to start again"):
        train(recipe(encoder_folder), treebank, tmp_path)
