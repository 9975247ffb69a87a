"""A whole training run on a treebank of three texts."""

import json
import shutil

import pytest
import tiny
import torch
from safetensors.torch import load_file
from small_treebank import gold

from discsum.errors import InputError, WeightsError
from discsum.parsers.network import NetworkConfig, ParserNetwork
from discsum.parsers.parser import Parser
from discsum.parsers.training.card import mean_card, parser_card
from discsum.parsers.training.examples import label_set
from discsum.parsers.training.model_soup import train_seeds
from discsum.parsers.training.recipe import ParserRecipe
from discsum.parsers.training.trainer import ParserTrainer
from discsum.parsers.treebank import read_gum


def recipe(encoder_folder, **changes):
    network = {**tiny.SIZES, "design": "chart"}
    settings = {
        "encoder": str(encoder_folder),
        "network": network,
        "epochs": 4,
        "batch": 1,
        "rate": 0.01,
        "predicted": 0.5,
    }
    return ParserRecipe.from_dict({**settings, **changes})


class KilledError(Exception):
    pass


def train(recipe, treebank, folder, kill_at="never"):
    lines = []

    def report(line):
        lines.append(line)
        if line.startswith(kill_at):
            raise KilledError

    documents = (read_gum(treebank, split) for split in ("train", "dev"))
    trainer = ParserTrainer(recipe, *documents, folder, "tiny-gum", report=report)
    trainer.run(report)
    return trainer, lines


