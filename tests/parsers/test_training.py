"""A whole training run on a treebank of three texts."""

import json
import shutil

import numpy as np
import pytest
import tiny
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from small_treebank import GUM, gold
from small_trees import document_of, random_tree

from discsum.document import Document, Span
from discsum.errors import InputError, WeightsError
from discsum.parsers.network import NetworkConfig, ParserNetwork
from discsum.parsers.parser import Parser
from discsum.parsers.training.card import mean_card, parser_card
from discsum.parsers.training.examples import label_set, make_example, over_predicted
from discsum.parsers.training.recipe import ParserRecipe
from discsum.parsers.training.seeds import train_seeds
from discsum.parsers.training.trainer import ParserTrainer
from discsum.parsers.treebank import read_gum
from discsum.recipes import names, read_recipe


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


def test_every_problem_of_a_recipe_is_reported_at_once():
    with pytest.raises(InputError) as raised:
        ParserRecipe.from_dict(
            {"epochs": "many", "speed": 3, "bf16": 1, "warmup": "x", "network": {"design": 7, "wings": 2}}
        )
    message = str(raised.value)
    for part in (
        "epochs: expected a whole number, got 'many'",
        "speed: expected one of the fields encoder, ",
        "bf16: expected true or false, got 1",
        "warmup: expected a number, got 'x'",
        "network.design: expected a word, got 7",
        "network.wings: expected one of the fields design, ",
    ):
        assert part in message
    with pytest.raises(InputError, match="seeds: expected a list of whole numbers, got 3"):
        ParserRecipe.from_dict({"seeds": 3})
    with pytest.raises(InputError, match=r"seed: expected none beside seeds \[1, 2\]; say seeds=\[\]"):
        ParserRecipe.from_dict({"seeds": [1, 2], "seed": 3})
    with pytest.raises(InputError, match="seed: expected 0 or more, got -1"):
        ParserRecipe.from_dict({"seed": -1})
    with pytest.raises(InputError) as raised:
        ParserRecipe.from_dict(
            {"epochs": 0, "stop": 9, "seeds": [1, 1], "rate": -1, "smoothing": 1.5, "network": {"design": "bottom_up"}}
        )
    message = str(raised.value)
    for part in (
        "stop: expected 0 to 0 epochs, got 9",
        "seeds: expected start beside them, got none",
        "seeds: expected each once, got 1, 1",
        "epochs: expected a number above 0, got 0",
        "rate: ",
        "smoothing: ",
        "network.design: expected one of",
    ):
        assert part in message


def test_numbers_as_yaml_leaves_them():
    found = ParserRecipe.from_dict({"rate": "1e-4", "predicted": 1, "network": {"dropout": 0}})
    assert (found.rate, found.predicted, found.network.dropout) == (1e-4, 1.0, 0.0)
    with pytest.raises(InputError, match="network: expected a group of fields, got 'chart'"):
        ParserRecipe.from_dict({"network": "chart"})


def test_recipes_come_back_from_their_own_dictionary(encoder_folder):
    assert ParserRecipe.from_dict(recipe(encoder_folder).to_dict()) == recipe(encoder_folder)


def test_the_shipped_recipe_loads_with_changes():
    assert "parser-gum" in names()
    content = read_recipe(
        "parser-gum", ["seed=5", "seeds=[]", "network.design=distance", "rate=1e-4", "teachers=[]", "texts=[]"]
    )
    for field in ("kind", "data", "name"):
        content.pop(field)
    found = ParserRecipe.from_dict(content)
    assert (found.seed, found.network.design, found.rate) == (5, "distance", 1e-4)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["seed"], "expected key=value, got 'seed'"),
        (["seed=["], r"seed=\[: expected a YAML value"),
        (["epochs.deep=1"], "expected epochs to be a group of fields"),
    ],
)
def test_changes_that_are_none(overrides, message):
    with pytest.raises(InputError, match=message):
        read_recipe("parser-gum", overrides)


def test_an_edu_without_a_subword_cannot_be_learned(tokenizer):
    document = Document.from_spans(
        "mill \x00 wheel", [Span(0, 12)], [Span(0, 4), Span(5, 6), Span(7, 12)], random_tree(3, 0), "mill"
    )
    with pytest.raises(
        InputError, match="mill: expected every EDU to have a subword of its own, EDUs 1 and 2 share one"
    ):
        make_example(document, tokenizer, label_set([document]))


@given(st.integers(2, 12), st.integers(0, 10_000), st.data())
def test_gold_nodes_over_predicted_edus(edus, seed, data):
    words = [f"{word} mill" for word in tiny.WORDS[:edus]]
    document = document_of([words], random_tree(edus, seed))
    example = make_example(document, tiny.make_tokenizer(), label_set([document]))
    chosen = data.draw(st.sets(st.integers(1, len(example.subwords) - 1)))
    predicted = np.array(sorted({0, *chosen}))
    found = over_predicted(example, predicted, np.array([0]))
    # By subwords: a node is held if its beginning, split and end are borders of predicted EDUs.
    starts, borders = (
        [*example.targets.edu_starts.tolist(), len(example.subwords)],
        [*predicted.tolist(), len(example.subwords)],
    )
    expected = []
    for node, label in zip(document.tree.nodes, example.targets.labels.tolist(), strict=True):
        places = starts[node.first], starts[node.last + 1], starts[node.split + 1]
        if all(place in borders for place in places):
            first, after, second = map(borders.index, places)
            expected.append((first, after - 1, second - 1, label))
    rows = [(*node, label) for node, label in zip(found.nodes.tolist(), found.labels.tolist(), strict=True)]
    assert rows == expected
    assert found.edu_starts is predicted


def test_over_gold_edus_all_nodes_are_held(tokenizer):
    document = gold("mill")
    example = make_example(document, tokenizer, label_set([document]))
    same = over_predicted(example, example.targets.edu_starts, example.targets.sentence_starts)
    assert same.nodes.tolist() == document.tree.spans.tolist()
    starts = example.targets.edu_starts
    assert [example.subwords.starts[index] for index in starts] == [edu.start for edu in document.edus]
    assert np.flatnonzero(example.tags.argmax(axis=1)).tolist() == starts.tolist()
    assert example.tags.sum(axis=0)[2] == 2


@pytest.mark.skipif(not GUM.is_dir(), reason=f"GUM is not at {GUM}; set DISCSUM_DATA to the folder that holds it")
def test_every_document_of_gum_can_be_learned_from():
    documents = read_gum(GUM, "train") + read_gum(GUM, "dev")
    assert len(documents) == 207
    assert len(label_set(documents)) == 50
