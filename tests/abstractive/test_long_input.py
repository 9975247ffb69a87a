"""A BART that reads longer texts within a window, against a BART with a mask."""

import pytest
import tiny
import torch
from seq2seq_families import make_model
from transformers import LEDForConditionalGeneration

import discsum
from discsum.abstractive import scratch
from discsum.abstractive.compressed import compress
from discsum.abstractive.long_input import lengthened
from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.abstractive.sparse import sparsify
from discsum.abstractive.sparse.family import SparseFamily
from discsum.abstractive.sparse.selectors import ALL
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.errors import InputError

POSITIONS, WINDOW = 128, 16
SOURCES = {"train": [{"path": "train.jsonl"}], "validation": [{"path": "validation.jsonl"}]}


@pytest.fixture
def bart():
    model = make_model("bart")
    with torch.no_grad():
        for parameter in model.parameters():
            # Biases and norms are 0 and 1 in a new model.
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def ids_of(bart, tokens, texts=2):
    return torch.randint(5, bart.config.vocab_size, (texts, tokens))


def test_short_texts_are_encoded_as_before(bart):
    long = lengthened(bart, POSITIONS, WINDOW)
    ids = ids_of(bart, WINDOW // 2 + 1)
    with torch.no_grad():
        expected, found = (model(input_ids=ids, decoder_input_ids=ids).logits for model in (bart, long))
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
    assert long.generate(ids, num_beams=2, max_new_tokens=8).tolist() == (
        bart.generate(ids, num_beams=2, max_new_tokens=8).tolist()
    )


def test_each_token_attends_within_the_window_at_repeated_positions(bart):
    size = bart.config.max_position_embeddings
    ids, place = ids_of(bart, 2 * size), torch.arange(2 * size)
    long, banded = lengthened(bart, 4 * size, WINDOW), make_model("bart", max_position_embeddings=2 * size)
    weights = bart.state_dict()
    for side in ("encoder", "decoder"):
        table = weights[f"model.{side}.embed_positions.weight"]
        weights[f"model.{side}.embed_positions.weight"] = torch.cat([table, table[2:]])
    banded.load_state_dict(weights)
    near = (place[:, None] - place).abs() <= WINDOW // 2
    mask = torch.zeros(near.shape).masked_fill(~near, float("-inf"))[None, None].expand(2, 1, -1, -1)
    with torch.no_grad():
        expected = banded.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state
        found = long.get_encoder()(input_ids=ids).last_hidden_state
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_the_model_is_a_copy_of_the_same_type(bart):
    before = {name: value.clone() for name, value in bart.state_dict().items()}
    long = lengthened(bart.to(torch.bfloat16).train(), POSITIONS, WINDOW)
    assert (type(long), long.dtype, long.training) == (LEDForConditionalGeneration, torch.bfloat16, True)
    with torch.no_grad():
        for parameter in long.parameters():
            parameter.zero_()
    assert all(torch.equal(value, before[name].bfloat16()) for name, value in bart.state_dict().items())
    long.generation_config.num_beams = 7
    assert bart.generation_config.num_beams != 7
    # Word embeddings are shared by encoder, decoder and the output.
    assert long.lm_head.weight is long.get_encoder().embed_tokens.weight is long.get_decoder().embed_tokens.weight


@pytest.mark.parametrize(
    ("positions", "window", "told"),
    [
        (128, 15, "window: expected an even number of tokens, got 15"),
        (128, 0, "window: expected an even number of tokens, got 0"),
        (72, 16, "positions: expected a multiple of the window 16, got 72"),
        (32, 16, "positions: expected at least the 64 of the model, got 32"),
    ],
)
def test_sizes_that_do_not_fit(bart, positions, window, told):
    with pytest.raises(InputError, match=told):
        lengthened(bart, positions, window)


@pytest.mark.parametrize("family", ["mbart", "led", "t5"])
def test_other_models_are_refused(family):
    with pytest.raises(InputError, match="expected a plain BART without scaled embeddings to lengthen, got "):
        lengthened(make_model(family), POSITIONS, WINDOW)


def test_converted_models_and_one_with_scaled_embeddings_are_refused(bart):
    converted = sparsify(bart, r=2), compress(make_model("bart"), "strided"), compress(make_model("bart"), "conv")
    for model in (*converted, make_model("bart", scale_embedding=True)):
        with pytest.raises(InputError, match="expected a plain BART without scaled embeddings"):
            lengthened(model, POSITIONS, WINDOW)


@pytest.mark.parametrize("saved", ["plain", "sparse"])
def test_a_recipe_lengthens_its_model_before_training(tmp_path, saved):
    sizes = scratch.Scratch(vocabulary=300, width=16, layers=1, heads=2, inner=16, positions=32)
    tokenizer = scratch.make_tokenizer([tiny.ARTICLE], sizes.vocabulary)
    model = scratch.make_model(sizes, tokenizer)
    SparseFamily(model if saved == "plain" else sparsify(model, selector=ALL), tokenizer, "short").save(
        tmp_path / "short"
    )
    fields = {"model": str(tmp_path / "short"), "positions": 512, "window": 64, "source_tokens": 512}
    recipe = AbstractiveRecipe.from_dict(SOURCES | fields)
    family = SparseFamily.for_training(recipe, "cpu", list, print)
    assert (family.positions, family.target_positions, family.tokenizer.model_max_length) == (512, 32, 512)
    family.save(tmp_path / "long")
    summarizer = AbstractiveSummarizer.from_pretrained(str(tmp_path / "long"), selector="mean_key", r=1)
    document = discsum.parse(tiny.ARTICLE)
    assert summarizer.lengths([document])[0] > 32
    assert isinstance(summarizer.summarize(document, max_new_tokens=5).text, str)


@pytest.mark.parametrize(("selector", "beta"), [("gru", None), ("mean_key", 0.5)])
def test_a_trained_selector_is_not_lost(tmp_path, selector, beta):
    sizes = scratch.Scratch(vocabulary=300, width=16, layers=1, heads=2, inner=16, positions=32)
    tokenizer = scratch.make_tokenizer([tiny.ARTICLE], sizes.vocabulary)
    model = sparsify(scratch.make_model(sizes, tokenizer), selector=selector, r=2, beta=beta)
    SparseFamily(model, tokenizer, "kl").save(tmp_path / "kl")
    with pytest.raises(
        InputError, match=rf"expected a model whose selector is not trained yet, .*got one with a trained {selector}"
    ):
        SparseFamily.load(str(tmp_path / "kl"), long_input=(64, 16))


def test_fields_that_do_not_go_together():
    with pytest.raises(InputError, match=r"positions: expected none without a model; set scratch\.positions"):
        AbstractiveRecipe.from_dict(SOURCES | {"positions": 4096})
    with pytest.raises(InputError, match="positions: expected a multiple of the window 1000, got 4096"):
        AbstractiveRecipe.from_dict(SOURCES | {"model": "x", "positions": 4096, "window": 1000})
    with pytest.raises(InputError, match="source_tokens: expected at most positions 2048, got 4096"):
        AbstractiveRecipe.from_dict(SOURCES | {"model": "x", "positions": 2048, "source_tokens": 4096})
    recipe = AbstractiveRecipe.from_dict(SOURCES | {"model": "x", "window": 512})
    assert recipe.without_effect() == ["window: 512 has no effect without positions"]
