"""Training runs of abstractive summarizers, from random weights, on a few small texts."""

import json
import os
import re
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from small_training import SPARSE, recipe_fields, silent, training_loop
from transformers import AutoModelForSeq2SeqLM

from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.abstractive.sparse.config import SETTINGS
from discsum.abstractive.sparse.conversion import is_selectors
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.abstractive.training.pairs import PairData, pair_collection
from discsum.errors import DiscsumError, InputError, WeightsError
from discsum.persistence import CONFIG, WEIGHTS


def content(parser_folder, **changes):
    return recipe_fields(parser_folder, **SPARSE | changes)


def trainer(data, parser_folder, folder, report=silent, **changes):
    return training_loop(content(parser_folder, **changes), data, folder, report)


@pytest.fixture(scope="module")
def begun(data, parser_folder, tmp_path_factory):
    """A short training run with full attention."""
    run = trainer(data, parser_folder, tmp_path_factory.mktemp("runs") / "full", epochs=4)
    run.run()
    return run


@pytest.fixture(scope="module")
def selecting(data, parser_folder, begun, tmp_path_factory):
    """The folder of that model with a trained selector and a learned weight of the tree."""
    folder = tmp_path_factory.mktemp("runs") / "kl"
    settings = {"model": str(begun.folder / "best"), "selector": "gru", "beta": 0.0, "objective": {"mode": "kl"}}
    trainer(data, parser_folder, folder, **settings).run()
    return folder / "best"


def test_training_learns(begun):
    losses = [entry.validation["loss"] for entry in begun.log]
    assert losses[-1] < losses[0]
    assert begun.best.validation["loss"] == min(losses)
    assert "A note." in (begun.folder / "best" / "README.md").read_text()


@pytest.mark.skipif(os.name != "posix", reason="only POSIX limits the size of files")
def test_weights_that_cannot_be_written_are_an_error_of_the_system(begun, tmp_path):
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large") as raised:
            begun.task.save(tmp_path / "model")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert raised.value.filename == str(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_restoring_needs_a_mask(begun, data, parser_folder, tmp_path):
    folder = shutil.copytree(begun.folder / "best", tmp_path / "maskless")
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"mask_token": None}))
    with pytest.raises(InputError, match=r"task: expected a model whose tokenizer has a mask token for infill, got .*"):
        trainer(data, parser_folder, tmp_path / "run", model=str(folder), task="infill")


def test_a_model_in_half_precision_that_drops_layers_is_trained_whole_in_float32(begun, data, parser_folder, tmp_path):
    model = AbstractiveSummarizer.from_pretrained(str(begun.folder / "best"))
    model.model.half()
    model.model.config.encoder_layerdrop = model.model.config.decoder_layerdrop = 0.9
    model.save_pretrained(tmp_path / "half")
    assert {value.dtype for value in load_file(tmp_path / "half" / WEIGHTS).values()} == {torch.float16}
    network = trainer(data, parser_folder, tmp_path / "run", model=str(tmp_path / "half")).task.network
    assert {parameter.dtype for parameter in network.parameters()} == {torch.float32}
    assert {module.layerdrop for module in network.modules() if hasattr(module, "layerdrop")} == {0.0}


def test_sizes_of_a_model_that_is_trained_further(begun, data, parser_folder, tmp_path):
    best, sizes = str(begun.folder / "best"), content(parser_folder)["scratch"]
    message = f"scratch.dropout: expected 0.1, which {best} was trained with, got 0.3"
    with pytest.raises(InputError, match=re.escape(message)):
        trainer(data, parser_folder, tmp_path / "run", model=best, scratch=sizes | {"dropout": 0.3})
    message = rf"^scratch\.vocabulary: expected at least the \d+ words of {re.escape(best)}, got 20$"
    with pytest.raises(InputError, match=message):
        trainer(data, parser_folder, tmp_path / "run", model=best, scratch=sizes | {"vocabulary": 20})


@pytest.mark.parametrize("task", ["infill", "denoise"])
def test_restoring_is_learned_too(data, parser_folder, tmp_path, task):
    run = trainer(data, parser_folder, tmp_path / "run", task=task, epochs=4)
    run.run()
    assert run.log[-1].loss < run.log[0].loss


