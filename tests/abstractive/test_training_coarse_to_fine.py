"""Training runs of coarse-to-fine models on a few small texts, and their use from the command line."""

import json

import pytest
import torch
from safetensors.torch import load_file
from small_news import write_table
from small_training import recipe_fields, silent, training_loop

from discsum.abstractive.coarse_to_fine.family import CoarseToFineFamily
from discsum.abstractive.coarse_to_fine.model import CoarseToFineForConditionalGeneration
from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.abstractive.training.encoding import TextBatch
from discsum.abstractive.vocabulary import unknown_id
from discsum.errors import DiscsumError, InputError
from discsum.persistence import CARD, CONFIG, WEIGHTS
from discsum.training.task import Step

NETWORK = {"embedding_size": 12, "hidden_size": 16, "filters": 8, "filter_width": 3, "dropout": 0.0, "chunks": "8x10"}


def content(parser_folder, network=None, **changes):
    settings = {
        "family": "coarse_to_fine",
        "network": NETWORK | (network or {}),
        "vocabulary": 90,
        "source_tokens": 80,
        "target_tokens": 16,
        "learning_rate": 1e-2,
    }
    return recipe_fields(parser_folder, **settings | changes)


def trainer(data, parser_folder, folder, report=silent, **changes):
    return training_loop(content(parser_folder, **changes), data, folder, report)


def documents(run, count=3):
    return [run.task.validation[index].document for index in range(count)]


@pytest.fixture(scope="module")
def begun(data, parser_folder, tmp_path_factory):
    """A short training run of a model that chooses chunks."""
    run = trainer(data, parser_folder, tmp_path_factory.mktemp("runs") / "c2f", epochs=4)
    run.run()
    return run


@pytest.mark.parametrize(
    "network",
    [
        {"variant": "standard"},
        {"variant": "hier", "coarse": "bow"},
        {"variant": "hier", "chunks": "sentences"},
        {"variant": "c2f", "chunks": "subtrees", "samples": 2, "subtree_words": 8},
    ],
    ids=lambda network: "-".join(map(str, network.values())),
)
def test_every_variant_learns_and_comes_back(network, data, parser_folder, tmp_path):
    run = trainer(data, parser_folder, tmp_path / "run", network=network, epochs=3)
    run.run()
    losses = [entry.validation["loss"] for entry in run.log]
    assert losses[-1] < losses[0]
    best = tmp_path / "run" / "best"
    loaded, options = (
        AbstractiveSummarizer.from_pretrained(best, device=torch.device("cpu")),
        {"num_beams": 2, "max_new_tokens": 8},
    )
    found = list(loaded.summarize_many(documents(run), **options))
    expected = run.task.summarizer.summarize_many(documents(run), **options)
    assert [one.text for one in found] == [one.text for one in expected]
    assert loaded.family.settings()["variant"] == network["variant"]
    for one in found:
        details = one.to_json()
        assert 1 <= details["encoded"] <= details["chunks"]
        assert network["variant"] == "c2f" or details["encoded"] == details["chunks"]
    unknown = unknown_id(loaded.tokenizer)
    assert loaded.model.generation_config.suppress_tokens == [unknown]
    assert not any("unk" in one.text for one in found)
    card = (best / CARD).read_text()
    assert "A note." in card and "coarse-to-fine-attention" in card


def test_bags_of_words_stay_as_they_begin(data, parser_folder, tmp_path):
    names = ("encoder.embeddings.weight", "encoder.coarse.words.weight")
    for frozen in (None, False):
        own = {"network": {"coarse": "bow", "variant": "hier"}, "frozen_embeddings": frozen, "epochs": 1}
        run = trainer(data, parser_folder, tmp_path / str(frozen), **own)
        before = {name: run.task.family.model.state_dict()[name].clone() for name in names}
        run.run()
        after = run.task.family.model.state_dict()
        assert all(torch.equal(before[name], after[name]) == (frozen is None) for name in names)


