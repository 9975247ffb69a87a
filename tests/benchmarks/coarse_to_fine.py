"""The time of a summary against the words of the text: chosen chunks read lazily, all chunks, or one sequence.

    python tests/benchmarks/coarse_to_fine.py [--words 400 1600 6400 25600] [--chosen 4 30] [--steps 30] [--small]

The paper's sizes (two layers of 500, chunks of 40 words) with random weights, one document, one CPU thread. "reads" is
the encoder and the attention of `--steps` steps for random states of the decoder, of which so many as `--chosen` are
different: few, as in a trained model, whose attention stays with some chunks, up to another one at each step.
"encoded" counts the chunks that were encoded, with the last one, with which the decoder begins. "generate" is greedy
search of as many tokens, which the model's own choices decide. Every system of a length is measured in turn and in one
process, medians of `--repeats`. Ratios are those of `hier` with the same coarse encoder, and of `standard`.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from discsum.abstractive.coarse_to_fine import CoarseToFineConfig, CoarseToFineForConditionalGeneration

CHUNK = 40
VOCABULARY = 50_000
SMALL = {"embedding_size": 60, "hidden_size": 100, "filters": 120}


def make_model(variant: str, coarse: str, words: int, sizes: dict[str, int]) -> CoarseToFineForConditionalGeneration:
    """Return a model with random weights that reads so many words and never ends by itself."""
    torch.manual_seed(0)
    chunks = f"{-(-words // CHUNK)}x{CHUNK}"
    config = CoarseToFineConfig(vocab_size=VOCABULARY, variant=variant, coarse=coarse, chunks=chunks, **sizes)
    model = CoarseToFineForConditionalGeneration(config).eval()
    model.generation_config.eos_token_id = None
    return model


def reads(model: CoarseToFineForConditionalGeneration, ids: Tensor, queries: Tensor) -> int:
    """Encode a text and attend to it from states `(steps, hidden)` of the decoder; return the chunks encoded."""
    encoded = model.encoder(ids)
    for query in queries:
        soft = model.config.variant != "c2f"
        model.decoder.attention(query[None], encoded.last_hidden_state, encoded.memory, soft=soft)
    return int(encoded.memory.encoded)


def median_time(work: Callable[[], object], repeats: int) -> float:
    """Return the median seconds of some calls."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def measured(
    model: CoarseToFineForConditionalGeneration, ids: Tensor, chosen: int, steps: int, repeats: int
) -> tuple[float, float, int]:
    """Return the seconds of reading and of `generate`, and the chunks that reading encoded."""
    pool = torch.randn(min(chosen, steps), model.config.hidden_size, generator=torch.Generator().manual_seed(2))
    queries = pool[torch.arange(steps) % len(pool)]
    # Whatever is made at the first call.
    reads(model, ids[:, :CHUNK], queries[:1])
    read = median_time(lambda: reads(model, ids, queries), repeats)
    limits = {"max_new_tokens": steps, "min_new_tokens": steps, "num_beams": 1}
    return read, median_time(lambda: model.generate(input_ids=ids, **limits), repeats), reads(model, ids, queries)


def ratios(place: int, row: tuple[float, ...], others: Sequence[tuple[float, ...] | None]) -> str:
    """Return how many times as long others took; empty for one that was not measured."""
    return "".join(f"{other[place] / row[place]:10.1f}" if other else f"{'':10}" for other in others)


@torch.inference_mode()
def main() -> None:
    """Print a row a system and length."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--words", type=int, nargs="+", default=[400, 1600, 6400, 25600])
    options.add_argument("--chosen", type=int, nargs="+", default=[4, 30])
    options.add_argument("--steps", type=int, default=30)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--small", action="store_true", help="A fifth of the paper's sizes.")
    arguments = options.parse_args()
    torch.set_num_threads(1)
    head = "".join(f"{name:>10}" for name in ("hier/", "standard/"))
    print(f"{'words':>7}  {'system':14}{'encoded':>8}{'reads s':>10}{head}{'generate s':>12}{head}")
    for words in arguments.words:
        ids = torch.randint(4, VOCABULARY, (1, words), generator=torch.Generator().manual_seed(1))
        rows: dict[tuple[str, str], tuple[float, float, int]] = {}
        systems = [("standard", "conv", 1)]
        for coarse in ("bow", "conv"):
            systems += [("hier", coarse, 1), *(("c2f", coarse, chosen) for chosen in arguments.chosen)]
        for variant, coarse, chosen in systems:
            model = make_model(variant, coarse, words, SMALL if arguments.small else {})
            row = rows[variant, coarse] = measured(model, ids, chosen, arguments.steps, arguments.repeats)
            others = [rows.get(("hier", coarse)), rows["standard", "conv"]]
            name = variant if variant == "standard" else f"{variant} {coarse}"
            shown = f"{row[0]:10.3f}{ratios(0, row, others)}{row[1]:12.3f}{ratios(1, row, others)}"
            print(f"{words:7}  {name:14}{row[2]:8}{shown}", flush=True)


if __name__ == "__main__":
    main()