def test_the_model_of_a_run_is_the_one_that_was_trained(begun, small_documents):
    model = AbstractiveSummarizer.from_pretrained(str(begun.folder / "best"))
    options = {"num_beams": 2, "max_new_tokens": 8, "truncate": True}
    assert [one.text for one in model.summarize_many(iter(small_documents), **options)] == [
        one.text for one in begun.task.summarizer.summarize_many(small_documents, **options)
    ]


def test_many_documents_are_named_and_come_in_batches(begun, small_documents):
    summarizer, options = begun.task.summarizer, {"num_beams": 2, "max_new_tokens": 8, "truncate": True}
    taken = []
    source = (taken.append(document) or document for document in small_documents)
    found = summarizer.summarize_many(source, ids=[7, "b", ""], batch_size=2, **options)
    first = next(found)
    assert len(taken) == 2
    summaries = [first, *found]
    assert [one.document.id for one in summaries] == ["7", "b", small_documents[2].id]
    alone = [summarizer.summarize(document, **options).text for document in small_documents]
    assert [one.text for one in summaries] == alone
    assert summarizer.summarize(small_documents[0], id="mill", **options).to_json()["id"] == "mill"
    with pytest.raises(TypeError, match=r"^text 0: expected Document, got str; parse texts with discsum\.parse$"):
        list(summarizer.summarize_many(["It rained."]))
    with pytest.raises(InputError, match=r"^ids: expected a name for each text, got only 1 names$"):
        list(summarizer.summarize_many(small_documents, ids=["a"], **options))


@pytest.fixture(scope="module")
def small_documents(data, parser_folder):
    recipe = AbstractiveRecipe.from_dict(content(parser_folder))
    examples = pair_collection(recipe.validation, data, PairData(recipe.parser, tree=True), data / "datasets", silent)
    return [examples[index].document for index in range(3)]


def selector_weights(folder):
    return {name: value for name, value in load_file(folder / WEIGHTS).items() if is_selectors(name)}


def test_the_divergence_changes_the_selector_alone(begun, selecting):
    before, after = (load_file(folder / WEIGHTS) for folder in (begun.folder / "best", selecting))
    assert before.keys() == after.keys() - selector_weights(selecting).keys()
    assert all(torch.equal(value, after[name]) for name, value in before.items())
    assert any(name.endswith("selector.beta") and value != 0 for name, value in selector_weights(selecting).items())


def test_a_folder_with_a_selector_is_a_model_of_transformers_too(selecting, small_documents):
    plain, report = AutoModelForSeq2SeqLM.from_pretrained(selecting, output_loading_info=True)
    assert not report["missing_keys"]
    assert set(report["unexpected_keys"]) == set(selector_weights(selecting))
    summarizer = AbstractiveSummarizer.from_pretrained(str(selecting))
    assert (summarizer.selector.selector, summarizer.selector.r, summarizer.model.sparse.r) == ("gru", 2, 2)
    ids = summarizer.tokenizer([small_documents[0].text], return_tensors="pt")["input_ids"]
    options = {"max_new_tokens": 8, "num_beams": 2}
    assert torch.equal(plain.generate(ids, **options), summarizer.model.generate(ids, **options))


def test_integrated_training_goes_on_from_the_selector(data, parser_folder, selecting, tmp_path):
    # The model keeps the weight of the tree that it has learned.
    settings = {"model": str(selecting), "selector": "gru"}
    run = trainer(data, parser_folder, tmp_path / "run", objective={"mode": "int-mix"}, **settings)
    began, there = run.task.summarizer.model.state_dict(), selector_weights(selecting)
    assert all(torch.equal(value, began[name]) for name, value in there.items())
    run.run()
    assert ", weighted by the discourse tree" in run.task.family.card(run.recipe).model
    assert set(run.log[0].validation) == {"loss", "words", "divergence"}
    assert set(run.log[0].parts) == {"words", "divergence"}
    before, after = (load_file(folder / WEIGHTS) for folder in (selecting, tmp_path / "run" / "best"))
    changed = {name for name, value in before.items() if not torch.equal(value, after[name])}
    assert changed
    assert all(is_selectors(name) or name.startswith("model.decoder.layers.") for name in changed)


class KilledError(Exception):
    pass


