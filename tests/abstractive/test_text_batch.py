"""Training batches of documents and summaries."""

import json

import pytest
from tiny_bart import SIZES, make_bart
from tokenizers.processors import TemplateProcessing
from transformers import BlenderbotSmallTokenizer, MBartConfig, MBartForConditionalGeneration

from discsum.abstractive.family import IGNORED
from discsum.abstractive.scratch import make_tokenizer
from discsum.abstractive.sparse import sparsify
from discsum.abstractive.sparse.family import SparseFamily
from discsum.abstractive.training.encoding import encode
from discsum.document import Document, Span
from discsum.errors import InputError

TEXT = "The river rose in the night and the miller stopped his wheel."
LONG, SHORT = "The river rose and the wheel stopped.", "The river."


@pytest.fixture
def tokenizer():
    return make_tokenizer([TEXT] * 3, 300)


def batch_of(tokenizer, target, model=None):
    document = Document(TEXT, (Span(0, len(TEXT)),))
    family = SparseFamily(model or sparsify(make_bart()), tokenizer, "tiny")
    return encode(family, [document] * 2, [LONG, SHORT], 64, target).inputs


def labels(tokenizer, target):
    return [[label for label in row if label != IGNORED] for row in batch_of(tokenizer, target)["labels"].tolist()]


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_summary_that_fits_is_learned_to_its_end(tokenizer, side):
    tokenizer.padding_side = side
    assert labels(tokenizer, 64) == [tokenizer(text)["input_ids"] for text in (LONG, SHORT)]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("ends", [("</s>",), ("</s>", "<mask>")], ids=["one", "two"])
def test_a_cut_summary_does_not_teach_to_stop(tokenizer, side, ends):
    """Some tokenizers end a text with a language token too."""
    tokenizer.padding_side = side
    special = [(name, tokenizer.convert_tokens_to_ids(name)) for name in {"<s>", *ends}]
    processor = TemplateProcessing(single=" ".join(["<s> $A", *ends]), special_tokens=special)
    tokenizer.backend_tokenizer.post_processor = processor
    whole = tokenizer(LONG)["input_ids"]
    cut = len(whole) - 3
    assert labels(tokenizer, cut) == [whole[: cut - len(ends)], tokenizer(SHORT)["input_ids"]]


def test_a_cut_summary_begins_as_a_whole_one(tokenizer):
    """In mBART, the decoder's input begins with the language token that ends the summary."""
    special = [(name, tokenizer.convert_tokens_to_ids(name)) for name in ("</s>", "<mask>")]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="$A </s> <mask>", special_tokens=special)
    model = MBartForConditionalGeneration(MBartConfig(**SIZES, pad_token_id=1, bos_token_id=0, eos_token_id=2))
    language, whole = tokenizer.convert_tokens_to_ids("<mask>"), tokenizer(LONG)["input_ids"]
    cut = len(whole) - 3
    sparsify(model)
    for target in (cut, 64):
        assert batch_of(tokenizer, target, model)["decoder_input_ids"][:, 0].tolist() == [language] * 2
    assert batch_of(tokenizer, cut, model)["decoder_input_ids"][0].tolist() == [language, *whole[: cut - 2], 2]


def test_a_slow_tokenizer_is_refused(tmp_path):
    words = {word: place for place, word in enumerate(("__start__", "__end__", "__unk__", "__null__", "the"))}
    (tmp_path / "vocab.json").write_text(json.dumps(words))
    (tmp_path / "merges.txt").write_text("#version\nt h\n")
    slow = BlenderbotSmallTokenizer(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    with pytest.raises(InputError, match="got one from a slow tokenizer"):
        batch_of(slow, 8)
