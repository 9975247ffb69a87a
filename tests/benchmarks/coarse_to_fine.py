"""The time of a summary against the words of the text: chosen chunks read lazily, all chunks, or one sequence.

    python tests/benchmarks/coarse_to_fine.py [--words 400 1600 6400 25600] [--chosen 4 30] [--steps 30] [--small]

The paper's sizes (two layers of 500, chunks of 40 words) with random weights, one document, one CPU thread. "reads" is
the encoder and the attention of `--steps` steps for random states of the decoder, of which so many as `--chosen` are
different: few, as in a trained model, whose attention stays with some chunks, up to another one at each step.
"encoded" counts the chunks that were encoded, with the last one, with which the decoder begins. "generate" is greedy
search of as many tokens, which the model's own choices decide. The systems of a length take turns in one process,
`--repeats` times, so that their ratios hold on a busy machine too; figures are medians. Ratios are those of `hier` with
the same coarse encoder, and of `standard`.
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


@dataclass(frozen=True)
class System:
    """A model with the states of its decoder `(steps, hidden)`, and what was measured of it.

    Attributes:
        times: Seconds of reading, and of `generate`.
    """

    variant: str
    coarse: str
    model: CoarseToFineForConditionalGeneration
    queries: Tensor
    times: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))

    def run(self, ids: Tensor) -> None:
        """Measure it once."""
        steps = len(self.queries)
        limits = {"max_new_tokens": steps, "min_new_tokens": steps, "num_beams": 1}
        works = (lambda: reads(self.model, ids, self.queries), lambda: self.model.generate(input_ids=ids, **limits))
        for work, times in zip(works, self.times, strict=True):
            started = time.perf_counter()
            work()
            times.append(time.perf_counter() - started)

    def shown(self, others: Sequence[System]) -> str:
        """Return the medians, and how many times as long other systems took."""
        cells = []
        for place, own in enumerate(self.times):
            seconds = statistics.median(own)
            compared = [statistics.median(other.times[place]) / seconds for other in others]
            cells += [f"{seconds:12.3f}", *(f"{ratio:10.1f}" for ratio in compared)]
        return "".join(cells)


def systems_of(words: int, chosen: Sequence[int], steps: int, sizes: dict[str, int]) -> list[System]:
    """Return the systems that read a text of so many words, `standard` first."""
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
    """Print a row a system and length."""
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
            # Whatever is made at the first call.
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
