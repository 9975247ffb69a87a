"""Compressed models in use: borders, threads, checkpointing, sparse decoders, folders, and invalid input."""

import copy
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from seq2seq_families import make_model
from small_compressed import OTHERS, shuffle, used
from tiny_bart import generated, make_bart

from discsum.abstractive.compressed import compress, decompress, from_pretrained
from discsum.abstractive.compressed.config import VARIANTS
from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.abstractive.sparse import SentenceLayout, densify, sparsify
from discsum.abstractive.sparse import from_pretrained as sparse_from_pretrained
from discsum.abstractive.sparse.family import SparseFamily
from discsum.errors import InputError, InputWarning, WeightsError


@pytest.mark.parametrize("borders", ["sentences", "edus"])
def test_borders_of_a_call(borders, inputs):
    model = compress(make_bart(), "strided", borders=borders)
    one_unit = SentenceLayout.from_owner(inputs.owner.clamp(max=0))
    found = model(**inputs.forward, borders=one_unit).logits
    # Each block reads its whole unit, which here is the whole text.
    torch.testing.assert_close(found, make_bart()(**inputs.forward).logits, atol=1e-5, rtol=1e-4)
    assert generated(model, inputs, borders=one_unit) == generated(make_bart(), inputs)
    assert (model(**inputs.forward, borders=inputs.layout).logits - found).abs().max() > 1e-3
    with pytest.raises(InputError, match=f"expected the borders of the inputs' {borders}, .* got none"):
        model(**inputs.forward)
    with pytest.raises(InputError, match="expected borders for the encoder's inputs"):
        model(**inputs.forward, borders=SentenceLayout.from_owner(inputs.owner[:, :10]))
    with pytest.raises(InputError, match=r"expected a layout of \(2, 22\) tokens"):
        model.generate(**inputs.generate, borders=SentenceLayout.from_owner(inputs.owner[:, :10]))
    with pytest.raises(InputError, match="expected a SentenceLayout, got str"):
        model(**inputs.forward, borders="edus")
    with pytest.raises(InputError, match="borders: expected none for an encoder with blocks of a fixed size"):
        compress(make_bart(), "strided")(**inputs.forward, borders=inputs.layout)


