"""Real models small enough to build in a test: two layers, 32 wide, a vocabulary of some 150 word pieces."""

from __future__ import annotations

import string
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from discsum.parsers.network import ParserNetwork
from discsum.parsers.network_config import NetworkConfig
from discsum.parsers.parser import Parser
from discsum.parsers.subwords import split_subwords

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_COMMON = """
    the a of and to in that it was he she they we you for on with as at by but because when if although so said
    miller mill river water wheel stone flour bread baker town village bridge road morning winter summer year
    rain flood came went turned stopped began broke bought sold asked thought old new cold dry high ##ing ##ed ##s ##er
"""
WORDS = _COMMON.split()
VOCABULARY = [
    *SPECIAL,
    *WORDS,
    *string.ascii_lowercase,
    *(f"##{letter}" for letter in string.ascii_lowercase),
    *string.digits,
    *(f"##{digit}" for digit in string.digits),
    *".,;:!?'\"()-",
]
LABELS = (
    ("NN", "joint-list"),
    ("NN", "same-unit"),
    ("NS", "elaboration-additional"),
    ("NS", "elaboration-attribute"),
    ("NS", "causal-cause"),
    ("SN", "context-background"),
    ("SN", "attribution-positive"),
)
SIZES = {
    "window": 32,
    "overlap": 8,
    "tagger_hidden": 16,
    "hidden": 16,
    "layers": 1,
    "rank": 8,
    "label_inner": 16,
    "cohesion": 4,
}

ARTICLE = """\
The mill by the old bridge

When the river rose, the miller stopped the wheel. He said that the stones were old, and that the water was too \
cold for the bearings. "It broke last winter," he said, "because we did not listen."

The baker, who bought flour from him every morning, asked the town for help. The village sold two fields so that \
a new wheel could be made! Although the summer was dry, the river came back in autumn.

By the next year bread was cheap again; nobody thought of the flood.
"""


def make_tokenizer() -> Tokenizer:
    vocabulary = {piece: index for index, piece in enumerate(dict.fromkeys(VOCABULARY))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def make_encoder(seed: int = 0, width: int = 32) -> BertModel:
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(dict.fromkeys(VOCABULARY)),
        hidden_size=width,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.3,
    )
    return BertModel(config, add_pooling_layer=False).eval()


def special_indices() -> tuple[int, int, int]:
    return SPECIAL.index("[CLS]"), SPECIAL.index("[SEP]"), SPECIAL.index("[PAD]")


def make_parser(design: str = "chart", seed: int = 0, **sizes: int) -> Parser:
    """Return a parser with random weights that float16 represents exactly, and whose segmenter finds units."""
    encoder = make_encoder(seed)
    network = ParserNetwork(encoder, special_indices(), LABELS, NetworkConfig(design=design, **{**SIZES, **sizes}))
    with torch.no_grad():
        # Scales the tagger so that it finds as many starts as a real text has: about one EDU per five subwords.
        words = split_subwords(ARTICLE, make_tokenizer())
        logits = network.eval().tag(network.encoder([words]), [words])[0]
        output = network.tagger.output
        scale = 3.0 / logits.std(dim=0)
        output.bias.copy_(torch.tensor([2.5, 1.0, -1.5]) - scale * (logits.mean(dim=0) - output.bias))
        output.weight.mul_(scale[:, None])
        network.splits.border[-1].weight.mul_(4.0)
        if network.splits.cohesion is not None:
            for parameter in network.splits.cohesion.parameters():
                torch.nn.init.normal_(parameter)
        for value in network.state_dict().values():
            if value.is_floating_point():
                value.copy_(value.half().float())
    return Parser(network, make_tokenizer(), f"tiny-{design}")


def save_encoder(folder: Path) -> Path:
    """Write a folder that transformers' `from_pretrained` reads."""
    make_encoder().save_pretrained(folder)
    names = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]"}
    PreTrainedTokenizerFast(tokenizer_object=make_tokenizer(), mask_token="[MASK]", **names).save_pretrained(folder)
    return folder