@pytest.fixture(scope="module")
def undisturbed(encoder_folder, treebank, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "undisturbed"
    return train(recipe(encoder_folder), treebank, folder)[0]


def test_the_loss_falls_and_the_best_weights_are_kept(undisturbed):
    log = undisturbed.log
    assert [entry["epoch"] for entry in log] == [1, 2, 3, 4]
    assert sum(log[-1]["losses"]) < 0.8 * sum(log[0]["losses"])
    parser = Parser.from_pretrained(undisturbed.folder / "best")
    assert parser.name == "tiny-gum"
    assert set(parser.network.labels.labels) == set(label_set([gold("mill"), gold("bread")]))
    assert parser.parse(tiny.ARTICLE).tree is not None
    assert sorted(path.name for path in undisturbed.folder.iterdir()) == ["best", "last.safetensors", "log.json"]


def test_a_run_that_begins_with_another_parsers_layers(undisturbed, encoder_folder, treebank, tmp_path):
    first = undisturbed.folder / "best"
    network = {**tiny.SIZES, "rank": 6}
    settings = {"start": str(first), "network": network, "encoder_rate": 1e-9, "rate": 1e-9, "epochs": 1}
    trainer, lines = train(recipe(encoder_folder, **settings), treebank, tmp_path / "run")
    assert f"begins with the encoder, tagger, edus, labels of {first}" in lines
    theirs, ours = (Parser.from_pretrained(folder).network.state_dict() for folder in (first, trainer.folder / "best"))
    for name in theirs:
        if not name.startswith("splits."):
            torch.testing.assert_close(ours[name], theirs[name], atol=1e-3, rtol=1e-3)
    assert f"layers that fit of another parser, {first}." in parser_card("tiny", trainer.recipe, trainer.log, "")


def test_several_seeds_and_the_mean_of_their_weights(undisturbed, encoder_folder, treebank, tmp_path):
    start = str(undisturbed.folder / "best")
    asked = recipe(encoder_folder, start=start, epochs=3, stop=1, seeds=[5, 6])
    lines = []
    documents = [read_gum(treebank, split) for split in ("train", "dev")]
    runs, scores = train_seeds(asked, *documents, tmp_path, "mean", [], lines.append)
    assert [(run.seed, run.epoch) for run in runs] == [(5, 1), (6, 1)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best", "seed-5", "seed-6"]
    assert sum(line.startswith("epoch 1/1 ") for line in lines) == 2
    first, second, mean = (
        Parser.from_pretrained(tmp_path / folder / "best").network.state_dict() for folder in ("seed-5", "seed-6", "")
    )
    assert any(not torch.equal(first[key], second[key]) for key in mean)
    for key, value in mean.items():
        torch.testing.assert_close(value, (first[key] + second[key]) / 2, atol=1e-3, rtol=1e-3)
    # A seed's run is the run of that seed alone.
    alone, _ = train(recipe(encoder_folder, start=start, epochs=3, stop=1, seed=6), treebank, tmp_path / "alone")
    assert alone.log[0]["losses"] == json.loads((tmp_path / "seed-6" / "log.json").read_text())[0]["losses"]
    card = mean_card("mean", asked, runs, scores, notes="")
    for part in ("the mean of those of 2 runs", "| seed 6, epoch 1 | ", "| *their standard deviation* | ", "- 6\n"):
        assert part in card
    # Done already: nothing is trained again.
    assert train_seeds(asked, *documents, tmp_path, "mean", [], lines.append)[1] == scores
    assert sum(line.startswith("epoch 1/1 ") for line in lines) == 2
    with pytest.raises(InputError, match="expected a folder for runs of several seeds, found a single run there"):
        train_seeds(asked, *documents, tmp_path / "seed-5", "mean", [])
    # One of the runs learned from other documents than the rest.
    shutil.rmtree(tmp_path / "seed-6")
    with pytest.raises(InputError, match="expected runs that learned from the same examples"):
        train_seeds(asked, documents[0][::-1], documents[1], tmp_path, "mean", [])


def test_a_run_of_several_seeds_that_was_killed(undisturbed, encoder_folder, treebank, tmp_path):
    asked = recipe(encoder_folder, start=str(undisturbed.folder / "best"), epochs=2, seeds=[5, 6])
    documents = [read_gum(treebank, split) for split in ("train", "dev")]
    lines = []

    def killed_in_the_second(line):
        lines.append(line)
        if "seed 6" in lines and line.startswith("epoch 2 step 1"):
            raise KilledError

    with pytest.raises(KilledError):
        train_seeds(asked, *documents, tmp_path / "killed", "mean", [], killed_in_the_second)
    rest = []
    found = train_seeds(asked, *documents, tmp_path / "killed", "mean", [], rest.append)
    assert [line[:14] for line in rest[:3]] == ["seed 5", "seed 6", "epoch 2 step 1"]
    assert found == train_seeds(asked, *documents, tmp_path / "whole", "mean", [])
    killed, whole = (tmp_path / folder / "best" / "model.safetensors" for folder in ("killed", "whole"))
    assert killed.read_bytes() == whole.read_bytes()


def test_it_goes_on_without_the_parser_it_began_with(undisturbed, encoder_folder, treebank, tmp_path):
    first = shutil.copytree(undisturbed.folder / "best", tmp_path / "first")
    settings = recipe(encoder_folder, start=str(first), epochs=2)
    whole, _ = train(settings, treebank, tmp_path / "whole")
    with pytest.raises(KilledError):
        train(settings, treebank, tmp_path / "killed", kill_at="epoch 2 step 1")
    shutil.rmtree(first)
    rest, _ = train(settings, treebank, tmp_path / "killed")
    assert [entry["losses"] for entry in rest.log] == [entry["losses"] for entry in whole.log]


def test_a_start_that_is_none(encoder_folder, treebank, tmp_path):
    with pytest.raises(InputError, match="start: expected the folder of a trained parser, found no gone"):
        train(recipe(encoder_folder, start="gone"), treebank, tmp_path / "run")


def test_a_start_of_another_vocabulary(encoder_folder, undisturbed, treebank, tmp_path):
    tokenizer = tiny.make_tokenizer()
    tokenizer.add_tokens(["unheard"])
    Parser(undisturbed.network, tokenizer, "other").save_pretrained(tmp_path / "other")
    with pytest.raises(InputError, match="start: expected a parser with the vocabulary of the recipe's encoder"):
        train(recipe(encoder_folder, start=str(tmp_path / "other")), treebank, tmp_path / "run")


def test_a_start_that_shares_nothing(encoder_folder, undisturbed, treebank, tmp_path):
    sizes = {**tiny.SIZES, "hidden": 8, "rank": 4}
    network = ParserNetwork(tiny.make_encoder(width=16), tiny.special_indices(), tiny.LABELS, NetworkConfig(**sizes))
    Parser(network, tiny.make_tokenizer(), "other").save_pretrained(tmp_path / "other")
    with pytest.raises(InputError, match="start: expected a parser that shares layers with this recipe's"):
        train(recipe(encoder_folder, start=str(tmp_path / "other")), treebank, tmp_path / "run")


def test_the_card_has_data_figures_and_recipe(undisturbed):
    card = parser_card("tiny-gum", undisturbed.recipe, undisturbed.log, notes="Three designs were compared.")
    for part in ("# tiny-gum", "GUM", "CC BY", "| 4 | edus ", "rate: 0.01", "design: chart", "license: apache-2.0"):
        assert part in card


def test_the_card_names_the_first_of_equally_good_epochs(undisturbed):
    log = [{**entry, "summary": summary} for entry, summary in zip(undisturbed.log, (1, 2, 2, 1), strict=True)]
    assert "the running average at epoch 2," in parser_card("tiny-gum", undisturbed.recipe, log, notes="")


def test_the_card_names_teachers_and_their_texts(undisturbed):
    taught = {"teachers": ["runs/large/best"], "texts": [{"path": "news.jsonl", "first": 2, "last": 9}], "longest": 70}
    card = parser_card("pupil", ParserRecipe.from_dict(taught), undisturbed.log, notes="")
    assert "\n- teachers: runs/large/best\n" in card
    assert "\n- texts, at most 70 characters of each: news.jsonl rows 2-9\n" in card


# Killed in the middle of an epoch, and between the last step and the next.
@pytest.mark.parametrize("kill_at", ["epoch 3 step 2/2", "epoch 2/4"])
def test_a_run_that_was_killed_ends_as_if_undisturbed(undisturbed, encoder_folder, treebank, tmp_path, kill_at):
    folder = tmp_path / "run"
    with pytest.raises(KilledError):
        train(recipe(encoder_folder), treebank, folder, kill_at)
    _, lines = train(recipe(encoder_folder), treebank, folder)
    assert lines[0].startswith("epoch 3 step 1/2")
    final, expected = load_file(folder / "last.safetensors"), load_file(undisturbed.folder / "last.safetensors")
    assert final.keys() == expected.keys()
    for key, value in expected.items():
        assert final[key].numpy().tobytes() == value.numpy().tobytes(), key
    weights = "best/model.safetensors"
    assert (folder / weights).read_bytes() == (undisturbed.folder / weights).read_bytes()


def test_a_finished_run_has_nothing_left_to_do(undisturbed, encoder_folder, treebank):
    _, lines = train(recipe(encoder_folder), treebank, undisturbed.folder)
    assert lines == []


@pytest.mark.parametrize("changes", [{"seed": 2}, {"network": {**tiny.SIZES, "hidden": 24}}])
def test_a_folder_with_another_run_is_refused(undisturbed, encoder_folder, treebank, changes):
    with pytest.raises(InputError, match=f"another's \\({next(iter(changes))} .* there and .* here") as raised:
        train(recipe(encoder_folder, **changes), treebank, undisturbed.folder)
    assert str(undisturbed.folder) in str(raised.value)


def test_a_run_goes_on_with_its_own_documents_only(encoder_folder, treebank, tmp_path):
    with pytest.raises(KilledError):
        train(recipe(encoder_folder), treebank, tmp_path / "run", "epoch 1/4")
    with pytest.raises(InputError, match="expected the data that the run began with"):
        ParserTrainer(
            recipe(encoder_folder), read_gum(treebank, "train")[::-1], read_gum(treebank, "dev"), tmp_path / "run", "x"
        )


def test_a_damaged_checkpoint_is_named(encoder_folder, treebank, tmp_path):
    (tmp_path / "last.safetensors").write_bytes(b"half a file")
    with pytest.raises(WeightsError, match=r"last\.safetensors: expected a checkpoint.*delete it to start anew"):
        train(recipe(encoder_folder), treebank, tmp_path)


@pytest.mark.parametrize("design", ["top_down", "distance"])
def test_the_other_designs_train(encoder_folder, treebank, tmp_path, design):
    network = {**tiny.SIZES, "design": design}
    trainer, _ = train(recipe(encoder_folder, network=network, epochs=2, flatten=1.0), treebank, tmp_path)
    assert sum(trainer.log[-1]["losses"]) < sum(trainer.log[0]["losses"])
