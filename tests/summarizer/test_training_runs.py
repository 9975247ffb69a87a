"""Runs of extractive summarizers: recipes, starts, resumed runs, and what is saved."""

import json
from dataclasses import replace

import pytest
import tiny
import torch
from small_runs import recipe, trainer

from discsum.encoder.features import COUNT
from discsum.encoder.synthesizer import SynthesizerConfig
from discsum.errors import InputError
from discsum.recipes.sources import Source
from discsum.summarizer.extractive import ExtractiveSummarizer
from discsum.summarizer.training.recipe import SummarizerRecipe
from discsum.summarizer.training.sources import collection
from discsum.summarizer.training.task import ExtractiveTask
from discsum.training.loop import TrainingLoop


def test_training_learns_and_saves_what_it_chose(data, parser_folder, tmp_path):
    run = trainer(data, parser_folder, tmp_path / "run", epochs=8)
    best = run.run()
    losses = [entry["loss"] for entry in json.loads((tmp_path / "run" / "log.json").read_text())]
    assert losses[-1] < losses[0]
    assert run.task.selection_score(best) == max(run.task.selection_score(entry) for entry in run.log)
    model = ExtractiveSummarizer.from_pretrained(tmp_path / "run" / "best")
    assert model.name == "tiny-news"
    assert model.summarize(tiny.ARTICLE).text


def test_the_card_is_written_from_the_run(data, parser_folder, tmp_path):
    run = trainer(data, parser_folder, tmp_path / "run", epochs=1)
    run.run()
    card = (tmp_path / "run" / "best" / "README.md").read_text()
    for part in ("# tiny-news", "`c_tree_nuc`", f"{COUNT} features", f"  features: {COUNT}", "A note.", "| 3 | "):
        assert part in card
    assert "Subtracted" not in card
    redundancy = "`redundancy` 4 times the share of the sentence's bigrams that are already in the summary."
    both = f"Subtracted from the log-odds of each sentence: `brevity` 0.05 for each word after the 20th; {redundancy}"
    for brevity, expected in ((0.0, f"Subtracted from the log-odds of each sentence: {redundancy}"), (0.05, both)):
        run.task.recipe = replace(run.task.recipe, redundancy=4.0, brevity=brevity)
        assert expected in run.task.card(run.log, run.best)


def test_the_same_seed_gives_the_same_weights(data, parser_folder, tmp_path):
    weights = []
    for name in "ab":
        trainer(data, parser_folder, tmp_path / name, epochs=2).run()
        weights.append((tmp_path / name / "best" / "model.safetensors").read_bytes())
    assert weights[0] == weights[1]


class KilledError(Exception):
    pass


