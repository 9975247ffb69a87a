"""Compressed encoders against stock attention and against definitions written independently."""

import copy

import pytest
import torch
from seq2seq_families import FAMILIES, make_model
from small_compressed import OTHERS, ids_of, shuffle, states, used
from tiny_bart import generated, make_bart

from discsum.abstractive.compressed import compress, decompress
from discsum.abstractive.compressed.calls import Call
from discsum.abstractive.compressed.config import VARIANTS
from discsum.abstractive.sparse import SentenceLayout

PLAIN = [name for name in FAMILIES if name not in OTHERS]


def in_place_of_attention(model, attend):
    """Replace the encoder's attention by `attend(module, states)`, with states `(tokens, width)` of one document."""
    for layer in model.get_encoder().layers:
        module = layer.self_attn
        module.forward = lambda hidden, module=module, **_: (attend(module, hidden[0])[None], None)
    return model


def multi_head(module, queries, keys, values):
    """Compute attention head by head."""
    size, mixed = module.head_dim, []
    q, k, v = module.q_proj(queries), module.k_proj(keys), module.v_proj(values)
    for head in range(module.num_heads):
        part = slice(head * size, (head + 1) * size)
        mixed.append(torch.softmax(q[:, part] @ k[:, part].T / size**0.5, -1) @ v[:, part])
    return module.out_proj(torch.cat(mixed, -1))


