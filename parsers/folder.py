"""Parsers in folders: saved, loaded, and checked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import torch
from msgspec import Meta
from tokenizers import Tokenizer
from torch import nn
from torch.overrides import TorchFunctionMode

from discsum.constants import PARSER_KIND
from discsum.errors import WeightsError
from discsum.files import replacing, sha256
from discsum.inference import own_defaults
from discsum.json_objects import checked_fields
from discsum.model_settings import check_settings
from discsum.parsers.bert import Bert, BertConfig
from discsum.parsers.encoder import longest_window, without_pooler
from discsum.parsers.network import ParserNetwork
from discsum.parsers.network_config import NetworkConfig
from discsum.parsers.subwords import without_limits
from discsum.persistence import (
    CONFIG,
    SPLITS_FILE,
    WEIGHTS,
    ModelFolder,
    fingerprint,
    read_card,
    read_config,
    read_model,
    write_model,
)
from discsum.recipes.fields import Checked, Natural
from discsum.relation_classes import RelationClasses
from discsum.transformers_models import build_model
from discsum.tree import NUCLEARITIES

TOKENIZER = "tokenizer.json"
# Characters shown of torch's messages about weights, which may list every weight.
LONGEST = 300
# A network with more labels takes minutes to build before it is compared with its weights.
MOST_LABELS = 10_000


@dataclass(frozen=True)
class Loaded:
    """A parser from its folder; `fingerprint` is that of `discsum.persistence`."""

    network: ParserNetwork
    tokenizer: Tokenizer
    name: str
    fingerprint: str
    language: str
    card: str
    splits: bytes


def save(
    network: ParserNetwork,
    tokenizer: Tokenizer,
    name: str,
    folder: Path,
    card: str,
    language: str,
    splits: bytes = b"",
) -> None:
    """Write a parser to `folder`, its weights as float16; `splits` is the content of `SPLITS_FILE`, if it has one."""
    encoder: Any = network.encoder.encoder.config
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / TOKENIZER) as path:
        tokenizer.save(str(path))
    if splits:
        with replacing(folder / SPLITS_FILE) as path:
            path.write_bytes(splits)
    else:
        # Another parser's.
        (folder / SPLITS_FILE).unlink(missing_ok=True)
    config = {
        "name": name,
        "language": language,
        "network": network.config.to_dict(),
        "labels": [list(label) for label in network.labels.labels],
        "classes": network.labels.relation_classes.to_dict(),
        "special": list(network.encoder.special),
        "encoder": encoder.to_diff_dict() | {"model_type": encoder.model_type},
        "tokenizer_sha256": sha256(folder / TOKENIZER),
    }
    write_model(folder, PARSER_KIND, config, network.state_dict(), card)


@dataclass(frozen=True)
class ParserFile(Checked):
    """Content of a parser's `config.json`."""

    format: int
    kind: str
    name: str
    network: NetworkConfig
    labels: Annotated[list[tuple[str, str]], Meta(min_length=1)]
    special: tuple[Natural, Natural, Natural]
    encoder: dict[str, Any]
    tokenizer_sha256: str
    sha256: str
    language: str
    classes: RelationClasses

    def problems(self) -> list[str]:
        """Return a message if there are too many labels, or one has an unknown nuclearity."""
        if len(self.labels) > MOST_LABELS:
            return [f"labels: expected at most {MOST_LABELS:,}, got {len(self.labels):,}"]
        others = sorted({nuclearity for nuclearity, _ in self.labels} - set(NUCLEARITIES))
        if not others:
            return []
        return [f"labels: expected nuclearities {', '.join(NUCLEARITIES)}, got {others[0]!r}"]


