"""A whole training run on a treebank of three texts."""

import json
import shutil
from dataclasses import replace

import pytest
import tiny
import torch
import yaml
from parser_runs import KilledError, recipe, train
from safetensors.torch import load_file
from several_processes import run_together
from small_treebank import gold

from discsum.document import Document
from discsum.errors import InputError, InputWarning
from discsum.experiments.training_runs import train_parser
from discsum.parsers.parser import Parser
from discsum.parsers.training import model_soup
from discsum.parsers.training.card import parser_card
from discsum.parsers.training.examples import label_set
from discsum.parsers.training.model_soup import train_seeds
from discsum.parsers.training.recipe import ParserRecipe
from discsum.parsers.training.splits import Treebank
from discsum.parsers.training.task import ParserTask
from discsum.parsers.treebank import read_gum
from discsum.training.loop import TrainingLoop
from discsum.training.task import Step

pytestmark = pytest.mark.usefixtures("bfloat16_everywhere")


def soup(recipe, treebank, folder, report=lambda line: None):
    bank = Treebank.of_gum("gum", *(read_gum(treebank, split) for split in ("train", "dev")))
    return train_seeds(recipe, bank, folder, "mean", "", [], report)


def total(entry):
    return sum(entry.parts.values())


@pytest.fixture(scope="module")
def undisturbed(encoder_folder, treebank, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "undisturbed"
    return train(recipe(encoder_folder), treebank, folder)[0]


def test_the_loss_falls_and_the_best_weights_are_kept(undisturbed):
    log = undisturbed.log
    assert [entry.steps for entry in log] == [2, 4, 6, 8]
    assert total(log[-1]) < 0.8 * total(log[0])
    assert log[0].loss == pytest.approx(total(log[0]), abs=1e-3)
    parser = Parser.from_pretrained(undisturbed.folder / "best")
    assert parser.name == "tiny-gum"
    assert set(parser.network.labels.labels) == set(label_set([gold("mill"), gold("bread")]))
    assert parser.parse(tiny.ARTICLE).tree is not None
    assert sorted(path.name for path in undisturbed.folder.iterdir()) == [
        "best",
        "last.safetensors",
        "log.json",
        "tensorboard",
    ]


def test_a_run_that_begins_with_another_parsers_layers(undisturbed, encoder_folder, treebank, tmp_path):
    first = undisturbed.folder / "best"
    network = {**tiny.SIZES, "rank": 6}
    settings = {
        "start": str(first),
        "network": network,
        "encoder_learning_rate": 1e-9,
        "learning_rate": 1e-9,
        "epochs": 1,
    }
    trainer, lines = train(recipe(encoder_folder, **settings), treebank, tmp_path / "run")
    assert f"initialised the encoder, tagger, edus, labels from {first}" in lines
    theirs, ours = (Parser.from_pretrained(folder).network.state_dict() for folder in (first, trainer.folder / "best"))
    for name in theirs:
        if not name.startswith("splits."):
            torch.testing.assert_close(ours[name], theirs[name], atol=1e-3, rtol=1e-3)
    card = (trainer.folder / "best" / "README.md").read_text()
    assert f"Layers that match were initialised from another parser, {first}." in card


def test_several_seeds_and_the_mean_of_their_weights(undisturbed, encoder_folder, treebank, tmp_path):
    start = str(undisturbed.folder / "best")
    asked = recipe(encoder_folder, start=start, epochs=3, stop_after=1, seeds=[5, 6])
    lines = []
    scores = soup(asked, treebank, tmp_path, lines.append)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best", "seed-5", "seed-6"]
    assert sum(line.startswith("step 2/2 loss") and "\r" not in line for line in lines) == 2
    first, second, mean = (
        Parser.from_pretrained(tmp_path / folder / "best").network.state_dict() for folder in ("seed-5", "seed-6", "")
    )
    assert any(not torch.equal(first[key], second[key]) for key in mean)
    for key, value in mean.items():
        torch.testing.assert_close(value, (first[key] + second[key]) / 2, atol=1e-3, rtol=1e-3)
    # The run of one seed equals a single run with that seed.
    train(recipe(encoder_folder, start=start, epochs=3, stop_after=1, seed=6), treebank, tmp_path / "alone")
    logs = [(tmp_path / name / "log.json").read_text() for name in ("alone", "seed-6")]
    assert logs[0] == logs[1]
    card = (tmp_path / "best" / "README.md").read_text()
    for part in (
        "the mean of the weights of 2 runs with",
        "| seed 6, step 2 | ",
        "| *their standard deviation* | ",
        "- 6\n",
    ):
        assert part in card
    # All runs are finished, so nothing is trained again.
    said = len(lines)
    assert soup(asked, treebank, tmp_path, lines.append) == scores
    finished = [f"{tmp_path}/seed-{seed}: finished after 2 of 2 steps" for seed in (5, 6)]
    assert lines[said:-1] == ["seed 5", finished[0], "seed 6", finished[1]]
    with pytest.raises(InputError, match="expected a folder for runs of several seeds, found a single run there"):
        soup(asked, treebank, tmp_path / "seed-5")
    content = {"kind": "parser", "name": "mean", "data": str(treebank), **asked.to_dict(), "seeds": []}
    with pytest.raises(InputError, match="expected a folder for a single run, found runs of several seeds there"):
        train_parser(content, tmp_path, lines.append)
    # The run of seed 6 would learn from other documents than that of seed 5.
    shutil.rmtree(tmp_path / "seed-6")
    documents = [read_gum(treebank, split) for split in ("train", "dev")]
    with pytest.raises(InputError, match="expected the training data that the run began with"):
        train_seeds(asked, Treebank.of_gum("gum", documents[0][::-1], documents[1]), tmp_path, "mean", "", [])


def test_runs_that_are_averaged_begin_with_the_same_weights(
    undisturbed, encoder_folder, treebank, tmp_path, monkeypatch
):
    begun = []

    class Recorded(ParserTask):
        def start(self, report):
            super().start(report)
            begun.append({name: value.clone() for name, value in self.parser.state_dict().items()})

    monkeypatch.setattr(model_soup, "ParserTask", Recorded)
    first = shutil.copytree(undisturbed.folder / "best", tmp_path / "first")
    # Its label scorer does not fit.
    network = {**tiny.SIZES, "design": "chart", "label_inner": 24}
    asked = recipe(encoder_folder, start=str(first), epochs=1, seeds=[5, 6], network=network)
    soup(asked, treebank, tmp_path / "runs")
    assert all(value.equal(begun[1][name]) for name, value in begun[0].items())
    # The second run would begin with another parser.
    shutil.rmtree(tmp_path / "runs" / "seed-6")
    shutil.copytree(tmp_path / "runs" / "seed-5" / "best", first, dirs_exist_ok=True)
    with pytest.raises(InputError, match="expected runs with the same examples and the same start"):
        soup(asked, treebank, tmp_path / "runs")


def test_a_run_of_several_seeds_that_was_killed(undisturbed, encoder_folder, treebank, tmp_path):
    asked = recipe(encoder_folder, start=str(undisturbed.folder / "best"), epochs=2, seeds=[5, 6])
    lines = []

    def killed_in_the_second(line):
        lines.append(line)
        if "seed 6" in lines and line.startswith("step 3/"):
            raise KilledError

    with pytest.raises(KilledError):
        soup(asked, treebank, tmp_path / "killed", killed_in_the_second)
    rest = []
    found = soup(asked, treebank, tmp_path / "killed", rest.append)
    run = f"{tmp_path}/killed/seed"
    assert rest[:2] == ["seed 5", f"{run}-5: finished after 4 of 4 steps"]
    assert rest[2:4] == ["seed 6", f"{run}-6: resumed after 2 of 4 steps"] and rest[4].startswith("step 3/4 ")
    assert found == soup(asked, treebank, tmp_path / "whole")
    killed, whole = (tmp_path / folder / "best" / "model.safetensors" for folder in ("killed", "whole"))
    assert killed.read_bytes() == whole.read_bytes()


def test_it_goes_on_without_the_parser_it_began_with(undisturbed, encoder_folder, treebank, tmp_path):
    first = shutil.copytree(undisturbed.folder / "best", tmp_path / "first")
    settings = recipe(encoder_folder, start=str(first), epochs=2)
    whole, _ = train(settings, treebank, tmp_path / "whole")
    with pytest.raises(KilledError):
        train(settings, treebank, tmp_path / "killed", kill_at="step 3/")
    shutil.rmtree(first)
    rest, _ = train(settings, treebank, tmp_path / "killed")
    assert rest.log == whole.log


def test_the_card_has_data_figures_and_recipe(undisturbed):
    card = (undisturbed.folder / "best" / "README.md").read_text()
    for part in (
        "# tiny-gum",
        "GUM",
        "CC BY",
        "A note.",
        "| 8 | edus ",
        "| tags | splits | labels |",
        "rate: 0.01",
        "design: chart",
        "license: apache-2.0",
    ):
        assert part in card


def test_the_first_of_equally_good_validations_is_the_best(undisturbed, monkeypatch):
    scores = dict(zip((2, 4, 6, 8), (1, 2, 2, 1), strict=True))
    monkeypatch.setattr(undisturbed.task, "selection_score", lambda entry: scores[entry.steps])
    assert undisturbed.best.steps == 4
    assert "the running average after step 4," in undisturbed.task.card(undisturbed.log, undisturbed.best)


def test_the_card_lists_the_documents_of_gum(undisturbed):
    names = ("GUM_news_mill", "GUM_bio_reed", "GUM_news_dam", "GUM_vlog_tour", "GUM_whow_fish", "GUM_essay_mud")
    documents = [Document("", id=name) for name in names]
    treebank = Treebank.of_gum("gum", documents, [])
    card = parser_card("pupil", ParserRecipe(), treebank, undisturbed.log, undisturbed.best, notes="")
    assert "Trained on 6 documents of the train split of GUM" in card
    assert "3 are CC BY or CC BY-SA, 2 CC BY-NC-SA (no commercial use), and of 1 no licence is stated." in card
    assert (
        "| bio | CC BY-SA 3.0 | 1: reed |\n| essay | CC BY-NC-SA 4.0 | 1: mud |\n| news | CC BY 2.5 | 2: dam, mill |\n"
        "| vlog | not in `LICENSE.txt` | 1: tour |\n| whow | CC BY-NC-SA 3.0 | 1: fish |\n"
    ) in card


def test_the_card_names_teachers_and_their_texts(undisturbed):
    taught = {"teachers": ["runs/large/best"], "texts": [{"path": "news.jsonl", "first": 2, "last": 9}], "longest": 70}
    card = parser_card(
        "pupil",
        ParserRecipe.from_dict(taught),
        Treebank.of_gum("gum", [], []),
        undisturbed.log,
        undisturbed.best,
        notes="",
    )
    assert "license: apache-2.0\nlanguage: en\n" in card
    assert "\n- teachers: runs/large/best\n" in card
    assert "\n- texts, at most 70 characters of each: news.jsonl rows 2-9\n" in card


# Kill it before a validation, and after one.
@pytest.mark.parametrize("kill_at", ["step 6/8 ", "validation"])
def test_a_run_that_was_killed_ends_as_if_undisturbed(undisturbed, encoder_folder, treebank, tmp_path, kill_at):
    folder = tmp_path / "run"
    with pytest.raises(KilledError):
        train(recipe(encoder_folder), treebank, folder, kill_at)
    _, lines = train(recipe(encoder_folder), treebank, folder)
    done = 2 if kill_at == "validation" else 4
    assert lines[0] == f"{folder}: resumed after {done} of 8 steps" and lines[1].startswith(f"step {done + 1}/8 ")
    final, expected = load_file(folder / "last.safetensors"), load_file(undisturbed.folder / "last.safetensors")
    assert final.keys() == expected.keys()
    for key, value in expected.items():
        assert final[key].numpy().tobytes() == value.numpy().tobytes(), key
    weights = "best/model.safetensors"
    assert (folder / weights).read_bytes() == (undisturbed.folder / weights).read_bytes()


def test_a_finished_run_has_nothing_left_to_do(undisturbed, encoder_folder, treebank):
    _, lines = train(recipe(encoder_folder), treebank, undisturbed.folder)
    assert lines == [f"{undisturbed.folder}: finished after 8 of 8 steps"]


@pytest.mark.parametrize("changes", [{"seed": 2}, {"learning_rate": 0.02}])
def test_a_folder_with_another_run_is_refused(undisturbed, encoder_folder, treebank, changes):
    with pytest.raises(
        InputError, match=f"one of another recipe \\({next(iter(changes))} .* there and .* here"
    ) as raised:
        train(recipe(encoder_folder, **changes), treebank, undisturbed.folder)
    assert str(undisturbed.folder) in str(raised.value)


@pytest.mark.parametrize("design", ["top_down", "distance"])
def test_the_other_designs_train(encoder_folder, treebank, tmp_path, design):
    network = {**tiny.SIZES, "design": design}
    trainer, _ = train(recipe(encoder_folder, network=network, epochs=2, flatten=1.0), treebank, tmp_path)
    assert total(trainer.log[-1]) < total(trainer.log[0])


def test_a_processor_without_bfloat16_trains_in_float32(encoder_folder, treebank, tmp_path, monkeypatch):
    monkeypatch.setattr("discsum.parsers.training.task.has_fast_bfloat16", lambda device: False)
    exact = recipe(encoder_folder, epochs=1, bf16=False)
    with pytest.warns(InputWarning, match=r"^bf16: the device cpu has no bfloat16 instructions"):
        asked = train(replace(exact, bf16=True), treebank, tmp_path / "asked")[0]
    weights = [load_file(train(exact, treebank, tmp_path / "exact")[0].folder / "last.safetensors")]
    weights.append(load_file(asked.folder / "last.safetensors"))
    assert all(weights[0][name].equal(value) for name, value in weights[1].items())


@pytest.fixture(scope="module")
def still(encoder_folder, tmp_path_factory):
    """Fields of a recipe without dropout, which processes and parts of a step would draw differently."""
    folder = shutil.copytree(encoder_folder, tmp_path_factory.mktemp("still") / "encoder")
    config = json.loads((folder / "config.json").read_text())
    changes = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(config | changes))
    network = {**tiny.SIZES, "dropout": 0.0}
    return {
        "encoder": str(folder),
        "network": network,
        "batch_size": 2,
        "epochs": 3,
        "learning_rate": 0.001,
        "bf16": False,
    }


