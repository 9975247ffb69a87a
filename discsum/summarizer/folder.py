"""Model folders of extractive summarizers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from torch import Tensor

from discsum.constants import CONTEXTUAL, SHIPPED_PARSER, VECTORS
from discsum.encoder.heads import HEADS
from discsum.encoder.synthesizer import Synthesizer, SynthesizerConfig
from discsum.errors import InputError, WeightsError
from discsum.files import sha256
from discsum.parsers.loading import load_parser
from discsum.parsers.parser import Parser
from discsum.parsers.unit_encoders import UnitEncoder
from discsum.persistence import CARD, CONFIG, ModelFolder, locate, read_model, shipped, write_model

KIND = "discsum-extractive"
# Prefix of the encoder's trained layers among the weights.
ENCODER = "encoder."


@dataclass(frozen=True)
class SummarizerConfig:
    """Inputs and defaults of a summarizer.

    Attributes:
        vectors: `contextual`, pooled from the parser's encoding of the whole text; `discourse`, the same
            concatenated with the parser's states of EDUs; `isolated`, the first token's state of each unit encoded
            alone by the parser's encoder; or the name or folder of a Hugging Face encoder that does so
            (Xiao et al. 2020, section 3).
        encoder: Digest of that Hugging Face encoder.
        revision: Its commit, if known.
        encoder_layers: Number of the encoder's last layers that were trained and are saved with the model.
        parser: Name or folder of the parser; in a saved model relative to its folder.
        units: Default number of units of a summary.
        fingerprint: Fingerprint of the parser, set on saving: scores are valid for that parser only.
        vectors_folder: In a saved model the folder of a local Hugging Face encoder, relative to the model's.
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
    vectors_folder: str = ""


@dataclass(frozen=True)
class SummarizerParts:
    """Parts of a summarizer; `trained` holds the trained layers of its encoder by name."""

    network: Synthesizer
    config: SummarizerConfig
    parser: Parser
    trained: Mapping[str, Tensor]
    card: str = ""


def write_summarizer(parts: SummarizerParts, folder: Path) -> None:
    """Write configuration, float16 weights of what was trained, and model card; parser and encoder by name only.

    Heads from outside discsum are recorded with their code, `file.py:Class`.
    """
    name, vectors = parts.config.parser, parts.config.vectors
    location = name if name in shipped() else os.path.relpath(name, folder)
    local = vectors not in VECTORS and Path(vectors).is_dir()
    encoder = os.path.relpath(vectors, folder) if local else ""
    named = replace(parts.config, parser=location, fingerprint=parts.parser.fingerprint, vectors_folder=encoder)
    network = parts.network.config
    config: dict[str, Any] = {"name": parts.config.name, "summarizer": asdict(named), "synthesizer": network.to_dict()}
    code = {head: code for head in (network.head, *network.mixture) if (code := HEADS.origin(head))}
    if code:
        config["heads"] = code
    trained = {f"{ENCODER}{name}": value for name, value in parts.trained.items()}
    write_model(folder, KIND, config, parts.network.state_dict() | trained, parts.card)


def read_summarizer(name_or_path: str | Path, device: str = "cpu") -> SummarizerParts:
    """Return the parts of a shipped summarizer, or of one in a folder, with its parser on a device.

    Raises:
        WeightsError: A folder that is missing, damaged, or of another kind of model, or whose parser is not
            that of training.
    """
    model = read_model(name_or_path, KIND)
    trained = {key.removeprefix(ENCODER): value for key, value in model.tensors.items() if key.startswith(ENCODER)}
    network, config = _network(model)
    local = model.path / config.parser
    config = replace(config, parser=str(local) if (local / CONFIG).is_file() else config.parser)
    config = replace(config, vectors=_vectors(config, model.path), vectors_folder="")
    found = sha256(locate(config.parser) / CONFIG)
    if found != config.fingerprint:
        raise WeightsError(
            f"{model.path}: expected the parser {config.parser} with fingerprint {config.fingerprint}, which the "
            f"model was trained on, got {found}; train the model again"
        )
    card = model.path / CARD
    text = card.read_text(encoding="utf-8") if card.is_file() else ""
    return SummarizerParts(network, config, load_parser(config.parser, device), trained, text)


def load_encoder(config: SummarizerConfig, parser: Parser, trained: Mapping[str, Tensor]) -> UnitEncoder:
    """Return the encoder of a summarizer's units, with its trained layers loaded.

    Raises:
        WeightsError: The encoder of that name differs from that of training, or has other layers.
    """
    encoder = UnitEncoder.load(config.vectors, parser, layers=config.encoder_layers, revision=config.revision)
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


def _vectors(config: SummarizerConfig, folder: Path) -> str:
    """Return the name of a saved model's vectors, or the current folder of their encoder.

    A name that still points to that folder is kept: it identifies the vectors in dataset folders.
    """
    local = folder / config.vectors_folder
    if not config.vectors_folder or not local.is_dir():
        return config.vectors
    known = Path(config.vectors)
    return config.vectors if known.is_dir() and known.samefile(local) else str(local)


def _network(model: ModelFolder) -> tuple[Synthesizer, SummarizerConfig]:
    try:
        config = SummarizerConfig(**model.config["summarizer"])
        sizes = SynthesizerConfig(**model.config["synthesizer"])
        _check_heads(model, sizes)
        network = Synthesizer(sizes)
        network.load_state_dict({key: value for key, value in model.tensors.items() if not key.startswith(ENCODER)})
    except (KeyError, TypeError, InputError, RuntimeError) as error:
        raise WeightsError(
            f"{model.path / CONFIG}: expected the configuration of a {KIND} and its weights, "
            f"got {type(error).__name__}: {error}"
        ) from error
    return network, config


def _check_heads(model: ModelFolder, sizes: SynthesizerConfig) -> None:
    """Check that every head of a saved model is registered.

    Raises:
        WeightsError: It is not; the message names the head, its file, and how to register it.
    """
    for name in (sizes.head, *sizes.mixture):
        try:
            HEADS.entry(name)
        except InputError as error:
            code = model.config.get("heads", {}).get(name)
            needs = f"the head {name!r}{f' of {code}' if code else ''}"
            raise WeightsError(f"{model.path}: expected {needs}, which the model was trained with: {error}") from error
