"""Measure the time of a summary by length of the text, for models that read chosen chunks, all chunks or all words.

    python tests/benchmarks/coarse_to_fine.py [--words 400 1600 6400 25600] [--chosen 4 30] [--steps 30] [--small]

Models have the paper's sizes (two layers of 500, chunks of 40 words) and random weights. There is one document and one
CPU thread. "reads" times the encoder and the attention of `--steps` steps for random decoder states, `--chosen` of
which are different. Few different states resemble a trained model, whose attention stays on some chunks; with as many
as steps, each step may choose another chunk. "encoded" counts the encoded chunks, including the last one, which
initialises the decoder. "generate" times greedy search of `--steps` tokens, in which the model itself chooses the
chunks. The systems of a length are run in turn in one process, `--repeats` times, so that their ratios also hold on a
busy machine; figures are medians. Ratios are relative to `hier` with the same coarse encoder, and to `standard`.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from discsum.abstractive.coarse_to_fine import CoarseToFineConfig, CoarseToFineForConditionalGeneration

CHUNK = 40
VOCABULARY = 50_000
SMALL = {"embedding_size": 60, "hidden_size": 100, "filters": 120}


def make_model(variant: str, coarse: str, words: int, sizes: dict[str, int]) -> CoarseToFineForConditionalGeneration:
    """Return a model with random weights that reads `words` words and never generates the end token."""
    torch.manual_seed(0)
    chunks = f"{-(-words // CHUNK)}x{CHUNK}"
    config = CoarseToFineConfig(vocab_size=VOCABULARY, variant=variant, coarse=coarse, chunks=chunks, **sizes)
    model = CoarseToFineForConditionalGeneration(config).eval()
    model.generation_config.eos_token_id = None
    return model


def reads(model: CoarseToFineForConditionalGeneration, ids: Tensor, queries: Tensor) -> int:
    """Encode a text and attend to it from decoder states `(steps, hidden)`; return the number of encoded chunks."""
    encoded = model.encoder(ids)
    for query in queries:
        soft = model.config.variant != "c2f"
        model.decoder.attention(query[None], encoded.last_hidden_state, encoded.memory, soft=soft)
    return int(encoded.memory.encoded)


@dataclass(frozen=True)
class System:
    """A model with its measured times.

    Attributes:
        queries: `(steps, hidden)` decoder states.
        times: Seconds of each run of reading, and of each run of `generate`.
    """

    variant: str
    coarse: str
    model: CoarseToFineForConditionalGeneration
    queries: Tensor
    times: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))

    def run(self, ids: Tensor) -> None:
        """Time both kinds of work once."""
        steps = len(self.queries)
        limits = {"max_new_tokens": steps, "min_new_tokens": steps, "num_beams": 1}
        works = (lambda: reads(self.model, ids, self.queries), lambda: self.model.generate(input_ids=ids, **limits))
        for work, times in zip(works, self.times, strict=True):
            started = time.perf_counter()
            work()
            times.append(time.perf_counter() - started)

    def shown(self, others: Sequence[System]) -> str:
        """Return the medians, with the ratios of other systems' times to them."""
        cells = []
        for place, own in enumerate(self.times):
            seconds = statistics.median(own)
            compared = [statistics.median(other.times[place]) / seconds for other in others]
            cells += [f"{seconds:12.3f}", *(f"{ratio:10.1f}" for ratio in compared)]
        return "".join(cells)


def systems_of(words: int, chosen: Sequence[int], steps: int, sizes: dict[str, int]) -> list[System]:
    """Return the systems for texts of `words` words, `standard` first."""
    found = []
    for variant, coarse in (("standard", "conv"), ("hier", "bow"), ("hier", "conv"), ("c2f", "bow"), ("c2f", "conv")):
        model = make_model(variant, coarse, words, sizes)
        for count in chosen if variant == "c2f" else [1]:
            generator = torch.Generator().manual_seed(2)
            pool = torch.randn(min(count, steps), model.config.hidden_size, generator=generator)
            found.append(System(variant, coarse, model, pool[torch.arange(steps) % len(pool)]))
    return found


@torch.inference_mode()
def main() -> None:
    """Print a row for each system and length."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--words", type=int, nargs="+", default=[400, 1600, 6400, 25600])
    options.add_argument("--chosen", type=int, nargs="+", default=[4, 30])
    options.add_argument("--steps", type=int, default=30)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--small", action="store_true", help="A fifth of the paper's sizes.")
    arguments = options.parse_args()
    torch.set_num_threads(1)
    head = f"{'hier/':>10}{'standard/':>10}"
    print(f"{'words':>7}  {'system':14}{'encoded':>8}{'reads s':>12}{head}{'generate s':>12}{head}")
    for words in arguments.words:
        ids = torch.randint(4, VOCABULARY, (1, words), generator=torch.Generator().manual_seed(1))
        systems = systems_of(words, arguments.chosen, arguments.steps, SMALL if arguments.small else {})
        for system in systems:
            # Warm up.
            reads(system.model, ids[:, :CHUNK], system.queries[:1])
        for _ in range(arguments.repeats):
            for system in systems:
                system.run(ids)
        for system in systems:
            same = [other for other in systems if other.variant == "hier" and other.coarse == system.coarse]
            name = system.variant if system is systems[0] else f"{system.variant} {system.coarse}"
            encoded = reads(system.model, ids, system.queries)
            print(f"{words:7}  {name:14}{encoded:8}{system.shown([same[0], systems[0]])}", flush=True)


if __name__ == "__main__":
    main()
