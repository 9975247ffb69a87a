"""Learning from trained parsers."""

import contextlib

import numpy as np
import pytest
import tiny
from safetensors.torch import load_file

from discsum.errors import InputError
from discsum.parsers.parser import Parser
from discsum.parsers.segmenter import EDU_START, SENTENCE_START
from discsum.parsers.training import teachers as module
from discsum.parsers.training.recipe import ParserRecipe
from discsum.parsers.training.teachers import shortened, taught
from discsum.parsers.training.trainer import ParserTrainer
from discsum.parsers.treebank import read_gum

UNSEEN = [tiny.ARTICLE, "The rain stopped, so the miller went to town.", "", "Bread"]


def learn(folder, *parsers, labels=tiny.LABELS):
    return taught(UNSEEN, parsers, tiny.make_tokenizer(), labels, folder)


def test_targets_are_probabilities_over_a_tree_of_the_teachers_edus(parser, tmp_path):
    examples = learn(tmp_path, parser, tiny.make_parser(seed=1))
    assert [example.id for example in examples] == [text[:40] for text in UNSEEN[:2]]
    for example in examples:
        targets, words = example.targets, len(example.subwords)
        edus = len(targets.edu_starts)
        assert example.tree is None
        assert example.tags.shape == (words, 3)
        np.testing.assert_allclose(example.tags.sum(axis=1), 1.0, atol=2e-3)
        starts = example.tags[:, EDU_START] + example.tags[:, SENTENCE_START] > 0.5
        assert set(np.flatnonzero(starts & example.subwords.opens)) <= set(targets.edu_starts)
        assert set(targets.sentence_starts) <= set(targets.edu_starts)
        assert targets.nodes.shape == (edus - 1, 3)
        assert targets.labels.shape == (edus - 1, len(tiny.LABELS))
        np.testing.assert_allclose(targets.labels.sum(axis=1), 1.0, atol=2e-3)
        # Every tree has one left and one right child a node.
        assert targets.expected.left.sum(dtype=float) == pytest.approx(edus - 1, rel=1e-2)
        assert targets.expected.right.sum(dtype=float) == pytest.approx(edus - 1, rel=1e-2)


def test_what_one_teacher_says_is_what_it_parses(parser, tmp_path, monkeypatch):
    monkeypatch.setattr(module.torch, "autocast", lambda *_, **__: contextlib.nullcontext())
    for example, text in zip(learn(tmp_path, parser), UNSEEN, strict=False):
        document = parser.parse(text)
        assert sorted(example.targets.nodes.tolist()) == sorted(document.tree.spans.tolist())
        assert [example.subwords.starts[start] for start in example.targets.edu_starts] == [
            edu.start for edu in document.edus
        ]


def test_a_teacher_who_says_everything_twice_says_it_once(parser, tmp_path):
    once, twice = learn(tmp_path / "once", parser), learn(tmp_path / "twice", parser, parser)
    for one, two in zip(once, twice, strict=True):
        assert one.targets.nodes.tolist() == two.targets.nodes.tolist()
        np.testing.assert_array_equal(one.targets.expected.left, two.targets.expected.left)
        np.testing.assert_array_equal(one.targets.labels, two.targets.labels)


def test_teachers_are_asked_once(parser, tmp_path, monkeypatch):
    first = learn(tmp_path, parser)
    monkeypatch.setattr(module, "_read_together", None)
    again = learn(tmp_path, parser)
    assert [example.targets.nodes.tolist() for example in first] == [
        example.targets.nodes.tolist() for example in again
    ]


def test_teachers_of_another_kind_are_refused(parser, tmp_path):
    with pytest.raises(InputError, match="tiny-top_down: expected a teacher of the design chart"):
        learn(tmp_path, parser, tiny.make_parser("top_down"))
    with pytest.raises(InputError, match=r"tiny-chart: expected a teacher of .* the treebank's labels"):
        learn(tmp_path, parser, labels=tiny.LABELS[1:])
    other = tiny.make_parser()
    other.tokenizer = type(other.tokenizer).from_str(other.tokenizer.to_str().replace('"miller"', '"other"'))
    with pytest.raises(InputError, match="tiny-chart: expected a teacher that cuts texts into the same subwords"):
        learn(tmp_path, parser, other)


def test_long_texts_end_with_a_sentence_or_a_line():
    text = "It rained. The river rose\nThen it stopped. All day"
    assert shortened(text, 100) == text
    assert shortened(text, 20) == "It rained."
    assert shortened(text, 30) == "It rained. The river rose"
    assert shortened("x" * 50, 20) == "x" * 20


class KilledError(Exception):
    pass


def test_a_pupil_learns_from_gold_and_teacher_and_goes_on_after_a_kill(encoder_folder, treebank, tmp_path):
    def run(name, kill_at="never", **changes):
        settings = {"encoder": str(encoder_folder), "network": tiny.SIZES, "epochs": 2, "batch": 1, "rate": 0.01}
        recipe = ParserRecipe.from_dict(settings | changes)
        texts = UNSEEN if recipe.teachers else ()

        def report(line):
            if line.startswith(kill_at):
                raise KilledError

        train, dev = read_gum(treebank, "train"), read_gum(treebank, "dev")
        trainer = ParserTrainer(recipe, train, dev, tmp_path / name, name, texts, report)
        trainer.run(report)
        return trainer

    # With a low threshold even this teacher finds EDUs.
    run("teacher", network={**tiny.SIZES, "edu_threshold": 0.1})
    taught = {"teachers": [str(tmp_path / "teacher" / "best")], "texts": [{"path": "unseen.jsonl"}], "silver": 3}
    pupil = run("pupil", **taught)
    assert len(pupil.silver) > 0
    assert sum(pupil.log[-1]["losses"]) < sum(pupil.log[0]["losses"])
    with pytest.raises(KilledError):
        run("killed", "epoch 2 step 2/2", **taught)
    run("killed", **taught)
    weights = "last.safetensors"
    for key, value in load_file(tmp_path / "pupil" / weights).items():
        assert load_file(tmp_path / "killed" / weights)[key].equal(value), key
    assert Parser.from_pretrained(tmp_path / "pupil" / "best").parse(tiny.ARTICLE).tree is not None
    # All documents have their turn before one comes again.
    turns = [example.id for step in range(len(pupil.silver)) for example in pupil._silver(step)]
    assert all(turns.count(example.id) == 3 for example in pupil.silver)


def test_recipes_with_teachers():
    taught = {"teachers": ["runs/one"], "texts": [{"path": "news.jsonl", "last": 5}]}
    recipe = ParserRecipe.from_dict(taught)
    assert (recipe.teachers, recipe.texts[0].last) == (("runs/one",), 5)
    with pytest.raises(InputError, match="expected teachers and texts together"):
        ParserRecipe.from_dict({"teachers": ["runs/one"]})
    with pytest.raises(InputError, match=r"teachers: expected a list of folders, got 'one'"):
        ParserRecipe.from_dict({"teachers": "one"})
    with pytest.raises(InputError, match=r"texts: expected a list of sources, each with a path, got \['news'\]"):
        ParserRecipe.from_dict({"texts": ["news"]})
    with pytest.raises(InputError, match=r"teachers: expected network\.design chart, got distance"):
        ParserRecipe.from_dict(taught | {"network": {"design": "distance"}})
