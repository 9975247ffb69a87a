"""Model folders of extractive summarizers."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import torch
from torch import Tensor

from discsum.constants import CONTEXTUAL, HUB, PARSER_KIND, SHIPPED_PARSER, UNITS, VECTORS
from discsum.constants import SUMMARIZER_KIND as KIND
from discsum.encoder.heads import HEADS
from discsum.encoder.synthesizer import Synthesizer, SynthesizerConfig
from discsum.errors import InputError, WeightsError, warn_caller
from discsum.json_objects import checked_fields
from discsum.persistence import CONFIG, WEIGHTS, ModelFolder, fingerprint, locate, read_config, shipped, write_model
from discsum.recipes.fields import Checked, Count, Natural, NotNegative, Share, one_of

if TYPE_CHECKING:
    from discsum.summarizer.extractive import ExtractiveSummarizer

# Prefix of the encoder's trained layers among the weights.
ENCODER = "encoder."


@dataclass(frozen=True)
class SummarizerConfig(Checked):
    """Inputs and defaults of a summarizer.

    Attributes:
        vectors: `contextual`, pooled from the parser's encoding of the whole text; `discourse`, the same
            concatenated with the parser's EDU states; `isolated`, the first token's state of each unit encoded alone by
            the parser's encoder; or the name or folder of a Hugging Face encoder, used like `isolated`
            (Xiao et al. 2020, section 3).
        encoder: Digest of the Hugging Face encoder.
        revision: Commit of the Hugging Face encoder, if known.
        encoder_layers: Number of the encoder's last layers that were trained and are saved with the model.
        encoder_window: Subwords per window of the encoder; None for the default.
        parser: Name or folder of the parser; in a saved model relative to the model's folder.
        units: Default number of units of a summary.
        block_trigrams: Default for trigram blocking, as in validation.
        redundancy: Default penalty for repetition, as in validation; see `Policy`.
        brevity: Default penalty for length, as in validation; see `Policy`.
        sentence_model: Name or folder of a summarizer of sentences, for a summarizer of EDUs; empty for none. The
            log-odds of an EDU are averaged with those of its sentence.
        sentence_share: Share of the sentence in that average.
        sentence_fingerprint: Fingerprint of that summarizer, set on saving.
        fingerprint: Fingerprint of the model's parser, set on saving; scores are only valid with this parser.
        vectors_folder: In a saved model, the folder of a local Hugging Face encoder, relative to the model's folder.
    """

    name: str
    unit: Annotated[str, one_of(UNITS, "Unit that is scored.")] = "sentence"
    vectors: str = CONTEXTUAL
    encoder: str = ""
    revision: str = ""
    encoder_layers: Natural = 0
    encoder_window: Count | None = None
    parser: str = SHIPPED_PARSER
    units: Count = 3
    block_trigrams: bool = False
    redundancy: NotNegative = 0.0
    brevity: NotNegative = 0.0
    sentence_model: str = ""
    sentence_share: Share = 0.5
    sentence_fingerprint: str = ""
    fingerprint: str = ""
    vectors_folder: str = ""

    def problems(self) -> list[str]:
        """Return a message for a summarizer of sentences beside one that scores sentences itself."""
        if not self.sentence_model or self.unit == "edu":
            return []
        return [f"sentence_model: expected none for the unit {self.unit}, got {self.sentence_model!r}"]


@dataclass(frozen=True)
class SummarizerFile(Checked):
    """Content of a summarizer's `config.json`."""

    format: int
    kind: str
    name: str
    summarizer: SummarizerConfig
    synthesizer: SynthesizerConfig
    sha256: str
    heads: dict[str, str] = field(default_factory=dict)


def write_summarizer(model: ExtractiveSummarizer, folder: Path, card: str) -> None:
    """Write the configuration, the float16 weights of all trained layers, and the model card.

    The parser, the encoder and the summarizer of sentences are recorded by name only, heads from outside discsum with
    their code: `file.py:Class` or `package.module:Class`, and a digest of the file.
    """
    vectors, sentences = model.config.vectors, model.config.sentence_model
    named = replace(
        model.config,
        parser=_recorded(model.config.parser, folder),
        fingerprint=model.parser.fingerprint,
        sentence_model=_recorded(sentences, folder) if sentences else "",
        sentence_fingerprint=fingerprint(sentences, KIND) if sentences else "",
        vectors_folder=_relative(vectors, folder) if _is_encoder_folder(vectors) else "",
    )
    network = model.network.config
    config: dict[str, Any] = {"name": model.name, "summarizer": asdict(named), "synthesizer": network.to_dict()}
    if code := head_code(network):
        config["heads"] = code
    trained = {f"{ENCODER}{name}": value for name, value in model.trained.items()}
    write_model(folder, KIND, config, model.network.state_dict() | trained, card)


def head_code(network: SynthesizerConfig) -> dict[str, str]:
    """Return the code of the heads that are not discsum's own, by name."""
    return {name: code for name in (network.head, *network.mixture) for code in HEADS.code(name).values()}


def _recorded(name: str, folder: Path) -> str:
    """Return what a model in `folder` records of another: its name if shipped or on the hub, or the path to it."""
    return name if name in shipped() or name.startswith(HUB) else _relative(name, folder)


def only_here(config: SummarizerConfig) -> list[str]:
    """Return the parser, summarizer of sentences and encoder that are folders, which other machines do not have."""
    parts = filter(None, (config.parser, config.sentence_model))
    folders = [name for name in parts if name not in shipped() and not name.startswith(HUB)]
    return [*folders, config.vectors] if _is_encoder_folder(config.vectors) else folders


