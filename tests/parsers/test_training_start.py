"""Initialisation of a parser from a trained one."""

import copy
import json

import pytest
import tiny
import torch
from tokenizers import Tokenizer

from discsum.errors import InputError
from discsum.parsers.network import ParserNetwork
from discsum.parsers.network_config import NetworkConfig
from discsum.parsers.parser import Parser
from discsum.parsers.training.start import initialise_from


@pytest.fixture
def trained(tmp_path):
    tiny.make_parser().save_pretrained(tmp_path / "trained")
    return str(tmp_path / "trained")


def make_network(width=32, **changes):
    sizes = NetworkConfig(**{**tiny.SIZES, **changes})
    return ParserNetwork(tiny.make_encoder(seed=3, width=width), tiny.special_indices(), tiny.LABELS, sizes)


def test_a_start_that_is_none():
    with pytest.raises(
        InputError, match=r"start: expected a shipped parser, the folder of a trained one, or hf:NAME, found no gone"
    ):
        initialise_from(make_network(), tiny.make_tokenizer(), "gone")


def test_a_shipped_parser_is_a_start():
    shipped = Parser.from_pretrained("discsum-gum")
    network = copy.deepcopy(shipped.network)
    torch.nn.init.zeros_(network.tagger.get_parameter(next(name for name, _ in network.tagger.named_parameters())))
    assert "tagger" in initialise_from(network, shipped.tokenizer, "discsum-gum")
    assert all(found.equal(own) for found, own in zip(network.parameters(), shipped.network.parameters(), strict=True))


def test_a_start_of_another_vocabulary(trained):
    content = json.loads(tiny.make_tokenizer().to_str())
    vocabulary = content["model"]["vocab"]
    vocabulary["unheard"] = vocabulary.pop([*vocabulary][-1])
    with pytest.raises(InputError, match="start: expected a parser with the vocabulary of the recipe's encoder"):
        initialise_from(make_network(), Tokenizer.from_str(json.dumps(content)), trained)


def test_a_start_that_shares_nothing(trained):
    with pytest.raises(InputError, match=f"start: expected a parser with layers that fit this .*, but {trained} has"):
        initialise_from(make_network(width=16, hidden=8, rank=4), tiny.make_tokenizer(), trained)


def test_a_start_with_other_classes_gives_no_labels(trained):
    network = make_network()
    network.labels.classes.reverse()
    assert "labels" not in initialise_from(network, tiny.make_tokenizer(), trained)


def test_a_start_that_reads_less(trained):
    network = make_network(label_rank=4, label_edges=4, label_heads=True)
    copied = initialise_from(network, tiny.make_tokenizer(), trained)
    assert copied == ["encoder", "tagger", "edus", "splits", "labels"]
    # Its additional inputs have no effect yet.
    earlier = Parser.from_pretrained(trained)
    found = Parser(network, tiny.make_tokenizer(), earlier.name).parse(tiny.ARTICLE)
    assert found == earlier.parse(tiny.ARTICLE)
