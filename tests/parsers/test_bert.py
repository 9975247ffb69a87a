import subprocess
import sys

import pytest
import torch
from transformers import BertConfig as TheirConfig
from transformers import BertModel

from discsum.errors import WeightsError
from discsum.parsers.bert import Bert, BertConfig

SIZES = {
    "vocab_size": 50,
    "hidden_size": 12,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 20,
    "max_position_embeddings": 30,
}


def pair(**changes):
    """Return transformers' model and ours with the same weights."""
    torch.manual_seed(1)
    theirs = BertModel(TheirConfig(**SIZES | changes), add_pooling_layer=False).eval()
    ours = Bert(BertConfig.of(theirs.config.to_dict(), "bert")).eval()
    ours.load_state_dict(theirs.state_dict())
    return theirs, ours


@pytest.mark.parametrize("lengths", [(17, 17), (17, 5, 1)])
@pytest.mark.parametrize("changes", [{}, {"layer_norm_eps": 1e-5, "num_attention_heads": 1}])
def test_states_and_gradients_are_those_of_transformers(lengths, changes):
    theirs, ours = pair(**changes)
    ids = torch.randint(0, 50, (len(lengths), max(lengths)))
    mask = torch.arange(max(lengths))[None, :] < torch.tensor(lengths)[:, None]
    arguments = {"input_ids": ids, "attention_mask": None if mask.all() else mask.long()}
    found, wanted = (model(**arguments).last_hidden_state for model in (ours, theirs))
    torch.testing.assert_close(found[mask], wanted[mask])
    for states in (found, wanted):
        states[mask].square().sum().backward()
    gradients = {name: parameter.grad for name, parameter in theirs.named_parameters()}
    for name, parameter in ours.named_parameters():
        torch.testing.assert_close(parameter.grad, gradients[name], msg=name)


def test_dropout_is_for_training_only():
    _, ours = pair(hidden_dropout_prob=0.5, attention_probs_dropout_prob=0.5)
    ids = torch.arange(20)[None]
    assert torch.equal(*(ours(ids).last_hidden_state for _ in range(2)))
    ours.train()
    assert not torch.equal(*(ours(ids).last_hidden_state for _ in range(2)))
    for rates in ((0.5, 0.0), (0.0, 0.5)):
        _, ours = pair(hidden_dropout_prob=rates[0], attention_probs_dropout_prob=rates[1])
        ours.train()
        assert not torch.equal(*(ours(ids).last_hidden_state for _ in range(2)))


@pytest.mark.parametrize(
    "other",
    [
        {"model_type": "roberta"},
        {"hidden_act": "relu"},
        {"position_embedding_type": "relative_key"},
        {"is_decoder": True},
    ],
)
def test_other_encoders_are_left_to_transformers(other):
    assert BertConfig.of(SIZES | {"model_type": "bert"}, "bert") is not None
    assert BertConfig.of(SIZES | {"model_type": "bert"} | other, "bert") is None
    assert BertConfig.of(SIZES, "bert") is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_attention_heads": 0}, "num_attention_heads: expected a whole number of at least 1, got 0"),
        ({"num_attention_heads": 5}, "num_attention_heads: expected a divisor of 12, got 5"),
        ({"hidden_size": "12"}, "hidden_size: expected a whole number of at least 1, got '12'"),
        ({"hidden_dropout_prob": 1.0}, "hidden_dropout_prob: expected a number in \\[0, 1\\), got 1.0"),
    ],
)
def test_sizes_are_checked(changes, message):
    with pytest.raises(WeightsError, match=f"bert: {message}"):
        BertConfig.of(SIZES | {"model_type": "bert"} | changes, "bert")


def test_parsing_imports_no_transformers(parser_folder):
    code = (
        "import sys\nfrom discsum.parsers.parser import Parser\n"
        f"Parser.from_pretrained({str(parser_folder)!r}).parse('The mill stopped because the river rose.')\n"
        "print('transformers' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"