def _is_encoder_folder(vectors: str) -> bool:
    return vectors not in VECTORS and Path(vectors).is_dir()


def _relative(path: str, folder: Path) -> str:
    """Return a path relative to a folder, without links: systems apply `..` to the folder that a link points to."""
    place = Path(path).resolve()
    try:
        return Path(os.path.relpath(place, folder.resolve())).as_posix()
    except ValueError:
        # On another drive of Windows.
        return place.as_posix()


def trained_layers(model: ModelFolder) -> dict[str, Tensor]:
    """Return the weights of the encoder layers that were trained with a saved model, by their names in the encoder."""
    return {key.removeprefix(ENCODER): value for key, value in model.tensors.items() if key.startswith(ENCODER)}


def read_network(model: ModelFolder) -> tuple[Synthesizer, SummarizerConfig]:
    """Return the network of a saved model, and its configuration with current paths.

    Raises:
        WeightsError: A configuration or weights that do not fit, an unknown head, or a parser other than the one that
            the model was trained on.
    """
    content = checked_fields(SummarizerFile, model.config, model.path / CONFIG, WeightsError)
    _check_heads(model.path, content)
    weights = {key: value for key, value in model.tensors.items() if not key.startswith(ENCODER)}
    try:
        # On the meta device, so that wrong sizes are found before memory is allocated.
        with torch.device("meta"):
            network = Synthesizer(content.synthesizer)
        network.load_state_dict(weights, assign=True)
        if content.heads or any(buffer.is_meta for buffer in network.buffers()):
            # A head computes tensors that it does not save; those of foreign heads need not be buffers.
            network = Synthesizer(content.synthesizer)
            network.load_state_dict(weights)
    except (InputError, RuntimeError, TypeError, AssertionError, OverflowError) as error:
        # Sizes that torch cannot take raise the latter three.
        found = " ".join(part.strip() for part in str(error).splitlines()[:2])
        raise WeightsError(f"{model.path / WEIGHTS}: expected the weights that {CONFIG} describes: {found}") from error
    return network, _current_config(content.summarizer, model.path)


def read_summarizer_config(name: str) -> SummarizerConfig:
    """Return the configuration of a saved model with current paths, without reading weights.

    Raises:
        WeightsError: A configuration that does not fit, or a parser other than the one that the model was trained on.
    """
    folder = locate(name, KIND)
    content = checked_fields(SummarizerFile, read_config(name, KIND), folder / CONFIG, WeightsError)
    return _current_config(content.summarizer, folder)


def _current_config(config: SummarizerConfig, folder: Path) -> SummarizerConfig:
    """Return the configuration of a model in `folder` with current paths, after checking that they fit."""
    parser, sentences = (_current(name, folder) for name in (config.parser, config.sentence_model))
    vectors = _vectors(config, folder)
    config = replace(config, parser=parser, sentence_model=sentences, vectors=vectors, vectors_folder="")
    found = _fingerprint_of("parser", parser, PARSER_KIND, folder)
    if found != config.fingerprint:
        raise WeightsError(
            f"{folder}: expected the parser {parser} with fingerprint {config.fingerprint}, which the "
            f"model was trained on, got {found}; train the model again"
        )
    found = _fingerprint_of("summarizer of sentences", sentences, KIND, folder) if sentences else ""
    if found != config.sentence_fingerprint:
        raise WeightsError(
            f"{folder}: expected the summarizer of sentences {sentences or 'none'} with fingerprint "
            f"{config.sentence_fingerprint or 'none'}, which the model was validated with, got {found or 'none'}; "
            "train the model again"
        )
    return config


def _fingerprint_of(part: str, name: str, kind: str, folder: Path) -> str:
    """Return the fingerprint of a model that the model in `folder` needs; if there is none, the error says for what."""
    try:
        return fingerprint(name, kind)
    except WeightsError as error:
        raise WeightsError(f"{folder}: expected the {part} that the model was trained with: {error}") from error


def _current(name: str, folder: Path) -> str:
    """Return the path of a model that a model in `folder` has recorded, or its name if shipped or on the hub."""
    local = folder / name
    return str(local) if name and (local / CONFIG).is_file() else name


def _vectors(config: SummarizerConfig, folder: Path) -> str:
    """Return the name of a saved model's vectors, or the current folder of their encoder.

    A name that still points to that folder is kept because it identifies the vectors in dataset folders.
    """
    local = folder / config.vectors_folder
    if not config.vectors_folder or not local.is_dir():
        return config.vectors
    known = Path(config.vectors)
    return config.vectors if known.is_dir() and known.samefile(local) else str(local)


def _check_heads(folder: Path, content: SummarizerFile) -> None:
    """Raise `WeightsError` if a head of a saved model is not registered; warn if its code is not that of training."""
    for name in (content.synthesizer.head, *content.synthesizer.mixture):
        try:
            HEADS.entry(name)
        except InputError as error:
            code = content.heads.get(name, "").rpartition(" ")[0]
            needs = f"the head {name!r}{f' of {code}' if code else ''}"
            # Another architecture of a similar name is no substitute.
            found = error if name in HEADS else "found none; install its package, or use --head-file FILE.py"
            raise WeightsError(f"{folder}: expected {needs}, which the model was trained with: {found}") from error
    now = head_code(content.synthesizer)
    for name, began in content.heads.items():
        # The file may have another name.
        if began.rpartition(":")[2] != (found := now.get(name, "")).rpartition(":")[2]:
            warn_caller(
                f"{folder}: expected the head {name!r} with the code that the model was trained with, {began}, got "
                f"{found or 'a head of discsum'}; its scores may be wrong: restore that code, or train the model again"
            )