@pytest.mark.parametrize("mode", ["full", "int-mix"])
def test_a_run_that_was_killed_ends_as_if_undisturbed(mode, data, parser_folder, tmp_path):
    def killed(line):
        if line.startswith("step 5/"):
            raise KilledError

    selector = "all" if mode == "full" else "gru"
    settings = {"objective": {"mode": mode}, "selector": selector, "average": 0.5, "epochs": 3}
    with pytest.raises(KilledError):
        trainer(data, parser_folder, tmp_path / "killed", report=killed, **settings).run()
    for name in ("killed", "whole"):
        trainer(data, parser_folder, tmp_path / name, **settings).run()
    for file in (f"best/{WEIGHTS}", f"best/{CONFIG}", "log.json"):
        assert (tmp_path / "killed" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes(), file


def test_a_loss_that_is_no_number_names_the_documents(data, parser_folder, tmp_path):
    run = trainer(data, parser_folder, tmp_path / "run")
    with torch.no_grad():
        run.task.summarizer.model.get_decoder().layers[0].fc1.bias.fill_(float("nan"))
    with pytest.raises(DiscsumError, match=r"step 1: the loss is nan on text-\d+"):
        run.run()


@pytest.fixture
def altered(selecting, tmp_path):
    """A copy of the folder with a selector, to be damaged."""
    folder = tmp_path / "altered"
    folder.mkdir()
    for path in selecting.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def test_options_of_a_saved_selector(begun, selecting, tmp_path):
    load = AbstractiveSummarizer.from_pretrained
    with pytest.raises(
        InputError, match="nonsense: expected a selector that selects sentences, such as mean_key, got 'all'"
    ):
        load(str(begun.folder / "best"), nonsense=True)
    with pytest.raises(InputError, match=r"selector gru: expected one of its options .*, got nonsense"):
        load(str(selecting), nonsense=True)
    with pytest.raises(InputError, match="expected the options that its selector was trained with, none, got"):
        load(str(selecting), dropout=0.9)
    # A selector without weights takes other options than it was saved with.
    load(str(begun.folder / "best"), selector="model_free", r=2).save_pretrained(tmp_path / "free")
    for feature_map in ("elu+1", "relu"):
        assert load(str(tmp_path / "free"), feature_map=feature_map).selector.options == {"feature_map": feature_map}


def test_a_damaged_selector(altered):
    config = json.loads((altered / CONFIG).read_text())
    for change, said in (
        ("{", "expected"),
        ({"selector": 1}, "selector: expected"),
        ({"selector": "best"}, "the selector 'best', which the model was trained with, found none of this name"),
    ):
        (altered / CONFIG).write_text(json.dumps(config | {SETTINGS: change}))
        with pytest.raises(DiscsumError, match=said):
            AbstractiveSummarizer.from_pretrained(str(altered))
    (altered / WEIGHTS).write_bytes((altered / WEIGHTS).read_bytes()[:-9])
    (altered / CONFIG).write_text(json.dumps(config))
    with pytest.raises(WeightsError, match="expected"):
        AbstractiveSummarizer.from_pretrained(str(altered))


def test_selector_weights_of_another_size(altered):
    tensors = load_file(altered / WEIGHTS)
    name = next(name for name in tensors if is_selectors(name))
    for change in ({"sentence_encoder.more": torch.zeros(1)}, {name: torch.zeros(3)}):
        save_file(tensors | change, altered / WEIGHTS, {"format": "pt"})
        with pytest.raises(WeightsError, match="expected the weights"):
            AbstractiveSummarizer.from_pretrained(str(altered))


def test_a_selector_that_was_never_trained(begun, data, parser_folder, tmp_path):
    for untrained in ({"selector": "gru"}, {"selector": "mean_key", "beta": 0.0}):
        with pytest.raises(InputError, match="selector, beta: expected neither for the mode full"):
            trainer(data, parser_folder, tmp_path / "run", **untrained)
    with pytest.raises(InputError, match="expected a model that was trained with the selector gru"):
        AbstractiveSummarizer.from_pretrained(str(begun.folder / "best"), selector="gru")
    settings = {"model": str(begun.folder / "best"), "selector": "gru", "objective": {"mode": "int-apx"}}
    with pytest.raises(InputError, match="model: expected one with a trained selector gru for the mode int-apx"):
        trainer(data, parser_folder, tmp_path / "run", **settings)


def betas(summarizer):
    return [layer.encoder_attn.selector.beta.item() for layer in summarizer.model.get_decoder().layers]


def test_the_weight_of_the_tree_is_what_was_asked_for_or_learned(begun, selecting, data, parser_folder, tmp_path):
    learned = betas(AbstractiveSummarizer.from_pretrained(str(selecting)))
    assert all(value != 0 for value in learned)
    asked = AbstractiveSummarizer.from_pretrained(str(selecting), beta=2.5)
    assert (betas(asked), asked.selector.selector, asked.selector.r) == ([2.5, 2.5], "gru", 2)
    with pytest.raises(InputError, match="beta: expected a finite number, got nan"):
        AbstractiveSummarizer.from_pretrained(str(selecting), beta=float("nan"))
    with pytest.raises(
        InputError, match="beta: expected a selector that selects sentences, such as mean_key, got 'all'"
    ):
        AbstractiveSummarizer.from_pretrained(str(begun.folder / "best"), beta=1.0)
    # `beta` can also be added to a selector that was trained without it.
    settings = {"model": str(begun.folder / "best"), "selector": "gru", "objective": {"mode": "kl"}, "epochs": 1}
    trainer(data, parser_folder, tmp_path / "plain", **settings).run()
    folder = tmp_path / "plain" / "best"
    around = AbstractiveSummarizer.from_pretrained(str(folder), beta=1.0)
    assert betas(around) == [1.0, 1.0]
    inner = around.model.state_dict()
    for name, value in selector_weights(folder).items():
        assert torch.equal(value, inner[name.replace(".selector.", ".selector.inner.")])
    # Training with the tree can also start from such a selector.
    settings = {"model": str(folder), "selector": "gru", "beta": 0.0, "objective": {"mode": "int-apx"}}
    went_on = trainer(data, parser_folder, tmp_path / "run", **settings).task.summarizer
    assert betas(went_on) == [0.0, 0.0]
    name = "sentence_encoder.output.bias"
    assert torch.equal(went_on.model.state_dict()[name], inner[name])


def test_what_a_folder_says_of_its_tokenizer(begun, selecting):
    for folder in (begun.folder / "best", selecting):
        content = json.loads((folder / "tokenizer.json").read_text())
        assert (content["truncation"], content["padding"]) == (None, None)
        assert not set(json.loads((folder / "tokenizer_config.json").read_text())) & {"max_length", "is_local"}


def test_weights_are_kept_once(begun):
    assert "lm_head.weight" not in load_file(begun.folder / "best" / WEIGHTS)
    kept = load_file(begun.folder / "last.safetensors")
    assert not any(name.startswith("average.") for name in kept)


def test_a_folder_that_was_killed_between_two_renames(selecting, tmp_path):
    shutil.copytree(selecting, tmp_path / ".model.old")
    assert AbstractiveSummarizer.from_pretrained(str(tmp_path / "model")).selector.selector == "gru"


def test_lengths_beyond_the_models_positions(begun, selecting, small_documents, data, parser_folder, tmp_path):
    settings = {"model": str(begun.folder / "best")}
    with pytest.raises(InputError, match=r"source_tokens: expected at most 192, the positions of .*, got 500"):
        trainer(data, parser_folder, tmp_path / "run", source_tokens=500, **settings)
    with pytest.raises(InputError, match=r"target_tokens: expected at most 192, the positions of .*, got 193"):
        trainer(data, parser_folder, tmp_path / "run", target_tokens=193, **settings)
    model = AbstractiveSummarizer.from_pretrained(str(begun.folder / "best"))
    with pytest.raises(InputError, match=r"max_new_tokens, .*--min-tokens\): expected at most 191, the maximum"):
        model.summarize_many(small_documents, truncate=True, max_new_tokens=192)
    with pytest.raises(InputError, match="num_return_sequences: expected 1, a summary for each document, got 2"):
        model.summarize_many(small_documents, truncate=True, num_beams=2, num_return_sequences=2)
    with pytest.raises(
        InputError, match=r"\(--min-tokens\): expected at most max_new_tokens \(--max-tokens\) 3, got 9"
    ):
        model.summarize_many(small_documents, truncate=True, max_new_tokens=3, min_new_tokens=9)


def test_parts_of_a_step_learn_what_the_whole_step_does(data, parser_folder, tmp_path):
    scratch = {"vocabulary": 300, "width": 16, "layers": 2, "heads": 2, "inner": 16, "dropout": 0.0}
    losses = []
    for count in (1, 4):
        run = trainer(data, parser_folder, tmp_path / str(count), scratch=scratch, epochs=1, accumulate=count)
        run.run()
        losses.append((run.best.loss, run.best.validation["loss"]))
    assert losses[1] == pytest.approx(losses[0], abs=2e-4)
