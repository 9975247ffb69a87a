"""The encoder's time and memory: stock attention against each variant of a compressed one.

    python tests/benchmarks/compressed_encoder.py [--tokens 512 1024 ...] [--blocks 4] [--layer-up-to 8192] [--whole]

The shape is bart-large's encoder with random weights, one document, one CPU thread. All rows of a length are measured
in turn and in one process, by its own seconds of the processor, so that their ratios hold on a busy machine too: each
is the fastest of as many runs as fit into `--seconds`, at least two of those that are not long. Columns:

- attention: everything but projections, which are left out on both sides; convolutions are projections too, and take
  every third state here;
- projected: one self-attention with its projections and convolutions;
- layer: one whole layer of the encoder, of which bart-large has twelve;
- MiB: what one attention without projections takes above its inputs, by SDPA's fused kernel, and by its plain
  one, which keeps all products.

With `--whole` the only column is the whole encoder, twelve layers and embeddings, as `compress` converts it.
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
# The plain kernel keeps 64 bytes a pair of tokens for 16 heads, several times.
PLAIN_UP_TO = 4096


class EveryThird(nn.Module):
    """Takes the place of convolutions where projections are left out."""

    def forward(self, states: Tensor, inside: None) -> tuple[Tensor, Tensor, None]:
        return states[:, ::KERNEL], states[:, ::KERNEL], None


def make_layer(config: CompressionConfig | None, settings: CompressionSettings | None, *, projected: bool) -> Any:
    """Return an encoder layer of bart-large's shape, compressed if there is a configuration."""
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
    """Return the fastest of at least two runs, or of one if it takes many times the limit."""
    found: list[float] = []
    while not found or sum(found) < limit or (len(found) == 1 and found[0] < 10 * limit):
        started = time.process_time()
        run()
        found.append(time.process_time() - started)
    return min(found)


def measure(
    config: CompressionConfig | None, states: Tensor, limit: float, *, layers: bool
) -> tuple[list[float], list[float]]:
    """Return the seconds of attention, and with `layers` of its projections and its layer; and the MiB of attention."""
    settings = CompressionSettings(config) if config is not None else None
    bare = make_layer(config, settings, projected=False).self_attn
    layer = make_layer(config, settings, projected=True)

    def within(run: Callable[..., Any]) -> Callable[[], Any]:
        if config is None or settings is None:
            return lambda: run(states, attention_mask=None)

        def call() -> Any:
            # Each pass makes its tables anew, as the encoder does.
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
    """Return the seconds of a pass of the whole encoder."""
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
    """Print a row a system and length."""
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
