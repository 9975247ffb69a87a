"""Initialisation of a training run from another trained parser."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer

from discsum.errors import InputError
from discsum.parsers.network import ParserNetwork
from discsum.parsers.parser import Parser


def initialise_from(network: ParserNetwork, tokenizer: Tokenizer, folder: str) -> list[str]:
    """Copy the matching parts of a trained parser into `network`; return their names.

    Parts are `encoder`, `tagger`, `edus`, `splits` and `labels`. One matches if `network` has all of its weights, by
    name and shape; what `network` has in addition, such as a label scorer's product of both children, is new.

    Raises:
        InputError: No such folder, a parser with another vocabulary, or no matching part.
        WeightsError: A damaged folder.
    """
    if not Path(folder).is_dir():
        raise InputError(f"start: expected the folder of a trained parser, found no {folder}")
    start = Parser.from_pretrained(folder)
    if start.tokenizer.get_vocab() != tokenizer.get_vocab():
        raise InputError(f"start: expected a parser with the vocabulary of the recipe's encoder, {folder} has another")
    copied = []
    for name, part in network.named_children():
        source = start.network.get_submodule(name).state_dict()
        shapes, wanted = ({key: value.shape for key, value in state.items()} for state in (source, part.state_dict()))
        fits = shapes.items() <= wanted.items()
        if fits and (name != "labels" or start.network.labels.labels == network.labels.labels):
            part.load_state_dict(source, strict=False)
            copied.append(name)
    if not copied:
        raise InputError(f"start: expected a parser that shares layers with this recipe's, {folder} has others")
    return copied
