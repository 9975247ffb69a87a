"""Parsers and summarizers of the Hugging Face hub."""

import json
import re
import shutil
import warnings
from dataclasses import replace

import pytest
import tiny
from huggingface_hub.errors import GatedRepoError
from pretended_hub import pretend, refusal

import discsum
from discsum.constants import SUMMARIZER_KIND
from discsum.document import Document
from discsum.errors import InputWarning, WeightsError
from discsum.formats import dump
from discsum.parsers.pretrained import pretrained_encoder
from discsum.parsers.training.gold_splits import read_split
from discsum.parsers.training.splits import Splits
from discsum.parsers.tree_folder import PUNCTUATION
from discsum.persistence import fingerprint
from discsum.summarizer.extractive import ExtractiveSummarizer
from discsum.tree import Node, RSTTree


@pytest.fixture(scope="module")
def models(summarizer_folders, parser_folder, tmp_path_factory):
    """Return folders by name: a parser, a summarizer that was trained on it, and a model of another library."""
    folder = tmp_path_factory.mktemp("hub")
    (folder / "large").mkdir()
    (folder / "large" / "config.json").write_text(json.dumps({"model_type": "bart", "is_encoder_decoder": True}))
    (folder / "large" / "pytorch_model.bin").touch()
    (folder / "empty").mkdir()
    found = {"me/parser": parser_folder, "me/model": folder / "model"}
    own = ExtractiveSummarizer.from_pretrained(summarizer_folders["edu"])
    own.config = replace(own.config, parser="hf:me/parser")
    own.save_pretrained(folder / "model")
    return found | {"other/large": folder / "large", "other/empty": folder / "empty"}


@pytest.fixture
def requests(models, tmp_path, monkeypatch):
    """Return the requests to a hub with the models."""
    return pretend(monkeypatch, tmp_path / "cache", models)


def test_a_summarizer_loads_its_parser_from_the_hub(requests, summarizer_folders):
    expected = discsum.summarize(tiny.ARTICLE, model=summarizer_folders["edu"])
    found = discsum.summarize(tiny.ARTICLE, model="hf:me/model")
    assert found.to_json() == expected.to_json()
    assert discsum.summarize(tiny.ARTICLE, model="hf:me/model", parser="hf:me/parser").to_json() == found.to_json()
    baseline = discsum.summarize(tiny.ARTICLE, model="lead", parser="hf:me/parser")
    assert baseline.document == discsum.Parser.from_pretrained("hf:me/parser").parse(tiny.ARTICLE)
    # The configuration, then all: each model is listed twice however often it is named.
    assert [one for one in requests if not one.startswith("get")].count("list me/parser") == 2
    assert requests.count("list me/model") == 2
    assert requests.count("get me/parser model.safetensors") == 1


def test_a_model_of_the_hub_is_fetched_only_when_it_is_named(requests):
    model = ExtractiveSummarizer.from_pretrained("hf:me/model", revision="v1", token="mine")
    assert model.name == "tiny-edu"
    assert requests[:2] == ["is there me/model", "list me/model v1 mine"]
    requests.clear()
    with pytest.raises(WeightsError, match="me/model: expected a folder"):
        ExtractiveSummarizer.from_pretrained("me/model")
    assert not requests


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("other/large", "expected a discsum-parser of format 1, got a model of no such kind, perhaps a sequence-to-"),
        ("other/empty", r"expected a model of discsum with config.json, found no such file; check the name"),
        ("me/model", "expected a discsum-parser of format 1, got discsum-extractive of format 1, a summarizer, which"),
        ("me/none", "expected the name of a model on the hub, or a local folder; the hub has no such model"),
    ],
)
def test_only_the_configuration_of_a_wrong_model_is_downloaded(name, message, requests):
    for load in (discsum.Parser.from_pretrained, lambda name: discsum.parse("It rained.", parser=name)):
        with pytest.raises(WeightsError, match=f"^hf:{name}: {message}"):
            load(f"hf:{name}")
    assert {one for one in requests if one.startswith("get")} <= {f"get {name} config.json"}


def test_a_model_of_the_hub_has_the_fingerprint_of_its_folder(requests, models):
    assert fingerprint("hf:me/model", SUMMARIZER_KIND) == fingerprint(models["me/model"], SUMMARIZER_KIND)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (refusal(GatedRepoError, 403), "expected a model that you have access to, got a gated one; run hf auth login"),
        (OSError("no space left"), "expected to download it or to find .*, got: no space left; check the network and"),
    ],
)
def test_a_download_that_fails_is_reported_with_the_name(error, message, requests, monkeypatch):
    def fail(name, **options):
        raise error

    monkeypatch.setattr("huggingface_hub.snapshot_download", fail)
    with pytest.raises(WeightsError, match=f"^hf:me/parser: {message}"):
        discsum.Parser.from_pretrained("hf:me/parser")


