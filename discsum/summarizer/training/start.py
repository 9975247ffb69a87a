"""Other summarizers that a training run uses: the one it starts from, and that of the sentences of EDUs."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from discsum.constants import PARSER_KIND, SUMMARIZER_KIND
from discsum.encoder.synthesizer import Synthesizer
from discsum.errors import InputError
from discsum.persistence import fingerprint, read_model
from discsum.summarizer.folder import SummarizerConfig, read_network, read_summarizer_config, trained_layers

# Settings that change what a network computes, but not its weights.
_SAME = ("head", "heads", "key_size", "value_size", "mixture", "head_options", "scaled")


def initialise_from(network: Synthesizer, layers: nn.Module, config: SummarizerConfig, name: str) -> list[str]:
    """Copy the matching parts of a trained summarizer, of either unit, and return their names.

    Args:
        network: The document encoder. It matches a network with the same head and sizes. Unlike the parts of a parser,
            it copies nothing from a network with fewer weights: the head would be new, and every layer depends on it.
        layers: The trained layers of the unit encoder. They match the same number of layers on the same vectors.
        config: Configuration of the new summarizer's inputs.
        name: Name or folder of the trained summarizer.

    Raises:
        InputError: A summarizer without a matching part, on other unit vectors, or with another number of trained
            encoder layers.
        WeightsError: No such summarizer, or a damaged one.
    """
    model = read_model(name, SUMMARIZER_KIND)
    other, inputs = read_network(model)
    _check_inputs(name, inputs, config)
    same = all(getattr(network.config, field) == getattr(other.config, field) for field in _SAME)
    copied = [
        part
        for part, module, weights in (
            ("network", network, other.state_dict() if same else {}),
            ("encoder layers", layers, trained_layers(model)),
        )
        if _copied(module, weights)
    ]
    if not copied:
        raise InputError(f"start: expected a summarizer with layers that fit this recipe's, but {name} has none")
    return copied


def check_sentence_model(name: str, parser: str) -> None:
    """Check that a summarizer of sentences exists, and reads trees of a parser, without reading weights.

    Raises:
        InputError: A summarizer of EDUs, or on trees of another parser.
        WeightsError: No such summarizer.
    """
    inputs = read_summarizer_config(name)
    if inputs.unit != "sentence":
        raise InputError(f"sentence_model: expected a summarizer of sentences, got {name} of the unit {inputs.unit}")
    if inputs.fingerprint != fingerprint(parser, PARSER_KIND):
        raise InputError(
            f"sentence_model: expected a summarizer on trees of {parser}, as the recipe says, but {name} is on those "
            f"of {inputs.parser}; set sentence_model=null, with about twice the redundancy and brevity"
        )


def check_start(name: str, config: SummarizerConfig) -> None:
    """Check that a summarizer exists and can initialise one with the inputs of `config`, without reading weights.

    Raises:
        InputError: A summarizer on other unit vectors, or with another number of trained encoder layers.
        WeightsError: No such summarizer.
    """
    _check_inputs(name, read_summarizer_config(name), config)


def _check_inputs(name: str, inputs: SummarizerConfig, config: SummarizerConfig) -> None:
    parser, vectors, layers = config.parser, config.vectors, config.encoder_layers
    if (inputs.fingerprint, inputs.vectors) != (fingerprint(parser, PARSER_KIND), vectors):
        raise InputError(
            f"start: expected a summarizer on {vectors} vectors of {parser}, as the recipe says, but {name} is on "
            f"{inputs.vectors} vectors of {inputs.parser}"
        )
    if inputs.encoder != config.encoder:
        raise InputError(
            f"start: expected a summarizer on the encoder {vectors} with digest {config.encoder or 'none'}, but that "
            f"of {name} is {inputs.encoder or 'none'}"
        )
    # Without trained layers, its vectors are those with which training begins.
    if inputs.encoder_layers not in (0, layers):
        raise InputError(
            f"start: expected a summarizer with {layers} trained encoder layers (encoder_layers), as the recipe says, "
            f"or none, but {name} has {inputs.encoder_layers}"
        )


def _copied(module: nn.Module, weights: Mapping[str, Tensor]) -> bool:
    """Copy weights into a module if all names and shapes match; return whether they do."""
    wanted = {key: value.shape for key, value in module.state_dict().items()}
    if not wanted or wanted != {key: value.shape for key, value in weights.items()}:
        return False
    module.load_state_dict(weights)
    return True
