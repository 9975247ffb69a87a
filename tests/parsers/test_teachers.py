"""Learning from trained parsers."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import tiny
from safetensors.torch import load_file

from discsum.errors import InputError
from discsum.experiments.training_runs import _texts
from discsum.parsers import budgets
from discsum.parsers.parser import Parser
from discsum.parsers.subwords import split_subwords
from discsum.parsers.training.examples import digest
from discsum.parsers.training.model_soup import train_seeds
from discsum.parsers.training.pseudo_labels import pseudo_label, separate_paragraphs, shuffled_cycle, truncate
from discsum.parsers.training.recipe import ParserRecipe
from discsum.parsers.training.splits import Treebank
from discsum.parsers.training.task import ParserTask
from discsum.parsers.training.teachers import Teachers
from discsum.parsers.treebank import read_gum
from discsum.recipes.sources import Rows
from discsum.training.loop import TrainingLoop

pytestmark = pytest.mark.usefixtures("bfloat16_everywhere")

# Only the first text contains the word "baker".
UNSEEN = [tiny.ARTICLE, tiny.ARTICLE.split("\n\n")[1], "", "Bread"]


def learn(folder, *parsers, bf16=False):
    return pseudo_label(UNSEEN, Teachers(parsers, bf16), tiny.make_tokenizer(), folder)


def test_targets_are_probabilities_over_a_tree_of_the_teachers_edus(parser, tmp_path):
    examples = learn(tmp_path, parser, tiny.make_parser(seed=1), bf16=True)
    assert [example.id for example in examples] == [text[:40] for text in UNSEEN[:2]]
    for example in examples:
        targets, words = example.targets, len(example.subwords)
        edus = len(targets.edu_starts)
        assert example.tree is None
        assert example.tags.shape == (words, 3)
        np.testing.assert_allclose(example.tags.sum(axis=1), 1.0, atol=2e-3)
        assert set(targets.sentence_starts) <= set(targets.edu_starts)
        assert targets.nodes.shape == (edus - 1, 3)
        assert targets.labels.shape == (edus - 1, len(tiny.LABELS))
        np.testing.assert_allclose(targets.labels.sum(axis=1), 1.0, atol=2e-3)
        # In every tree, each node has one left and one right child.
        assert targets.expected.left.sum(dtype=float) == pytest.approx(edus - 1, rel=1e-2)
        assert targets.expected.right.sum(dtype=float) == pytest.approx(edus - 1, rel=1e-2)


def test_the_first_teacher_cuts_and_all_say_how_probable_it_is(parser, tmp_path):
    other, third = tiny.make_parser(seed=1), tiny.make_parser(seed=2)
    other.fingerprint, third.fingerprint = "other", "third"
    together = learn(tmp_path, parser, other)
    assert len(list(tmp_path.iterdir())) == len(UNSEEN) + len(together)
    for first, second, both in zip(learn(tmp_path, parser), learn(tmp_path, other), together, strict=True):
        assert both.targets.edu_starts.tolist() == first.targets.edu_starts.tolist()
        assert both.targets.nodes.tolist() == first.targets.nodes.tolist()
        np.testing.assert_allclose(both.tags, (first.tags + second.tags) / 2, atol=1e-3)
    # If a teacher is added, only that one is asked.
    learn(tmp_path, parser, other, third)
    assert len(list(tmp_path.iterdir())) == 2 * len(UNSEEN) + 2 * len(together)


def test_what_one_teacher_says_is_what_it_parses(parser, tmp_path):
    for example, text in zip(learn(tmp_path, parser), UNSEEN[:2], strict=True):
        document = parser.parse(text)
        assert sorted(example.targets.nodes.tolist()) == sorted(document.tree.spans.tolist())
        assert [example.subwords.starts[start] for start in example.targets.edu_starts] == [
            edu.start for edu in document.edus
        ]


def test_teachers_begin_sentences_where_lists_do(parser, tmp_path):
    text = "The mill needs:\n\n- new stones\n- a wheel of oak\n- two men\n\nNobody in the town can pay for all of it."
    (example,) = pseudo_label([text], Teachers((parser,), False), tiny.make_tokenizer(), tmp_path)
    document = parser.parse(text)
    assert {0, *(span.start for span in document.sentences)} == {
        0,
        *example.subwords.starts[example.targets.sentence_starts].tolist(),
    }
    assert {text.index("- new"), text.index("- two")} <= {span.start for span in document.sentences}


def test_texts_are_labelled_together_as_alone(parser, tmp_path, monkeypatch):
    other = tiny.make_parser(seed=1)
    other.tokenizer = type(other.tokenizer).from_str(other.tokenizer.to_str().replace('"baker"', '"other"'))
    # Two texts come twice; another's predictions are in the cache.
    texts = [*UNSEEN, *reversed(tiny.ARTICLE.split("\n\n")), UNSEEN[0]]

    def label(name):
        return pseudo_label(texts, Teachers((parser, other), False), tiny.make_tokenizer(), tmp_path / name)

    alone = label("alone")
    pseudo_label(UNSEEN[1:], Teachers((parser, other), False), tiny.make_tokenizer(), tmp_path / "together")
    monkeypatch.setattr(budgets, "ON_CPU", budgets.ELSEWHERE)
    together = label("together")
    assert digest(label("together")) == digest(together)
    for one, both in zip(alone, together, strict=True):
        assert (one.id, one.targets.edu_starts.tolist()) == (both.id, both.targets.edu_starts.tolist())
        assert one.targets.nodes.tolist() == both.targets.nodes.tolist()
        for name in ("left", "right"):
            found, expected = (getattr(example.targets.expected, name) for example in (both, one))
            np.testing.assert_allclose(found, expected, atol=2e-3)
        np.testing.assert_allclose(both.targets.labels, one.targets.labels, atol=2e-3)
        np.testing.assert_allclose(both.tags, one.tags, atol=2e-3)


def test_a_teacher_who_says_everything_twice_says_it_once(parser, tmp_path):
    once, twice = learn(tmp_path / "once", parser), learn(tmp_path / "twice", parser, parser)
    for one, two in zip(once, twice, strict=True):
        assert one.targets.nodes.tolist() == two.targets.nodes.tolist()
        np.testing.assert_array_equal(one.targets.expected.left, two.targets.expected.left)
        np.testing.assert_array_equal(one.targets.labels, two.targets.labels)
    assert digest(once) == digest(twice)


def test_teachers_are_asked_once(parser, tmp_path, monkeypatch):
    first = learn(tmp_path, parser)
    written = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(written) == len(UNSEEN)
    # Only an answer that a crash left incomplete is asked for again.
    damaged = next(path for path, content in written.items() if len(content) > 1000)
    damaged.write_bytes(written[damaged][:500])
    asked = []
    predict = Teachers.predict
    monkeypatch.setattr(Teachers, "predict", lambda *arguments: asked.append(1) or predict(*arguments))
    assert digest(learn(tmp_path, parser)) == digest(first)
    assert (len(asked), {path: path.read_bytes() for path in tmp_path.iterdir()}) == (1, written)


def test_answers_are_kept_apart(parser, parser_folder, tmp_path, monkeypatch):
    words = split_subwords(UNSEEN[1], tiny.make_tokenizer())
    fewer = split_subwords("The rain", tiny.make_tokenizer())
    saved = Parser.from_pretrained(parser_folder)
    other = tiny.make_parser(window=24)
    keys = [
        Teachers((saved,)).key(0, UNSEEN[1], words),
        Teachers((saved, saved)).key(1, UNSEEN[1], words),
        Teachers((other, saved)).key(1, UNSEEN[1], words),
        Teachers((saved,), bf16=False).key(0, UNSEEN[1], words),
        Teachers((saved,)).key(0, UNSEEN[1], fewer),
        Teachers((saved,)).key(0, "\ud800", words),
        Teachers((saved,)).key(0, "?", words),
        Teachers((parser,)).key(0, UNSEEN[1], words),
        Teachers((other,)).key(0, UNSEEN[1], words),
    ]
    monkeypatch.setattr("discsum.parsers.training.teachers.FORMAT", 0)
    keys.append(Teachers((saved,)).key(0, UNSEEN[1], words))
    assert len(set(keys)) == len(keys)


def test_teachers_of_another_kind_are_refused(parser_folder, tmp_path):
    assert Teachers.load([str(parser_folder)], tiny.LABELS, "cpu", bf16=True).parsers[0].name == "tiny-chart"
    with pytest.raises(InputError, match="folders of trained ones, or hf:NAME, found no none, nowhere"):
        Teachers.load(["none", str(parser_folder), "nowhere"], tiny.LABELS, "cpu", bf16=True)
    with pytest.raises(
        InputError, match="discsum-gum: expected a teacher with the treebank's 7 labels, got one with 50 other labels"
    ):
        Teachers.load(["discsum-gum"], tiny.LABELS, "cpu", bf16=True)
    with pytest.raises(
        InputError, match="tiny-parser: expected a teacher with the treebank's 6 labels, got one with 7 other labels"
    ):
        Teachers.load([str(parser_folder)], tiny.LABELS[1:], "cpu", bf16=True)
    tiny.make_parser("top_down").save_pretrained(tmp_path / "greedy")
    with pytest.raises(InputError, match="greedy: expected a teacher of design chart, got top_down"):
        Teachers.load([str(tmp_path / "greedy")], tiny.LABELS, "cpu", bf16=True)


def test_texts_that_teachers_cut_otherwise_are_left_out(parser, tmp_path):
    other = tiny.make_parser()
    other.tokenizer = type(other.tokenizer).from_str(other.tokenizer.to_str().replace('"baker"', '"other"'))
    assert [example.id[:8] for example in learn(tmp_path, parser, other)] == ["When the"]
    other.tokenizer = type(other.tokenizer).from_str(other.tokenizer.to_str().replace('"miller"', '"another"'))
    with pytest.raises(InputError, match="the same subwords, found none among 4"):
        learn(tmp_path / "none", parser, other)


def test_long_texts_end_with_a_sentence_or_a_line():
    text = "It rained. The river rose\nThen it stopped. All day"
    assert truncate(text, 100) == text
    assert truncate(text, 20) == "It rained."
    assert truncate(text, 30) == "It rained. The river rose"
    assert truncate("x" * 50, 20) == "x" * 20
    assert truncate("\n" + "x" * 50, 20) == "\n" + "x" * 19


def test_paragraphs_are_told_from_lines():
    paragraph = "The river rose and fell. " * 8
    assert separate_paragraphs(f"{paragraph}\n{paragraph}") == f"{paragraph}\n\n{paragraph}"
    for text in (paragraph, "A line.\n" * 9, f"{paragraph}\n{paragraph}\n\n{paragraph}", ""):
        assert separate_paragraphs(text) == text


def test_every_example_has_its_turn():
    row = [example for step in range(6) for example in shuffled_cycle(4, 2 * step, 2, seed=1)]
    turns = [row[:4], row[4:8], row[8:]]
    assert all(sorted(turn) == [0, 1, 2, 3] for turn in turns)
    assert len({tuple(turn) for turn in turns}) > 1
    assert shuffled_cycle(0, 2, 2, seed=1) == []


class KilledError(Exception):
    pass


def test_a_student_learns_from_gold_and_teacher_and_goes_on_after_a_kill(encoder_folder, treebank, tmp_path):
    def run(name, kill_at="never", **changes):
        settings = {
            "encoder": str(encoder_folder),
            "network": tiny.SIZES,
            "epochs": 2,
            "batch_size": 1,
            "learning_rate": 0.01,
        }
        recipe = ParserRecipe.from_dict(settings | changes)
        texts = UNSEEN if recipe.teachers else ()

        def report(line):
            if line.startswith(kill_at):
                raise KilledError

        bank = Treebank.of_gum("gum", read_gum(treebank, "train"), read_gum(treebank, "dev"))
        task = ParserTask(recipe, bank, name, texts=texts, cache=tmp_path / "silver")
        loop = TrainingLoop(task, tmp_path / name, report)
        loop.run()
        return loop

    # With a low threshold, even a teacher with this little training finds EDUs.
    run("teacher", network={**tiny.SIZES, "edu_threshold": 0.1})
    taught = {"teachers": [str(tmp_path / "teacher" / "best")], "texts": [{"path": "unseen.jsonl"}], "silver": 3}
    student = run("student", **taught)
    assert len(student.task.pseudo_labelled) > 0
    assert student.log[-1].loss < student.log[0].loss
    with pytest.raises(KilledError):
        run("killed", "step 4/4", **taught)
    run("killed", **taught)
    weights = "last.safetensors"
    for key, value in load_file(tmp_path / "student" / weights).items():
        assert load_file(tmp_path / "killed" / weights)[key].equal(value), key
    assert Parser.from_pretrained(tmp_path / "student" / "best").parse(tiny.ARTICLE).tree is not None
    # A finished run no longer needs its teacher.
    shutil.rmtree(tmp_path / "teacher" / "best")
    assert run("student", **taught).log == student.log


def test_a_run_goes_on_with_the_teachers_it_began_with(encoder_folder, treebank, tmp_path, parser):
    taught = {"teachers": [str(tmp_path / "teacher")], "texts": [{"path": "unseen.jsonl"}]}
    settings = {"encoder": str(encoder_folder), "network": tiny.SIZES, "epochs": 2, "batch_size": 1}
    recipe = ParserRecipe.from_dict(settings | taught)
    bank = Treebank.of_gum("gum", read_gum(treebank, "train"), read_gum(treebank, "dev"))
    labels = [(node.nuclearity, node.relation) for document in bank.train for node in document.tree.nodes]

    def killed(line):
        if line.startswith("step 3/"):
            raise KilledError

    def start(texts, report=lambda line: None):
        task = ParserTask(recipe, bank, "student", texts=texts, cache=tmp_path / "silver")
        TrainingLoop(task, tmp_path / "run", report).run()

    teacher = ParserTask(ParserRecipe.from_dict(settings), bank, "teacher")
    assert teacher.parser.labels.labels == tuple(sorted(set(labels)))
    teacher.parser.config = replace(teacher.parser.config, edu_threshold=0.0)
    teacher.save(tmp_path / "teacher")
    with pytest.raises(KilledError):
        start(UNSEEN, killed)
    with pytest.raises(InputError, match="expected the teachers and texts that the run began with"):
        start(UNSEEN[:1])
    start(UNSEEN)


def test_runs_of_several_seeds_learn_from_the_same_teachers(encoder_folder, treebank, tmp_path):
    settings = {"encoder": str(encoder_folder), "network": {**tiny.SIZES, "edu_threshold": 0.1}, "epochs": 1}
    bank = Treebank.of_gum("gum", read_gum(treebank, "train"), read_gum(treebank, "dev"))
    TrainingLoop(ParserTask(ParserRecipe.from_dict(settings), bank, "teacher"), tmp_path / "t", print).run()
    first = str(tmp_path / "t" / "best")
    taught = {"start": first, "teachers": [first], "texts": [{"path": "unseen.jsonl"}], "seeds": [1, 2]}
    recipe = ParserRecipe.from_dict(settings | taught)
    assert train_seeds(recipe, bank, tmp_path / "mean", "mean", "", UNSEEN) is not None
    # The run of seed 1 is finished and asks no teacher; that of seed 2 would learn from other texts.
    shutil.rmtree(tmp_path / "mean" / "seed-2")
    with pytest.raises(InputError, match="expected runs with the same examples and the same start, found"):
        train_seeds(recipe, bank, tmp_path / "mean", "mean", "", UNSEEN[:1])


def test_texts_of_a_recipe_are_those_of_its_rows(tmp_path):
    rows = [json.dumps({"text": f"Text {number}."}) for number in range(3)]
    (tmp_path / "texts.jsonl").write_text("\n".join([*rows, "no row"]))
    assert _texts(tmp_path, Rows("texts.jsonl", 1, 3)) == ["Text 1.", "Text 2."]
    with pytest.raises(InputError, match=r"texts: .*texts.jsonl:4: expected one JSON object per line"):
        _texts(tmp_path, Rows("texts.jsonl", 1, 4))
    (tmp_path / "texts.jsonl").write_text("\n".join(rows))
    for wrong, end in ((Rows("texts.jsonl", 1, 9), "9"), (Rows("texts.jsonl", 3), "the end")):
        with pytest.raises(InputError, match=rf"texts: expected rows {wrong.first} to {end} of .*texts.jsonl, got \d"):
            _texts(tmp_path, wrong)


def test_recipes_with_teachers():
    taught = {"teachers": ["runs/one"], "texts": [{"path": "news.jsonl", "last": 5}]}
    recipe = ParserRecipe.from_dict(taught)
    assert (recipe.teachers, recipe.texts[0].last) == (("runs/one",), 5)
    with pytest.raises(
        InputError, match=r"texts: expected at least one with teachers, got none; add some, or set teachers=\[\]"
    ):
        ParserRecipe.from_dict({"teachers": ["runs/one"]})
    with pytest.raises(InputError, match=r"teachers: expected a list of names or paths, got 'one'"):
        ParserRecipe.from_dict({"teachers": "one"})
    with pytest.raises(InputError, match=r"texts\[0\]: expected a group of fields, got 'news'"):
        ParserRecipe.from_dict({"texts": ["news"]})
    with pytest.raises(InputError, match=r"teachers: expected network\.design chart, got distance"):
        ParserRecipe.from_dict(taught | {"network": {"design": "distance"}})
    with pytest.raises(InputError, match=r"texts\[0\]\.last: expected a row above first 4, got 2"):
        ParserRecipe.from_dict({"texts": [{"path": "n", "first": 4, "last": 2}]})
    with pytest.raises(InputError, match=r"texts\[0\]\.weight: expected one of the fields path, first, last"):
        ParserRecipe.from_dict({"teachers": ["one"], "texts": [{"path": "n", "weight": 2}]})
