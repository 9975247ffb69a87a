"""Initialisation of a training run from another trained parser."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer

from discsum.constants import HUB
from discsum.errors import InputError
from discsum.parsers.folder import is_parser
from discsum.parsers.labels import Label
from discsum.parsers.network import ParserNetwork
from discsum.parsers.parser import Parser


def initialise_from(network: ParserNetwork, tokenizer: Tokenizer, name: str) -> list[str]:
    """Copy the matching parts of a trained parser into `network`; return their names.

    Parts are `encoder`, `tagger`, `edus`, `splits` and `labels`. A part matches if `network` has all of its weights, by
    name and shape; additional weights of `network` stay newly initialised. In `labels` these have no effect at first
    (such as a product of both children), in `edus` they do (a Transformer layer). The rule for summarizers is stricter:
    names and shapes must be the same, because what may be added to their network is another head, on which every copied
    layer would depend.

    Args:
        network: The network to initialise.
        tokenizer: Its encoder's.
        name: A shipped parser, the folder of a trained one, or `hf:NAME`.

    Raises:
        InputError: No such parser, one with another vocabulary, or no matching part.
        WeightsError: A damaged folder.
    """
    # If the folder holds something else, reading it below reports what it is.
    if not (Path(name).is_dir() or name.startswith(HUB) or is_parser(name)):
        raise InputError(f"start: expected a shipped parser, the folder of a trained one, or hf:NAME, found no {name}")
    start = Parser.from_pretrained(name)
    if start.tokenizer.get_vocab() != tokenizer.get_vocab():
        raise InputError(
            f"start: expected a parser with the vocabulary of the recipe's encoder, but that of {name} differs"
        )
    copied = []
    for own, part in network.named_children():
        source = start.network.get_submodule(own).state_dict()
        shapes, wanted = ({key: value.shape for key, value in state.items()} for state in (source, part.state_dict()))
        fits = shapes.items() <= wanted.items()
        if fits and (own != "labels" or _labels(start.network) == _labels(network)):
            part.load_state_dict(source, strict=False)
            copied.append(own)
    if not copied:
        raise InputError(f"start: expected a parser with layers that fit this recipe's, but {name} has none")
    return copied


def _labels(network: ParserNetwork) -> tuple[list[Label], list[Label]]:
    """Return the labels and their classes in the order of the weights."""
    return list(network.labels.labels), network.labels.classes
