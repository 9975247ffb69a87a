import ast
import json
import os
import re
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import discsum
from discsum import cli, data, parsers, transformers_models
from discsum.errors import InputWarning, WeightsError
from discsum.json_objects import MOST_BYTES
from discsum.model_settings import check_settings
from discsum.parsers.pretrained import pretrained_encoder
from discsum.transformers_models import check_files

DOOR = "transformers_models.py"
# Methods through which transformers builds something from a name, a folder or a configuration.
DOORS = {"from_pretrained", "from_config", "for_model", "get_class_from_dynamic_module", "pipeline"}


@pytest.fixture
def folder(encoder_folder, tmp_path):
    """Return a copy of an encoder's folder that tests may damage."""
    return shutil.copytree(encoder_folder, tmp_path / "encoder")


def edit(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def sources():
    return [path for package in (discsum, parsers, cli, data) for path in Path(package.__path__[0]).rglob("*.py")]


def classes_of_transformers(tree):
    """Return the names that a module imports from transformers."""
    return {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "transformers"
        for alias in node.names
    }


def test_transformers_loads_in_one_place_only():
    calls = {}
    for path in sources():
        tree = ast.parse(path.read_text())
        theirs = classes_of_transformers(tree) | {"transformers", "kind"}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute) or node.attr not in DOORS:
                continue
            owner = node.value
            while isinstance(owner, ast.Call | ast.Attribute):
                owner = owner.func if isinstance(owner, ast.Call) else owner.value
            # Our own classes have `from_pretrained` too.
            if not isinstance(owner, ast.Name) or owner.id in theirs or owner.id == "getattr":
                calls.setdefault(path.name, set()).add(node.attr)
    assert calls == {DOOR: {"from_pretrained", "for_model", "from_config"}}
    assert (Path(discsum.__path__[0]) / DOOR).read_text().count("trust_remote_code=False") == 2


def test_code_of_a_folder_is_never_run(folder, monkeypatch):
    proof = folder / "ran"
    (folder / "own.py").write_text(f"open({str(proof)!r}, 'w')\n\nclass Own:\n    pass\n")
    reader, writer = os.pipe()
    os.write(writer, b"1\ny\nyes\n")
    monkeypatch.setattr("sys.stdin", os.fdopen(reader))
    edit(folder / "config.json", model_type="own", auto_map={"AutoConfig": "own.Own", "AutoModel": "own.Own"})
    with pytest.raises(WeightsError, match=r"own\.py: expected a model without its own code"):
        pretrained_encoder(str(folder))
    (folder / "own.py").rename(folder.parent / "own.py")
    with pytest.raises(WeightsError, match=r"config\.json: auto_map: .*own\.Own"):
        pretrained_encoder(str(folder))
    os.close(writer)
    assert not proof.exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"auto_map": {"AutoModel": "own.Model"}}, "auto_map"),
        ({"encoder": {"auto_map": {"AutoModel": "someone/model--own.Model"}}}, "auto_map"),
        ({"attn_implementation": "someone/kernel"}, "attn_implementation"),
        ({"_attn_implementation": {"encoder": "someone/kernel"}}, "_attn_implementation"),
        ({"parts": [{"experts_implementation": "someone/kernel@main"}]}, "experts_implementation"),
        ({"custom_generate": "someone/loop"}, "custom_generate"),
    ],
)
def test_settings_that_name_code_are_refused(settings, message):
    with pytest.raises(WeightsError, match=f"here: {message}: expected a model whose code is transformers' own"):
        check_settings(settings, "here")


def test_ordinary_settings_are_accepted():
    check_settings({"auto_map": None, "_attn_implementation": "sdpa", "architectures": ["BertModel"]}, "here")


def test_an_encoder_is_checked_once_each_time_that_it_is_loaded(folder, monkeypatch):
    checked = []

    def counted(source, revision):
        checked.append(source)
        check_files(source, revision)

    monkeypatch.setattr(transformers_models, "check_files", counted)
    pretrained_encoder(str(folder))
    assert checked == [str(folder)]
    (folder / "own.py").touch()
    with pytest.raises(WeightsError, match="without its own code"):
        pretrained_encoder(str(folder))
    assert checked == [str(folder)] * 2


def test_an_adapter_is_refused(folder):
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "someone/else"}')
    with pytest.raises(WeightsError, match=r"adapter_config\.json: expected a whole model, got an adapter"):
        pretrained_encoder(str(folder))


