"""Summarizers as model folders: what is written, and what is checked when it is read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

import discsum
from discsum.choices import CONTEXTUAL, SHIPPED_PARSER
from discsum.encoder.synthesizer import Synthesizer, SynthesizerConfig
from discsum.errors import InputError, WeightsError
from discsum.files import sha256
from discsum.persistence import CARD, CONFIG, ModelFolder, locate, read_model, shipped, write_model

if TYPE_CHECKING:
    from discsum.parsers.parser import Parser
    from discsum.parsers.unit_encoders import UnitEncoder

KIND = "discsum-extractive"
# What the names of trained layers of the encoder begin with.
ENCODER = "encoder."


@dataclass(frozen=True)
class SummarizerConfig:
    """What a summarizer reads and how it was trained to be used.

    Attributes:
        name: The model's name.
        unit: `sentence` or `edu`.
        vectors: `contextual`, pooled from the parser's encoding of the whole text; `discourse`, the same with the
            parser's states of EDUs beside them; `isolated`, the first token's state of each unit encoded on its own by
            the parser's encoder; or the name or folder of a Hugging Face encoder that does so (Xiao et al. 2020,
            section 3).
        encoder: A digest of that Hugging Face encoder, which its vectors come from.
        revision: Its commit, where it has one.
        encoder_layers: How many of the encoder's last layers were trained and are part of the model.
        parser: Name or folder of the parser; in a saved model relative to its folder.
        units: Units a summary has unless told otherwise.
        fingerprint: That parser's, set when the model is saved; with another parser its scores would mean nothing.
    """

    name: str
    unit: str = "sentence"
    vectors: str = CONTEXTUAL
    encoder: str = ""
    revision: str = ""
    encoder_layers: int = 0
    parser: str = SHIPPED_PARSER
    units: int = 3
    fingerprint: str = ""


@dataclass(frozen=True)
class SummarizerParts:
    """What a summarizer is made of: `trained` are the layers of its encoder that training changed, by their names."""

    network: Synthesizer
    config: SummarizerConfig
    parser: Parser
    trained: Mapping[str, Tensor]
    card: str = ""


def write_summarizer(parts: SummarizerParts, folder: Path) -> None:
    """Write configuration, float16 weights of what was trained, and model card; parser and encoder are named only."""
    name = parts.config.parser
    place = name if name in shipped() else os.path.relpath(name, folder)
    config: dict[str, Any] = {
        "name": parts.config.name,
        "summarizer": asdict(replace(parts.config, parser=place, fingerprint=parts.parser.fingerprint)),
        "synthesizer": parts.network.config.to_dict(),
    }
    trained = {f"{ENCODER}{name}": value for name, value in parts.trained.items()}
    write_model(folder, KIND, config, parts.network.state_dict() | trained, parts.card)


def read_summarizer(name_or_path: str | Path) -> SummarizerParts:
    """Return the parts of a shipped summarizer, or of one in a folder.

    Raises:
        WeightsError: A folder that is missing, damaged, or of another kind of model, or whose parser is not the one
            that it was trained with.
    """
    model = read_model(name_or_path, KIND)
    trained = {key.removeprefix(ENCODER): value for key, value in model.tensors.items() if key.startswith(ENCODER)}
    network, config = _network(model)
    beside = model.path / config.parser
    config = replace(config, parser=str(beside) if (beside / CONFIG).is_file() else config.parser)
    found = sha256(locate(config.parser) / CONFIG)
    if found != config.fingerprint:
        raise WeightsError(
            f"{model.path}: expected the parser {config.parser} with fingerprint {config.fingerprint}, which the "
            f"model was trained on, got {found}; train the model again"
        )
    card = model.path / CARD
    text = card.read_text(encoding="utf-8") if card.is_file() else ""
    return SummarizerParts(network, config, _parser(config.parser, found), trained, text)


def load_encoder(config: SummarizerConfig, parser: Parser, trained: Mapping[str, Tensor]) -> UnitEncoder:
    """Return what makes a summarizer's vectors, with its trained layers in place.

    Raises:
        WeightsError: Another encoder of that name than the one that the summarizer was trained with, or other layers.
    """
    encoder = discsum.unit_encoder(config.vectors, parser, layers=config.encoder_layers, revision=config.revision)
    if encoder.fingerprint != config.encoder:
        raise WeightsError(
            f"{config.name}: expected the encoder {config.vectors} with digest {config.encoder or 'none'}, which the "
            f"model was trained on, got {encoder.fingerprint or 'none'}; train the model again"
        )
    try:
        encoder.trained.load_state_dict(dict(trained))
    except RuntimeError as error:
        raise WeightsError(f"{config.name}: expected the last layers of {config.vectors}, got {error}") from error
    return encoder


@lru_cache(maxsize=2)
def _parser(name: str, fingerprint: str) -> Parser:
    """Return a parser, loaded once for all summarizers that have it."""
    return discsum.Parser.from_pretrained(name)


def _network(model: ModelFolder) -> tuple[Synthesizer, SummarizerConfig]:
    try:
        config = SummarizerConfig(**model.config["summarizer"])
        network = Synthesizer(SynthesizerConfig(**model.config["synthesizer"]))
        network.load_state_dict({key: value for key, value in model.tensors.items() if not key.startswith(ENCODER)})
    except (KeyError, TypeError, InputError, RuntimeError) as error:
        raise WeightsError(
            f"{model.path / CONFIG}: expected the configuration of a {KIND} and its weights, "
            f"got {type(error).__name__}: {error}"
        ) from error
    return network, config
