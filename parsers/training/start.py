"""A training run that begins with the layers of another parser."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer

from discsum.errors import InputError
from discsum.parsers.network import ParserNetwork
from discsum.parsers.parser import Parser


def begin_with(network: ParserNetwork, tokenizer: Tokenizer, folder: str) -> list[str]:
    """Give the network what fits of a trained parser; return the names of the parts that it took.

    Parts are `encoder`, `tagger`, `edus`, `splits` and `labels`; one fits if its weights have the same names and shapes
    in both, so that a split scorer with cohesion begins anew after one without.

    Args:
        network: What is to be trained; changed.
        tokenizer: What it reads texts by.
        folder: The trained parser.

    Raises:
        InputError: No such folder, a parser of another vocabulary, or none of its parts fits.
        WeightsError: A damaged folder.
    """
    if not Path(folder).is_dir():
        raise InputError(f"start: expected the folder of a trained parser, found no {folder}")
    start = Parser.from_pretrained(folder)
    if start.tokenizer.get_vocab() != tokenizer.get_vocab():
        raise InputError(f"start: expected a parser with the vocabulary of the recipe's encoder, {folder} has another")
    other, taken = start.network, []
    for name, part in network.named_children():
        theirs, ours = (found.state_dict() for found in (other.get_submodule(name), part))
        same = {key: value.shape for key, value in theirs.items()} == {key: value.shape for key, value in ours.items()}
        if same and (name != "labels" or other.labels.labels == network.labels.labels):
            part.load_state_dict(theirs)
            taken.append(name)
    if not taken:
        raise InputError(f"start: expected a parser that shares layers with this recipe's, {folder} has others")
    return taken