def test_training_takes_the_encoder_of_a_parser_of_the_hub(requests, models):
    found = pretrained_encoder("hf:me/parser").encoder.state_dict()
    expected = pretrained_encoder(str(models["me/parser"])).encoder.state_dict()
    assert found.keys() == expected.keys()
    assert all(value.equal(expected[name]) for name, value in found.items())


def test_a_hub_that_does_not_answer_is_asked_for_an_encoder_once(requests, monkeypatch):
    asked = []

    def fail(api, name, **options):
        asked.append(name)
        raise OSError("timed out")

    monkeypatch.setattr("huggingface_hub.HfApi.repo_info", fail)
    with pytest.raises(WeightsError, match=r"^hf:me/encoder: expected a model .* cannot be reached \(timed out\)"):
        pretrained_encoder("hf:me/encoder")
    assert asked == ["me/encoder"]


@pytest.mark.parametrize("name", ["hf:me/cached", "me/cached"])
def test_an_encoder_has_its_commit_on_the_hub(name, encoder_folder, tmp_path, monkeypatch):
    cached, commit = tmp_path / "models--me--cached", "0123456789" * 4
    shutil.copytree(encoder_folder, cached / "snapshots" / commit)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(commit)
    for module in ("constants", "utils._cache_manager"):
        monkeypatch.setattr(f"huggingface_hub.{module}.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert pretrained_encoder(name).revision == commit
    assert pretrained_encoder(name, commit).revision == commit
    assert pretrained_encoder(str(encoder_folder)).revision == ""


def test_a_folder_is_not_read_as_an_encoder_of_the_hub(encoder_folder):
    with pytest.raises(WeightsError, match="leave out hf: to read the folder"):
        pretrained_encoder(f"hf:{encoder_folder}")


@pytest.mark.filterwarnings("ignore:.*are guessed")
def test_a_parser_keeps_the_list_of_its_training_documents(parser_folder, tmp_path, monkeypatch):
    first, copy, bank = tmp_path / "first", tmp_path / "copy", tmp_path / "bank"
    document = Document.from_edu_texts(
        ["It rained,", "and it stopped."], RSTTree(2, [Node(0, 1, 0, "NN", "joint-list")])
    )
    splits = Splits.of(PUNCTUATION, {"train": ["rain"]}, {"rain": document})
    shutil.copytree(parser_folder, first)
    splits.write(first)
    discsum.Parser.from_pretrained(first).save_pretrained(copy)
    assert Splits.read(copy) == splits
    bank.mkdir()
    (bank / "rain.rs3").write_text(dump(document, "rs3"))
    pretend(monkeypatch, tmp_path / "cache", {"me/parser": copy})
    with pytest.warns(InputWarning, match="hf:me/parser: was trained on 1 of the 1 documents of .*bank, all"):
        read_split(bank, "all", ["hf:me/parser"])
    # Another parser in its place does not inherit the list.
    discsum.Parser.from_pretrained(parser_folder).save_pretrained(copy)
    assert Splits.read(copy) is None


def test_a_summarizer_whose_parts_others_lack(requests, summarizer_folders, models, tmp_path, monkeypatch):
    monkeypatch.setattr("discsum.summarizer.extractive.upload", lambda model, name, **options: name)
    own = ExtractiveSummarizer.from_pretrained(summarizer_folders["edu"])
    with pytest.warns(
        InputWarning, match="me/copy: expected a parser, .* that others can load, got the folders .*tiny-p"
    ):
        assert own.push_to_hub("me/copy") == "me/copy"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hub = ExtractiveSummarizer.from_pretrained("hf:me/model")
        hub.push_to_hub("me/copy")
    hub.config = replace(hub.config, vectors=str(tmp_path))
    with pytest.warns(InputWarning, match=f"got the folders {re.escape(str(tmp_path))}; upload"):
        hub.push_to_hub("me/copy")
    shutil.copytree(summarizer_folders["edu"], tmp_path / "elsewhere" / "copy")
    with pytest.raises(
        WeightsError, match=r"copy: expected the parser that the model was trained with: \.\..*tiny-parse"
    ):
        ExtractiveSummarizer.from_pretrained(tmp_path / "elsewhere" / "copy")