def test_pickled_weights_are_refused(folder):
    torch.save({}, folder / "pytorch_model.bin")
    # Pickled weights next to safetensors are not read.
    pretrained_encoder(str(folder))
    (folder / "model.safetensors").unlink()
    with pytest.raises(WeightsError, match=r"pytorch_model\.bin: expected weights as safetensors"):
        pretrained_encoder(str(folder))


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100 + b"1" + b"}" * 100,
        '{"model_type": "b\xe9rt"}'.encode("latin-1"),
        b'{"hidden_size": NaN}',
        b'"bert"',
        b'{"model_type": "\\ud800"}',
        b"{",
        b"",
        b"{" + b" " * MOST_BYTES + b"}",
    ],
    ids=["deep", "deep-object", "latin-1", "nan", "text", "surrogate", "cut", "empty", "large"],
)
def test_a_configuration_that_is_none_is_one_line(folder, content):
    (folder / "config.json").write_bytes(content)
    with pytest.raises(WeightsError, match=r"config\.json: expected") as raised:
        check_files(str(folder))
    assert len(str(raised.value)) < 400
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"num_attention_heads": 0},
        {"num_attention_heads": "2"},
        {"hidden_size": -1},
        {"hidden_size": 10**7},
        {"model_type": "t5"},
        {"model_type": 5},
        {"vocab_size": 10**12},
        {"layer_norm_eps": "small"},
        {"num_labels": 10**9},
        {"num_hidden_layers": 10**6},
        {"id2label": [1, 2]},
    ],
    ids=str,
)
def test_a_configuration_of_another_model_is_one_line(folder, changes):
    edit(folder / "config.json", **changes)
    with pytest.raises(WeightsError) as raised:
        pretrained_encoder(str(folder))
    assert str(raised.value).startswith(str(folder))
    assert "\n" not in str(raised.value)


def test_weights_that_are_no_numbers(folder):
    tensors = load_file(folder / "model.safetensors")
    name = next(name for name in tensors if name.endswith("intermediate.dense.weight"))
    tensors[name][0, 0] = float("nan")
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(WeightsError, match=f"finite numbers, .*{name}"):
        pretrained_encoder(str(folder))


def test_weights_that_are_lacking_are_told(folder):
    tensors = load_file(folder / "model.safetensors")
    name = next(name for name in tensors if name.endswith("intermediate.dense.weight"))
    save_file(
        {key: value for key, value in tensors.items() if key != name}, folder / "model.safetensors", {"format": "pt"}
    )
    with pytest.warns(InputWarning, match=f"its files lack the weights .*{name}, which are initialised at random"):
        pretrained_encoder(str(folder))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"num_labels": 10**9}, "num_labels: expected a whole number in [0, 100000]"),
        ({"id2label": [1, 2]}, "id2label: expected a group of fields"),
        ({"encoder": {"model_type": "bert", "encoder_layers": 10**6}}, "encoder_layers: expected a whole number"),
        ({"d_model": "32"}, "d_model: expected a whole number of at least 1, or null, got '32'"),
    ],
)
def test_fields_out_of_range_are_named(changes, field):
    with pytest.raises(WeightsError, match=re.escape(f"here: {field}")):
        check_settings(changes, "here")
    # A label may have the name of a field.
    check_settings({"label2id": {"num_labels": -1}}, "here")


def test_the_field_that_transformers_names_is_told(folder):
    edit(folder / "config.json", hidden_act=["gelu"])
    with pytest.raises(WeightsError, match=r"field 'hidden_act'.* got list"):
        pretrained_encoder(str(folder))


def test_weights_of_another_kind_of_model(folder):
    edit(folder / "config.json", model_type="gpt2")
    with pytest.raises(WeightsError, match=r"expected the weights of a GPT2Model, .*; its files lack most of them"):
        pretrained_encoder(str(folder))


def test_weights_of_other_sizes(folder):
    edit(folder / "config.json", hidden_size=64)
    with pytest.raises(WeightsError, match="got weights of different sizes than its configuration says"):
        pretrained_encoder(str(folder))


@pytest.mark.parametrize("content", ["{}", '{"added_tokens": [], "model": {"type": "none"}}', "[" * 50, "caf\xe9"])
def test_a_damaged_tokenizer_is_named(folder, content):
    (folder / "tokenizer.json").write_text(content, encoding="latin-1")
    with pytest.raises(
        WeightsError, match=r"tokenizer\.json: expected a tokenizer as written by save_pretrained; got "
    ) as told:
        pretrained_encoder(str(folder))
    assert len(str(told.value).splitlines()) == 1