class KilledError(Exception):
    pass


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_a_killed_run_keeps_its_baseline_and_its_alternation(optimizer, data, parser_folder, tmp_path):
    def killed(line):
        if line.startswith("step 14/"):
            raise KilledError

    # With this seed, there are steps of both kinds before the kill, and the last of them samples.
    settings = {
        "seed": 3,
        "alternate": 0.5,
        "pretrain": 1,
        "epochs": 6,
        "optimizer": optimizer,
        "network": {"samples": 2},
    }
    settings |= {"schedule": "constant", "warmup": 0.0}
    with pytest.raises(KilledError):
        trainer(data, parser_folder, tmp_path / "killed", report=killed, **settings).run()
    kept = load_file(tmp_path / "killed" / "last.safetensors")
    assert (kept["task.baseline"][:5] != 0).all() and kept["task.baseline_new"].any()
    for name in ("killed", "whole"):
        trainer(data, parser_folder, tmp_path / name, **settings).run()
    for file in (f"best/{WEIGHTS}", f"best/{CONFIG}", "log.json"):
        assert (tmp_path / "killed" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes(), file
    states = [load_file(tmp_path / name / "last.safetensors") for name in ("killed", "whole")]
    assert states[0].keys() == states[1].keys()
    assert all(torch.equal(value, states[1][name]) for name, value in states[0].items())


def test_steps_are_soft_in_pretraining_and_in_their_share_of_the_rest(begun, parser_folder):
    family = CoarseToFineFamily(begun.task.family.model, begun.task.family.tokenizer, "other")
    recipe = AbstractiveRecipe.from_dict(content(parser_folder, pretrain=1, alternate=0.5))
    soft = []
    for number in range(400):
        family.begin_step(recipe, Step(number, number / 100, 0.0))
        soft.append(family._soft)
    assert all(soft[:100])
    assert 0.4 < sum(soft[100:]) / 300 < 0.6
    plain = AbstractiveRecipe.from_dict(content(parser_folder))
    family.begin_step(plain, Step(3, 0.1, 0.0))
    assert not family._soft


def test_the_baseline_grows_with_the_targets(begun, parser_folder):
    family = CoarseToFineFamily(begun.task.family.model, begun.task.family.tokenizer, "other")
    batch = begun.task.batches([[0, 1, 2]], Step(0, 0.0, 0.0))[0].batch
    assert batch.inputs["labels"].shape[1] > 8
    for tokens in (8, 16):
        recipe = AbstractiveRecipe.from_dict(content(parser_folder, target_tokens=tokens))
        family.begin_step(recipe, Step(0, 1.0, 1.0))
        own = TextBatch({**batch.inputs, "labels": batch.inputs["labels"][:, :tokens]}, batch.extra)
        own.inputs["decoder_input_ids"] = own.inputs["decoder_input_ids"][:, :tokens]
        gradients(family, recipe, own, soft=False)
        assert len(family.state()["baseline"]) == tokens
    # The rewards of the shorter targets have moved the first means.
    assert (family.state()["baseline"][:8] != 0).any() and not family.state()["baseline"][8:].any()


def gradients(family, recipe, batch, *, soft):
    torch.manual_seed(2)
    family._soft = soft
    family.model.train()
    family.model.zero_grad()
    family.loss(recipe, batch.inputs, batch.extra, 0.0, torch.zeros(1))["loss"].backward()
    family.model.eval()
    return {name: one.grad.clone() for name, one in family.model.named_parameters()}


def test_alternating_gradients_are_one_or_the_other(begun, parser_folder):
    """Soft steps have the gradients of a hierarchical model, other steps those of a run without alternation."""
    family, recipe = begun.task.family, begun.recipe
    batch = begun.task.batches([[0, 1, 2]], Step(0, 0.0, 0.0))[0].batch
    hard, soft = (gradients(family, recipe, batch, soft=way) for way in (False, True))
    hier = CoarseToFineForConditionalGeneration(type(family.config)(**family.config.to_dict() | {"variant": "hier"}))
    hier.load_state_dict(family.model.state_dict())
    other = CoarseToFineFamily(hier, family.tokenizer, "hier")
    expected = gradients(other, recipe, batch, soft=False)
    for name, value in soft.items():
        torch.testing.assert_close(value, expected[name], msg=name)
    assert any(not torch.allclose(value, soft[name], atol=1e-4) for name, value in hard.items())


def test_another_choice_of_chunks_than_in_training(begun):
    folder = str(begun.folder / "best")
    options = {"num_beams": 1, "max_new_tokens": 8}
    soft = AbstractiveSummarizer.from_pretrained(folder, variant="hier")
    found = soft.summarize(documents(begun)[0], **options).to_json()
    assert (found["variant"], found["encoded"]) == ("hier", found["chunks"])
    several = AbstractiveSummarizer.from_pretrained(folder, samples=99)
    # With more samples than chunks, all are read, weighted by their attention.
    assert [one.text for one in several.summarize_many(documents(begun), **options)] == [
        one.text for one in soft.summarize_many(documents(begun), **options)
    ]
    for wrong, message in (
        ({"variant": "standard"}, "variant: expected c2f, which the model was trained with, got 'standard'"),
        ({"variant": ["c2f"]}, "variant: expected one of standard, hier, c2f, got"),
        ({"samples": 0}, "samples: expected a whole number of at least 1, got 0"),
        ({"samples": "two"}, "samples: expected a whole number of at least 1, got 'two'"),
        ({"samples": 1.5}, "samples: expected a whole number of at least 1, got 1.5"),
        ({"variant": "hier", "samples": 2}, "samples: expected none for the variant hier, got 2"),
        (
            {"selector": "mean_key"},
            "expected only variant and samples, the options of a coarse-to-fine model, got selector",
        ),
    ):
        with pytest.raises(InputError, match=message):
            AbstractiveSummarizer.from_pretrained(folder, **wrong)


def test_training_goes_on_from_hierarchical_attention(data, parser_folder, tmp_path):
    trainer(data, parser_folder, tmp_path / "hier", network={"variant": "hier"}, epochs=1).run()
    best = tmp_path / "hier" / "best"
    changes = {"variant": "c2f", "samples": 2}
    run = trainer(data, parser_folder, tmp_path / "c2f", model=str(best), network=changes, epochs=1)
    assert (run.task.family.config.variant, run.task.family.config.samples) == ("c2f", 2)
    there = load_file(best / WEIGHTS)
    assert all(torch.equal(value, there[name]) for name, value in run.task.family.model.state_dict().items())
    run.run()
    assert json.loads((tmp_path / "c2f" / "best" / CONFIG).read_text())["variant"] == "c2f"
    with pytest.raises(InputError, match=r"network\.chunks: expected 8x10, which .* was trained with, got 4x20"):
        trainer(data, parser_folder, tmp_path / "other", model=str(best), network={"chunks": "4x20"})


def test_only_the_first_highlight_is_learned(data, parser_folder, tmp_path):
    folder = tmp_path / "news"
    folder.mkdir()
    for name, first in (("train", 0), ("validation", 50)):
        write_table(folder / f"{name}.jsonl", first, first + 8)
        rows = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
        for row in rows:
            row["summary"] = f"{row['summary']}\n\nThe rest of it."
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = trainer(folder, parser_folder, tmp_path / "run")
    batch = run.task.batches([[0, 1]], Step(0, 0.0, 0.0))[0].batch
    written = [run.task.family.tokenizer.decode(row[row >= 0]) for row in batch.inputs["labels"]]
    assert not any("rest" in text for text in written)
    assert all(text.endswith("</s>") for text in written)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"network": {"variant": "soft"}}, r"network\.variant: expected one of standard, hier, c2f, got 'soft'"),
        ({"network": {"chunks": "10"}}, r"network\.chunks: expected sentences, subtrees, or rows of words"),
        ({"network": {"chunks": "sentences", "attend_padding": True}}, r"network\.attend_padding: cannot be used with"),
        ({"task": "infill"}, "task: expected summarize for the family coarse_to_fine, got 'infill'"),
        ({"network": {"variant": "hier"}, "pretrain": 1}, "pretrain, alternate: expected 0 for the variant hier"),
        (
            {"source_tokens": 81},
            r"source_tokens: expected at most 80, the words that network\.chunks 8x10 holds, got 81",
        ),
        ({"alternate": 1.5}, r"alternate: expected a number in \[0, 1\], got 1.5"),
        ({"selector": "gru"}, "selector: expected one of the fields"),
        ({"vectors": "gone.txt"}, r"gone\.txt: expected word vectors as text"),
        ({"vocabulary": 2}, "vocabulary: expected a whole number of at least 8, got 2"),
        ({"model": "gone"}, "gone: expected the folder of a sequence-to-sequence model"),
    ],
)
def test_bad_recipes(changes, message, data, parser_folder, tmp_path):
    with pytest.raises(DiscsumError, match=message):
        trainer(data, parser_folder, tmp_path / "run", **changes)