@own_defaults()
def load(name_or_path: str | Path) -> Loaded:
    """Return the parser in a folder.

    Raises:
        InputError: As of `own_defaults`.
        WeightsError: Files are missing, damaged, altered, or of another kind of model.
    """
    model = read_model(name_or_path, PARSER_KIND)
    config = checked_fields(ParserFile, model.config, model.path / CONFIG, WeightsError)
    tokenizer = _read_tokenizer(model.path / TOKENIZER, config.tokenizer_sha256)
    network = _build(config, model)
    _check_indices(network, config, tokenizer, model.path)
    made = fingerprint(model.path, PARSER_KIND)
    listed = model.path / SPLITS_FILE
    splits = listed.read_bytes() if listed.is_file() else b""
    return Loaded(network, without_limits(tokenizer), config.name, made, config.language, read_card(model.path), splits)


def is_parser(name: str) -> bool:
    """Return whether this names a parser: shipped, its folder, or `hf:NAME`, which is downloaded."""
    try:
        read_config(name, PARSER_KIND)
    except WeightsError:
        return False
    return True


def _build(config: ParserFile, model: ModelFolder) -> ParserNetwork:
    """Return the network with its weights, which must be exactly those of the weights file."""
    plain = _sizes(config.encoder, f"{model.path / CONFIG}: encoder")

    def network(encoder: nn.Module) -> ParserNetwork:
        return ParserNetwork(encoder, config.special, config.labels, config.network, config.classes)

    # On the meta device, so that sizes other than those of the weights are found before memory is allocated.
    try:
        with torch.device("meta"), _Uninitialised():
            made = network(Bert(plain) if plain else _built(config, model))
        if plain is None:
            # transformers computes tensors that it does not save, so its encoders are built again, with memory.
            made.load_state_dict(model.tensors, assign=True)
            made = network(_built(config, model))
        made.load_state_dict(model.tensors, assign=True)
    except (RuntimeError, TypeError, AssertionError, OverflowError) as error:
        # Sizes that torch cannot take raise the latter three.
        # The first mismatch suffices; there may be a hundred.
        found = " ".join(part.strip() for part in str(error).splitlines()[:2])
        raise WeightsError(
            f"{model.path / WEIGHTS}: expected the weights that {CONFIG} describes: {found[:LONGEST]}"
        ) from error
    return made


def _check_indices(network: ParserNetwork, config: ParserFile, tokenizer: Tokenizer, folder: Path) -> None:
    """Check that special tokens, the tokenizer's subwords and a window's positions fit the encoder's embeddings."""
    encoder: Any = network.encoder.encoder
    subwords, positions = encoder.get_input_embeddings().num_embeddings, longest_window(encoder)
    largest, window = max(config.special), config.network.window
    if largest >= subwords:
        raise WeightsError(
            f"{folder / CONFIG}: special: expected indices below {subwords}, the encoder's number of subwords, "
            f"got {largest}"
        )
    if positions is not None and window > positions:
        raise WeightsError(
            f"{folder / CONFIG}: network.window: expected at most the encoder's {positions} positions, got {window}"
        )
    largest = max(tokenizer.get_vocab().values(), default=0)
    if largest >= subwords:
        raise WeightsError(
            f"{folder / TOKENIZER}: expected a tokenizer for an encoder with {subwords} subwords, got one with the "
            f"index {largest}"
        )


class _Uninitialised(TorchFunctionMode):
    """Skips the functions of `torch.nn.init`: on meta tensors, the first call of one imports torch's compiler."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__module__", "") == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


def _sizes(encoder: Mapping[str, Any], source: str) -> BertConfig | None:
    """Return the sizes of a BERT encoder; None for an encoder that transformers must build."""
    check_settings(encoder, source)
    return BertConfig.of(encoder, source)


def _built(config: ParserFile, model: ModelFolder) -> nn.Module:
    return without_pooler(build_model(config.encoder, f"{model.path / CONFIG}: encoder"))


def _read_tokenizer(path: Path, checksum: str) -> Tokenizer:
    if not path.is_file():
        raise WeightsError(f"{path.parent}: expected {TOKENIZER} beside the weights, found no such file")
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != checksum:
        raise WeightsError(f"{path}: expected sha256 {checksum}, got {found}; the file is truncated or altered")
    try:
        return Tokenizer.from_buffer(content)
    except Exception as error:
        # The library raises plain `Exception`.
        raise WeightsError(f"{path}: expected a tokenizer file, got {error}") from error