def test_threads_on_one_model(inputs):
    model = compress(make_bart(), "strided", blocks=4, borders="sentences")
    layouts = [SentenceLayout.from_owner(torch.arange(22)[None] // size) for size in (1, 4, 9, 22)]

    def write(layout):
        options = {"max_new_tokens": 6, "output_logits": True, "return_dict_in_generate": True}
        return torch.stack(model.generate(inputs.ids[:1], borders=layout, **options).logits).tolist()

    expected = [write(layout) for layout in layouts]
    assert len({str(one) for one in expected}) > 1
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(write, layouts * 4)) == expected * 4


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("variant", VARIANTS)
def test_gradient_checkpointing(variant, reentrant, inputs):
    """The backward pass recomputes layers after the call has ended."""
    model = shuffle(compress(make_bart().double(), variant)).train()

    def gradients():
        model.zero_grad()
        model(**inputs.generate, labels=inputs.decoder).loss.backward()
        return {name: one.grad.clone() for name, one in model.named_parameters() if one.grad is not None}

    expected = gradients()
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": reentrant})
    found = gradients()
    assert set(found) == set(expected)
    for name, one in found.items():
        torch.testing.assert_close(one, expected[name])
    decompress(model)
    model(**inputs.generate, labels=inputs.decoder).loss.backward()


@pytest.mark.parametrize("first", ["compress", "sparsify"])
def test_a_model_may_be_sparse_as_well(first, inputs, tmp_path):
    stock = make_bart()
    steps = [
        lambda model: compress(model, "strided_conv", borders="sentences"),
        lambda model: sparsify(model, selector="gru", r=2, dense_where_faster=False),
    ]
    model = make_bart()
    torch.manual_seed(2)
    for step in steps if first == "compress" else reversed(steps):
        step(model)
    shuffle(model)
    both = {"layout": inputs.layout, "borders": inputs.layout}
    expected = generated(model, inputs, num_beams=3, **both)
    assert model.sparse.last.read == (2, 2)
    model.save_pretrained(tmp_path / "model")
    for read in (sparse_from_pretrained, from_pretrained):
        loaded = read(tmp_path / "model")
        assert loaded.compressed.config == model.compressed.config
        assert generated(loaded, inputs, num_beams=3, **both) == expected
    alone = decompress(copy.deepcopy(model))
    assert alone.sparse.last is None
    assert generated(alone, inputs, layout=inputs.layout, num_beams=3) != expected
    densify(alone)
    assert generated(alone, inputs, num_beams=3) == generated(stock, inputs, num_beams=3)
    densify(model)
    logits = model(**inputs.forward, borders=inputs.layout).logits
    decompress(model)
    assert list(model.state_dict()) == list(stock.state_dict())
    assert model(**inputs.forward).logits.equal(stock(**inputs.forward).logits)
    assert not model(**inputs.forward).logits.equal(logits)
    assert not {"forward", "generate", "save_pretrained"} & set(vars(model))


def test_a_sparse_decoder_is_trained_above_blocks_with_borders(inputs):
    source = [{"path": "a"}]
    recipe = AbstractiveRecipe.from_dict({"train": source, "validation": source})
    model = sparsify(compress(make_bart(), "strided", borders="edus"))
    batch, extra = inputs.forward | {"labels": inputs.decoder}, {"layout": inputs.layout, "borders": inputs.layout}
    found = SparseFamily(model, None, "both").loss(recipe, batch, extra, 1.0, torch.zeros(2))
    assert found["loss"].equal(model(**batch, **extra).loss)


@pytest.mark.parametrize("variant", VARIANTS)
def test_saved_and_loaded(variant, inputs, tmp_path):
    model = shuffle(compress(make_bart(), variant, **used(variant, blocks=4, kernel=2)))
    expected = model(**inputs.forward).logits
    model.save_pretrained(tmp_path / "model")
    assert not hasattr(model.config, "compressed_encoder")
    loaded = from_pretrained(tmp_path / "model", device=torch.device("cpu"))
    assert loaded.compressed.config == model.compressed.config
    assert loaded(**inputs.forward).logits.equal(expected)
    # A loaded model can be decompressed, and is then saved as a stock model.
    decompress(loaded).save_pretrained(tmp_path / "back")
    assert "compressed_encoder" not in (tmp_path / "back" / "config.json").read_text()
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other(**inputs.forward).logits.equal(expected)
        decompress(other)
    # Loaded with transformers alone, it is the stock model.
    stock = type(model).from_pretrained(tmp_path / "model")
    assert stock(**inputs.forward).logits.equal(decompress(model)(**inputs.forward).logits)


def test_loading_reports_nothing(tmp_path):
    """Run in a separate process, where transformers has its default logging."""
    model = sparsify(compress(make_bart(), "conv"), selector="gru", r=2)
    model.save_pretrained(tmp_path / "model")
    script = (
        "import sys\n"
        "from transformers.utils import logging\n"
        "logging.disable_progress_bar()\n"
        "from discsum.abstractive.compressed import from_pretrained\n"
        "from_pretrained(sys.argv[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "model")], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_folders_that_do_not_fit(tmp_path, inputs):
    make_bart().save_pretrained(tmp_path / "stock")
    with pytest.raises(
        WeightsError, match="expected a model saved with sparse cross-attention or a compressed encoder"
    ):
        from_pretrained(tmp_path / "stock")
    compress(make_bart(), "conv").save_pretrained(tmp_path / "conv")
    config = tmp_path / "conv" / "config.json"
    config.write_text(config.read_text().replace('"kernel": 3', '"kernel": 2'))
    with pytest.raises(WeightsError, match="expected the weights of the encoder's variant conv, got others"):
        from_pretrained(tmp_path / "conv")


@pytest.mark.parametrize("training", [True, False])
def test_modules_keep_their_modes(training):
    """Parts of a model may be in evaluation mode while the rest is in training mode."""
    model = make_bart().train(training)
    model.get_encoder().train(not training)
    before = {name: one.training for name, one in model.named_modules()}
    sparsify(compress(model, "conv"), selector="gru", r=2)
    after = {name: one.training for name, one in model.named_modules()}
    assert after.items() >= before.items()
    added = {name: mode for name, mode in after.items() if name not in before}
    assert {mode for name, mode in added.items() if ".compression" in name} == {not training}
    assert {mode for name, mode in added.items() if ".compression" not in name} == {training}


@pytest.mark.parametrize("family", OTHERS)
def test_other_encoders_are_refused(family):
    with pytest.raises(InputError, match=r"expected a sequence-to-sequence model .* whose encoder has plain attention"):
        compress(make_model(family), "strided")


def test_what_cannot_be_compressed(inputs):
    for settings, said in {
        ("window",): "variant: expected one of conv, conv_pool, strided, strided_conv, got 'window'",
        ("strided", 1): "blocks: expected a whole number of at least 2, got 1",
        ("conv", 3, 0): "kernel: expected a whole number of at least 1, got 0",
        ("conv", 3, 3, 5): "groups: expected a divisor of the model's width 32, got 5",
        ("strided", 3, 3, 1, "words"): "borders: expected one of sentences, edus, got 'words'",
        ("conv", 3, 3, 1, "edus"): "borders: expected none for the variant conv, which has no blocks",
    }.items():
        names = ("variant", "blocks", "kernel", "groups", "borders")
        with pytest.raises(InputError, match=said):
            compress(make_bart(), **dict(zip(names, settings, strict=False)))
    with pytest.raises(InputError, match="expected a sequence-to-sequence model"):
        compress(torch.nn.Linear(1, 1), "conv")
    model = compress(make_bart(), "strided")
    with pytest.raises(InputError, match="got a compressed one; decompress it first"):
        compress(model, "conv")
    with pytest.raises(InputError, match="expected a model with a compressed encoder"):
        decompress(make_bart())
    with pytest.raises(InputError, match="expected the self-attention of a compressed encoder to be called within it"):
        model.get_encoder().layers[0].self_attn(torch.zeros(1, 4, 32))
    with pytest.warns(InputWarning, match="attention weights of a compressed encoder are left out"):
        model(**inputs.forward, output_attentions=True)
