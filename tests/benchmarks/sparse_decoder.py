"""Measure the decoder's time and memory: stock `generate`, dense attention with one cached copy, sparse attention.

    python tests/benchmarks/sparse_decoder.py [--tokens 1024 4096 16384] [--r 5 10 30] [--steps 16] [--small]

The model has bart-large's shape and random weights. There are 4 beams, one document in sentences of 25 tokens, and one
CPU thread. The encoder does not run: its output is random. All rows of a length are measured in turn in one process, so
that their ratios also hold on a busy machine. "ms a step" is the median time between two logits processor calls;
"generate s" is the time of `--steps` steps, including what is computed once per document.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from transformers import BartConfig, BartForConditionalGeneration, LogitsProcessor, LogitsProcessorList
from transformers.modeling_outputs import BaseModelOutput

from discsum.abstractive.coarse_to_fine.model import CACHE
from discsum.abstractive.sparse import SentenceLayout, densify, sparsify
from discsum.abstractive.sparse.cache import DocumentCache
from discsum.devices import wait_for

TOKENS_PER_SENTENCE = 25
BEAMS = 4


def make_model(small: bool) -> Any:
    """Return the model; it has a single encoder layer because the encoder never runs."""
    sizes = {"encoder_layers": 1} | ({"decoder_layers": 2} if small else {})
    torch.manual_seed(0)
    model = BartForConditionalGeneration(BartConfig(**sizes, forced_eos_token_id=None)).eval()
    model.generation_config.eos_token_id = None
    return model


def layout_of(tokens: int) -> SentenceLayout:
    """Return sentences of `TOKENS_PER_SENTENCE` tokens, the last one shorter."""
    return SentenceLayout.from_owner((torch.arange(tokens) // TOKENS_PER_SENTENCE)[None])


class Clock(LogitsProcessor):
    """Records the times at which it is called, without changing scores."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        wait_for(scores.device)
        self.times.append(time.perf_counter())
        return scores

    @property
    def step(self) -> float:
        """Median seconds between two calls."""
        return statistics.median(after - before for before, after in pairwise(self.times))


def run(
    model: Any, states: torch.Tensor, steps: int, layout: SentenceLayout | None
) -> tuple[float, float, list[int], int]:
    """Return the seconds of one `generate` and of a step, the tokens, and the bytes of the cross-attention cache."""
    options = {"layout": layout} if layout is not None else {}
    clock = Clock()
    started = time.perf_counter()
    found = model.generate(
        encoder_outputs=BaseModelOutput(last_hidden_state=states),
        attention_mask=torch.ones(states.shape[:2], dtype=torch.long, device=states.device),
        num_beams=BEAMS,
        max_new_tokens=steps,
        min_new_tokens=steps,
        return_dict_in_generate=True,
        logits_processor=LogitsProcessorList([clock]),
        **options,
    )
    took = time.perf_counter() - started
    cache = found[CACHE].cross_attention_cache
    if isinstance(cache, DocumentCache):
        kept = cache.bytes
    else:
        kept = sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)
    return took, clock.step, found.sequences[0].tolist(), kept


def main() -> None:
    """Print a row for each system and length."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--tokens", type=int, nargs="+", default=[1024, 4096, 16384])
    options.add_argument("--r", type=int, nargs="+", default=[5, 10, 30])
    options.add_argument("--steps", type=int, default=16)
    options.add_argument("--selector", default="mean_key")
    options.add_argument("--small", action="store_true", help="Two decoder layers instead of twelve.")
    arguments = options.parse_args()
    torch.set_num_threads(1)
    model = make_model(arguments.small)
    head = f"{'tokens':>7}  {'system':22}{'ms a step':>10}{'stock/':>8}{'dense/':>8}"
    head += f"{'generate s':>12}{'stock/':>8}{'dense/':>8}{'MiB':>8}"
    print(f"{head}  tokens as stock")
    for tokens in arguments.tokens:
        states = torch.randn(1, tokens, model.config.d_model)
        layout = layout_of(tokens)
        systems: list[tuple[str, Callable[[], Any], SentenceLayout | None]] = [
            ("stock", lambda: None, None),
            ("dense, kept once", lambda: sparsify(model, selector="all"), layout),
        ]
        systems += [
            (f"{arguments.selector}, r={r}", lambda r=r: sparsify(model, selector=arguments.selector, r=r), layout)
            for r in arguments.r
        ]
        rows: list[tuple[float, float]] = []
        expected: list[int] = []
        for name, prepare, own in systems:
            prepare()
            run(model, states, 2, own)
            whole, step, sequence, kept = run(model, states, arguments.steps, own)
            rows.append((step, whole))
            expected = expected or sequence
            # The first row is stock, and the second is dense attention.
            (step_ratios, whole_ratios) = (
                "".join(f"{row[part] / rows[-1][part]:8.2f}" for row in rows[:2]).ljust(16) for part in (0, 1)
            )
            print(
                f"{tokens:7}  {name:22}{1000 * step:10.1f}{step_ratios}{whole:12.2f}{whole_ratios}{kept / 2**20:8.1f}"
                f"  {'yes' if sequence == expected else 'no'}",
                flush=True,
            )
            if own is not None:
                densify(model)


if __name__ == "__main__":
    main()