def test_a_run_that_was_killed_ends_as_if_undisturbed(data, parser_folder, tmp_path):
    def killed(line):
        if line.startswith("step 8/"):
            raise KilledError

    with pytest.raises(KilledError):
        trainer(data, parser_folder, tmp_path / "killed", report=killed).run()
    lines = []
    for name in ("killed", "whole"):
        trainer(data, parser_folder, tmp_path / name, report=lines.append).run()
    assert [line.split("/")[0] for line in lines if "validation" in line] == [
        *("step 9", "step 12"),
        *("step 3", "step 6", "step 9", "step 12"),
    ]
    for file in ("best/model.safetensors", "log.json"):
        assert (tmp_path / "killed" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()
    lines.clear()
    trainer(data, parser_folder, tmp_path / "whole", report=lines.append).run()
    assert lines == [f"{tmp_path / 'whole'}: finished after 12 of 12 steps"]


def test_a_run_ends_when_its_patience_does(data, parser_folder, tmp_path):
    # With such a small learning rate, no validation is better than the first.
    settings = {"epochs": 6, "learning_rate": 1e-12, "patience": 2}
    for _ in range(2):
        run = trainer(data, parser_folder, tmp_path / "run", **settings)
        run.run()
        assert [entry.steps for entry in run.log] == [3, 6, 9]
        assert run.best is run.log[0]


def test_a_run_begins_with_another_summarizer(data, parser_folder, tmp_path):
    first = {"encoder_layers": 1, "epochs": 1}
    trainer(data, parser_folder, tmp_path / "first", **first).run()
    best, lines = tmp_path / "first" / "best", []
    model = ExtractiveSummarizer.from_pretrained(best)
    run = trainer(data, parser_folder, tmp_path / "second", start=str(best), seed=9, **first)
    for own, other in ((run.task.scorer.network, model.network), (run.task.scorer.layers, model.encoder.trained)):
        for key, value in own.state_dict().items():
            assert torch.equal(value, other.state_dict()[key]), key
    # With another unit and other sizes, a run takes over only the encoder's layers.
    changes = {"unit": "edu", "synthesizer": SynthesizerConfig(inner=16, scorer=8)}
    made = recipe(parser_folder, start=str(best), **first, **changes)
    sets = [
        collection(part, data, made, data / "datasets", lambda line: None) for part in (made.train, made.validation)
    ]
    TrainingLoop(ExtractiveTask(made, *sets, "tiny-edu"), tmp_path / "third", lines.append)
    assert f"initialised the encoder layers from {best}" in lines
    with pytest.raises(InputError, match=r"start: expected a summarizer with 0 trained encoder .* but .* has 1"):
        trainer(data, parser_folder, tmp_path / "fourth", start=str(best))
    # Another head, or two narrower ones, have weights of the same shapes, but other attention.
    size = made.synthesizer.key_size // 2
    for count, own in enumerate(({"head": "d_tree"}, {"heads": 2, "key_size": size, "value_size": size}), start=2):
        other = {**made.synthesizer.to_dict(), "inner": 16, "scorer": 8, **own}
        changed = recipe(parser_folder, start=str(best), **first, synthesizer=SynthesizerConfig(**other))
        sets = [
            collection(part, data, changed, data / "datasets", lambda line: None)
            for part in (changed.train, changed.validation)
        ]
        TrainingLoop(ExtractiveTask(changed, *sets, "tiny"), tmp_path / f"head-{count}", lines.append)
        assert lines.count(f"initialised the encoder layers from {best}") == count
    frozen = tmp_path / "frozen"
    trainer(data, parser_folder, frozen, epochs=1).run()
    with pytest.raises(InputError, match="start: expected a summarizer with layers that fit this recipe's"):
        trainer(data, parser_folder, tmp_path / "fourth", start=str(frozen / "best"), **changes)
    with pytest.raises(InputError, match="encoder_window: expected no window if units are not encoded during training"):
        recipe(parser_folder, encoder_window=64)
    with pytest.raises(InputError, match=r"read_units: expected at most synthesizer.max_units, 512, got 600"):
        recipe(parser_folder, read_units=600)
    with pytest.raises(InputError, match="start: expected a summarizer on discourse vectors"):
        trainer(data, parser_folder, tmp_path / "fifth", start=str(best), vectors="discourse")


def test_validation_documents_in_training_are_refused(data, parser_folder, tmp_path):
    with pytest.raises(InputError, match="no validation document among the training documents, got 4"):
        trainer(data, parser_folder, tmp_path, validation=(Source("train.jsonl", 20, 24),))


def test_every_problem_of_a_recipe_at_once():
    with pytest.raises(InputError) as caught:
        SummarizerRecipe((), (), unit="word", validation_metric="rouge3", epochs=0)
    for word in ("unit", "validation_metric", "epochs", "train", "validation"):
        assert word in str(caught.value)
    with pytest.raises(InputError) as caught:
        SummarizerRecipe.from_dict(
            {
                "epoch": 3,
                "batch_size": "many",
                "synthesizer": {"inner": 1.5, "heads": 0},
                "train": [{"path": "a", "file": "x"}, {"path": 5}],
            }
        )
    for part in (
        "epoch: expected one of",
        "batch_size: expected a whole",
        "synthesizer.inner",
        "synthesizer.heads: expected a whole number of at least 1, got 0",
        "train[0].file",
        "train[1].path",
    ):
        assert part in str(caught.value)
    with pytest.raises(InputError, match=r"validation\[0\]\.file: expected one of the fields path, first, last"):
        SummarizerRecipe.from_dict({"validation": [{"file": "x"}]})


def test_numbers_as_yaml_reads_them():
    source = [{"path": "a", "last": None, "weight": 3}]
    recipe = SummarizerRecipe.from_dict({"train": source, "validation": source, "learning_rate": "1e-4"})
    assert (recipe.learning_rate, recipe.train[0].weight, recipe.train[0].last) == (1e-4, 3.0, None)


def test_encoding_each_step_goes_on_after_a_kill(data, parser_folder, tmp_path):
    def killed(line):
        if line.startswith("step 5/"):
            raise KilledError

    changes = {"encoder_layers": 1, "epochs": 2}
    with pytest.raises(KilledError):
        trainer(data, parser_folder, tmp_path / "killed", report=killed, **changes).run()
    for name in ("killed", "whole"):
        trainer(data, parser_folder, tmp_path / name, **changes).run()
    files = [(tmp_path / name / "best" / "model.safetensors").read_bytes() for name in ("killed", "whole")]
    assert files[0] == files[1]


def test_summaries_have_three_sentences_or_six_edus_by_default():
    sources = (Source("train.jsonl"),), (Source("validation.jsonl"),)
    assert [SummarizerRecipe(*sources, unit=unit).summary_units for unit in ("sentence", "edu")] == [3, 6]
    assert SummarizerRecipe(*sources, unit="edu", units=2).summary_units == 2
