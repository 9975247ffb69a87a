"""Measure time and memory of the encoder with stock attention and with each variant of compressed attention.

    python tests/benchmarks/compressed_encoder.py [--tokens 512 1024 ...] [--blocks 4] [--layer-up-to 8192] [--whole]

The encoder has bart-large's shape and random weights. There is one document and one CPU thread. All rows of a length
are measured in turn in one process, in CPU seconds, so that their ratios also hold on a busy machine. Each figure is
the fastest of as many runs as fit into `--seconds`: at least two, or one if it takes much longer. Columns:

- attention: everything but projections, which are left out of stock attention too; convolutions count as projections,
  and are replaced by taking every third state;
- projected: one self-attention with its projections and convolutions;
- layer: one whole layer of the encoder, of which bart-large has twelve;
- MiB: memory of one attention without projections, on top of its inputs, with SDPA's fused kernel and with its plain
  one, which stores all products.

With `--whole`, the only column is the whole encoder as `compress` converts it: twelve layers and embeddings.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import BartConfig, BartForConditionalGeneration
from transformers.models.bart.modeling_bart import BartEncoder

from discsum.abstractive.analysis.peak_memory import peak_memory
from discsum.abstractive.compressed.attention import CompressedSelfAttention
from discsum.abstractive.compressed.blocks import BlockTables
from discsum.abstractive.compressed.calls import Call, CompressionSettings
from discsum.abstractive.compressed.config import CompressionConfig
from discsum.abstractive.compressed.conversion import compress
from discsum.abstractive.compressed.convolution import KeyValueConvolution
from discsum.abstractive.projections import BART, Projections

KERNEL = 3
# The plain kernel stores 64 bytes per pair of tokens (16 heads) several times.
PLAIN_UP_TO = 4096


class EveryThird(nn.Module):
    """Replaces convolutions if projections are left out."""

    def forward(self, states: Tensor, inside: None) -> tuple[Tensor, Tensor, None]:
        return states[:, ::KERNEL], states[:, ::KERNEL], None


def make_layer(config: CompressionConfig | None, settings: CompressionSettings | None, *, projected: bool) -> Any:
    """Return an encoder layer of bart-large's shape, compressed if `config` is given."""
    torch.manual_seed(0)
    bart = BartConfig(encoder_layers=1, vocab_size=8, max_position_embeddings=8)
    bart._attn_implementation = "sdpa"
    layer = BartEncoder(bart).layers[0].eval()
    module = layer.self_attn
    if not projected:
        module.q_proj, module.k_proj, module.v_proj, module.out_proj = (nn.Identity() for _ in range(4))
    if config is not None and settings is not None:
        if config.convolves:
            module.compression = KeyValueConvolution(bart.d_model, config) if projected else EveryThird()
        module.forward = CompressedSelfAttention(Projections(module, BART), settings)
    return layer


def seconds(run: Callable[[], Any], limit: float) -> float:
    """Return the time of the fastest of at least two runs, or of one if it takes ten times the limit."""
    found: list[float] = []
    while not found or sum(found) < limit or (len(found) == 1 and found[0] < 10 * limit):
        started = time.process_time()
        run()
        found.append(time.process_time() - started)
    return min(found)


def measure(
    config: CompressionConfig | None, states: Tensor, limit: float, *, layers: bool
) -> tuple[list[float], list[float]]:
    """Return the seconds and MiB of attention; with `layers`, also the seconds with projections and of the layer."""
    settings = CompressionSettings(config) if config is not None else None
    bare = make_layer(config, settings, projected=False).self_attn
    layer = make_layer(config, settings, projected=True)

    def within(run: Callable[..., Any]) -> Callable[[], Any]:
        if config is None or settings is None:
            return lambda: run(states, attention_mask=None)

        def call() -> Any:
            # Build the tables in each pass, as the encoder does.
            mask = torch.ones(states.shape[:2], dtype=torch.bool)
            tables = BlockTables.of(mask, config.blocks if config.strides else 1)
            with settings.within(Call(tables=tables)):
                return run(states, attention_mask=None)

        return call

    with torch.inference_mode():
        times = [seconds(within(run), limit) for run in ((bare, layer.self_attn, layer) if layers else (bare,))]
        memory = [peak_memory(within(bare), states.device) or 0.0]
        if states.shape[1] <= PLAIN_UP_TO:
            with sdpa_kernel(SDPBackend.MATH):
                memory.append(peak_memory(within(bare), states.device) or 0.0)
    return times, memory


def measure_whole(config: CompressionConfig | None, tokens: int, limit: float) -> float:
    """Return the seconds of one pass through the whole encoder."""
    torch.manual_seed(0)
    bart = BartConfig(decoder_layers=1, vocab_size=1000, max_position_embeddings=tokens)
    bart._attn_implementation = "sdpa"
    model: Any = BartForConditionalGeneration(bart).eval()
    if config is not None:
        settings = config.to_dict()
        compress(model, settings.pop("variant"), **settings)
    ids = torch.randint(4, 1000, (1, tokens))
    with torch.inference_mode():
        return seconds(lambda: model.get_encoder()(ids, attention_mask=torch.ones_like(ids)), limit)


def main() -> None:
    """Print a row for each system and length."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--tokens", type=int, nargs="+", default=[512, 1024, 2048, 4096, 8192, 16384])
    options.add_argument("--blocks", type=int, nargs="+", default=[3, 4])
    options.add_argument("--layer-up-to", type=int, default=8192)
    options.add_argument("--seconds", type=float, default=1.0)
    options.add_argument("--whole", action="store_true")
    arguments = options.parse_args()
    torch.set_num_threads(1)
    most = max(arguments.blocks)
    systems: list[tuple[str, CompressionConfig | None]] = [("stock", None)]
    systems += [(variant, CompressionConfig(variant)) for variant in ("conv", "conv_pool")]
    systems += [(f"strided c={blocks}", CompressionConfig("strided", blocks)) for blocks in arguments.blocks]
    systems += [(f"strided_conv c={most}", CompressionConfig("strided_conv", most))]
    columns = ("encoder",) if arguments.whole else ("attention", "projected", "layer")
    head = "".join(f"{name:>11}{'stock/':>8}" for name in columns)
    print(f"{'tokens':>7}  {'system':18}{head}" + ("" if arguments.whole else f"{'fused MiB':>11}{'plain MiB':>11}"))
    for tokens in arguments.tokens:
        states = torch.randn(1, tokens, 1024)
        stock: list[float] = []
        for name, config in systems:
            if arguments.whole:
                times, memory = [measure_whole(config, tokens, arguments.seconds)], []
            else:
                times, memory = measure(config, states, arguments.seconds, layers=tokens <= arguments.layer_up_to)
            stock = stock or times
            cells = "".join(f"{1000 * one:9.1f}ms{base / one:8.2f}" for one, base in zip(times, stock, strict=True))
            print(f"{tokens:7}  {name:18}{cells:57}{''.join(f'{one:11.1f}' for one in memory)}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