def test_two_processes_learn_what_one_does(still, undisturbed, treebank, tmp_path):
    path = tmp_path / "recipe.yaml"
    (tmp_path / "unseen.jsonl").write_text(json.dumps({"text": tiny.ARTICLE}) + "\n")
    network = still["network"] | {"edu_threshold": 0.05}
    taught = {"texts": [{"path": str(tmp_path / "unseen.jsonl")}], "silver": 1, "predicted_edus": 0.5}
    teacher = train(recipe(still["encoder"], network=network, epochs=1), treebank, tmp_path / "teacher")[0]
    taught["teachers"] = [str(teacher.folder / "best")]
    fields = still | taught | {"kind": "parser", "name": "tiny", "data": str(treebank)}
    path.write_text(yaml.safe_dump(fields))
    train_parser(fields, tmp_path / "alone", print)
    printed = run_together("-m", "discsum", "train", path, "-o", tmp_path / "together")
    # Only the first process prints.
    assert [bool(text) for text in printed] == [True, False]
    assert Parser.from_pretrained(tmp_path / "together" / "best").name == "tiny"
    logs = [json.loads((folder / "log.json").read_text()) for folder in (tmp_path / "alone", tmp_path / "together")]
    for one, two in zip(*logs, strict=True):
        assert one["parts"] == pytest.approx(two["parts"], abs=1e-3)
        assert one["validation"] == pytest.approx(two["validation"], abs=1e-3)


