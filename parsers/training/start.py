"""A training run that begins with the layers of another parser."""

from __future__ import annotations

from pathlib import Path

from discsum.errors import InputError
from discsum.parsers.network import ParserNetwork
from discsum.parsers.parser import Parser


def begin_with(network: ParserNetwork, folder: str) -> list[str]:
    """Give the network each part of a trained parser that has the same weights; return the names of these parts.

    Raises:
        InputError: No such folder, or none of its parts fits.
        WeightsError: A damaged folder.
    """
    if not Path(folder).is_dir():
        raise InputError(f"start: expected the folder of a trained parser, found no {folder}")
    other, taken = Parser.from_pretrained(folder).network, []
    for name, part in network.named_children():
        theirs, ours = (found.state_dict() for found in (other.get_submodule(name), part))
        same = {key: value.shape for key, value in theirs.items()} == {key: value.shape for key, value in ours.items()}
        if same and (name != "labels" or other.labels.labels == network.labels.labels):
            part.load_state_dict(theirs)
            taken.append(name)
    if not taken:
        raise InputError(f"start: expected a parser that shares layers with this recipe's, {folder} has others")
    return taken