@pytest.mark.parametrize("blocks", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("tokens", [1, 2, 5, 7, 12, 23, 30])
def test_strided_is_attention_under_the_block_mask(blocks, tokens):
    ids = ids_of(tokens)
    found = states(compress(make_bart(), "strided", blocks=blocks), input_ids=ids)
    length = -(-tokens // (blocks - 1))
    block = torch.tensor([max(i for i in range(blocks) if i * tokens // blocks <= t) for t in range(tokens)])
    start = block * (tokens - length) // (blocks - 1)
    key = torch.arange(tokens)
    reads = (key >= start[:, None]) & (key < start[:, None] + length)
    model = make_bart()
    model.set_attn_implementation("eager")
    for layer in model.get_encoder().layers:
        stock = layer.self_attn.forward
        bias = torch.where(reads, 0.0, -torch.inf)[None, None]
        layer.self_attn.forward = lambda hidden, attention_mask, stock=stock, bias=bias, **given: stock(
            hidden, attention_mask=bias, **given
        )
    torch.testing.assert_close(found, states(model, input_ids=ids), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("tokens", [12, 24, 36])
def test_three_blocks_are_the_papers_pseudocode(tokens):
    def split(sequence):
        n = len(sequence)
        return sequence[: 2 * n // 4], sequence[n // 4 : 3 * n // 4], sequence[2 * n // 4 :]

    def attend(module, hidden):
        blocks = [multi_head(module, one, one, one) for one in split(hidden)]
        return torch.cat([one[i * tokens // 12 : (i + 4) * tokens // 12] for i, one in enumerate(blocks)])

    expected = states(in_place_of_attention(make_bart(), attend), input_ids=ids_of(tokens))
    found = states(compress(make_bart(), "strided", blocks=3), input_ids=ids_of(tokens))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def convolved(convolution, hidden, pool):
    """Compute a convolution by its definition, window by window."""
    kernel, tokens, outputs = convolution.kernel_size[0], len(hidden), []
    step, before = (1, (kernel - 1) // 2) if pool else (kernel, 0)
    for first in range(0, tokens, step):
        total = convolution.bias.clone()
        for tap in range(kernel):
            place = first - before + tap
            if 0 <= place < tokens:
                total = total + convolution.weight[:, :, tap] @ hidden[place]
        outputs.append(total)
    if pool:
        outputs = [torch.stack(outputs[first : first + kernel]).amax(0) for first in range(0, tokens, kernel)]
    return torch.stack(outputs)


@pytest.mark.parametrize("variant", ["conv", "conv_pool"])
@pytest.mark.parametrize("kernel", [1, 2, 3, 5])
@pytest.mark.parametrize("tokens", [1, 2, 6, 7])
def test_convolutions_are_equation_3(variant, kernel, tokens):
    model = shuffle(compress(make_bart(), variant, kernel=kernel))
    found = states(model, input_ids=ids_of(tokens))

    def attend(module, hidden):
        own, pool = module.compression, variant == "conv_pool"
        return multi_head(module, hidden, convolved(own.key, hidden, pool), convolved(own.value, hidden, pool))

    expected = copy.deepcopy(model)
    for layer, other in zip(expected.get_encoder().layers, model.get_encoder().layers, strict=True):
        layer.self_attn.compression = other.self_attn.compression
    del expected.get_encoder().forward
    in_place_of_attention(expected, attend)
    torch.testing.assert_close(found, states(expected, input_ids=ids_of(tokens)), atol=1e-5, rtol=1e-4)


def test_blocks_are_convolved_each_by_itself():
    model = shuffle(compress(make_bart(), "strided_conv", blocks=3, kernel=2))
    found = states(model, input_ids=ids_of(12))

    def attend(module, hidden):
        outputs = []
        for place in range(3):
            block = hidden[3 * place : 3 * place + 6]
            keys, values = (convolved(one, block, False) for one in (module.compression.key, module.compression.value))
            outputs.append(multi_head(module, block, keys, values)[place : place + 4])
        return torch.cat(outputs)

    del model.get_encoder().forward
    in_place_of_attention(model, attend)
    torch.testing.assert_close(found, states(model, input_ids=ids_of(12)), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    "settings", [("conv", {"kernel": 1}), ("conv_pool", {"kernel": 1}), ("strided", {"blocks": 2})]
)
@pytest.mark.parametrize("family", PLAIN)
def test_what_leaves_nothing_out_is_the_stock_model(family, settings, inputs):
    variant, options = settings
    model = make_model(family)
    logits, tokens = model(**inputs.forward).logits, generated(model, inputs, num_beams=3)
    compress(model, variant, **options)
    torch.testing.assert_close(model(**inputs.forward).logits, logits, atol=1e-4, rtol=1e-4)
    assert generated(model, inputs, num_beams=3) == tokens
    decompress(model)
    assert model(**inputs.forward).logits.equal(logits)


@pytest.mark.parametrize("groups", [2, 32])
def test_groups_of_channels(groups):
    """A grouped convolution equals a full one whose weights between groups are 0."""
    model = shuffle(compress(make_bart(), "conv", groups=groups))
    whole = compress(make_bart(), "conv")
    size = 32 // groups
    with torch.no_grad():
        for layer, other in zip(whole.get_encoder().layers, model.get_encoder().layers, strict=True):
            for name in ("key", "value"):
                wide, narrow = (getattr(one.self_attn.compression, name) for one in (layer, other))
                wide.weight.zero_()
                wide.bias.copy_(narrow.bias)
                for group in range(groups):
                    part = slice(group * size, (group + 1) * size)
                    wide.weight[part, part] = narrow.weight[part]
    ids = ids_of(10)
    torch.testing.assert_close(states(model, input_ids=ids), states(whole, input_ids=ids), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("borders", [None, "sentences"])
def test_a_document_alone_and_in_a_padded_batch(variant, left, borders):
    if borders and not variant.startswith("strided"):
        return
    model = shuffle(compress(make_bart(), variant, blocks=3, borders=borders))
    lengths, width = (19, 8, 1, 2, 0), 19
    mask, owner = torch.zeros(5, width, dtype=torch.long), torch.full((5, width), -1)
    for row, length in enumerate(lengths):
        place = slice(width - length, width) if left else slice(0, length)
        mask[row, place], owner[row, place] = 1, torch.arange(length) // 4
    encoder, ids = model.get_encoder(), ids_of(width, 5)

    def encode(rows, place):
        embeds = encoder.embed_tokens(ids[rows, place])
        # Cancel the positions that the encoder adds: they depend on padding.
        embeds = embeds - encoder.embed_positions(ids[rows, place])
        own = owner[rows, place]
        layout = SentenceLayout(own, tuple(tuple(range(int(row.max()) + 1)) for row in own)) if borders else None
        with model.compressed.within(Call(layout)):
            return states(model, inputs_embeds=embeds, attention_mask=mask[rows, place])

    together = encode(slice(None), slice(None))
    assert together.isfinite().all()
    for row, length in enumerate(lengths[:-1]):
        place = slice(width - length, width) if left else slice(0, length)
        alone = encode(slice(row, row + 1), place)
        torch.testing.assert_close(together[row, place], alone[0], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision(variant, dtype, inputs):
    # With attention as peaked as in the other tests, the result would depend on rounding.
    model = compress(make_bart(init_std=0.1), variant)
    expected = model(**inputs.forward).logits
    found = model.to(dtype)(**inputs.forward).logits
    assert found.dtype == dtype
    assert found.isfinite().all()
    torch.testing.assert_close(found.float(), expected, atol=0.06 * expected.abs().max().item(), rtol=0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_gradient_is_nan(variant, inputs):
    """One of the documents is all padding."""
    model = shuffle(compress(make_bart(dropout=0.1, attention_dropout=0.1), variant, **used(variant, blocks=4))).train()
    inputs.mask[1] = 0
    model.get_encoder()(inputs.ids, attention_mask=inputs.mask).last_hidden_state[0].pow(2).sum().backward()
    gradients = {name: one.grad for name, one in model.get_encoder().named_parameters() if one.grad is not None}
    assert all(one.isfinite().all() for one in gradients.values())
    added = [name for name in gradients if ".compression." in name]
    assert len(added) == (0 if variant == "strided" else 2 * 2 * 2)
    assert all(gradients[name].abs().sum() > 0 for name in added if not name.endswith("key.bias"))