def test_parts_of_a_step_have_the_gradients_of_the_whole_step(still, treebank, tmp_path):
    bank = Treebank.of_gum("gum", *(read_gum(treebank, split) for split in ("train", "dev")))
    gradients = []
    for count in (1, 2):
        # No predicted EDUs, because a part's number of nodes over them is not known beforehand.
        fields = still | {"predicted_edus": 0.0, "accumulate": count}
        loop = TrainingLoop(ParserTask(ParserRecipe.from_dict(fields), bank, "tiny"), tmp_path / "run")
        losses = loop._gradients(Step(0, 0.0, 0.0))
        assert losses["loss"] == pytest.approx(losses["tags"] + losses["splits"] + losses["labels"], rel=1e-5)
        gradients.append({name: value.grad for name, value in loop.task.parser.named_parameters()})
    whole, parts = gradients
    assert sum(value is not None for value in whole.values()) > 20
    torch.testing.assert_close(parts, whole, atol=1e-5, rtol=1e-4)


def test_language_and_licence_of_a_recipe_are_those_of_the_card(undisturbed):
    """The recipe takes precedence, for GUM too."""
    recipe = ParserRecipe.from_dict({"language": "cop", "license": "mit"})
    card = parser_card("pupil", recipe, Treebank.of_gum("gum", [], []), undisturbed.log, undisturbed.best, notes="")
    assert "license: mit\nlanguage: cop\n" in card
    assert "from raw text" in card
