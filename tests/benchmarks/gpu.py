"""Measure parsing on a GPU (documents per second, share of busy time), a sparse decoder and a compressed encoder.

    python tests/benchmarks/gpu.py [--tables parsing workers decoder compressed] [--documents 1024] [--tokens 1024 4096]

Documents are paragraphs of the sample in random order, with 100 to 1,500 words each. "Encoder alone" only encodes the
same windows. Rows are the best of three runs after a warm-up run, or, with `workers`, of one. The
share of busy time is the length of the union of all kernels in torch's profiler, divided by the time of the profiled
run; on a CPU it is CPU time divided by wall-clock time.

- `parsing`: one process, by precision.
- `workers`: several processes share the GPU, as with `discsum preprocess --workers`; start-up is not counted. "Busy" is
  the mean utilization that the driver reports.
- `decoder`: steps of the sparse decoder.
- `compressed`: self-attention of twelve layers of a compressed encoder, without projections, for one text and
  bart-large's heads in bfloat16: stock and `strided`. The latter includes finding the blocks, once for all layers.

Without a GPU the script says so and exits; use `--device cpu` to try it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import fmean
from threading import Thread

import torch
from compressed_encoder import make_layer
from sparse_decoder import layout_of, make_model, run
from torch import Tensor
from torch.nn import Module

from discsum.abstractive.compressed.blocks import BlockTables
from discsum.abstractive.compressed.calls import Call, CompressionSettings
from discsum.abstractive.compressed.config import CompressionConfig
from discsum.abstractive.sparse import densify, sparsify
from discsum.constants import PRECISIONS
from discsum.devices import check_precision, wait_for
from discsum.document import Document
from discsum.errors import InputError
from discsum.parsers.parser import Parser
from discsum.parsers.subwords import split_subwords

SAMPLE = Path(__file__).parents[2] / "data" / "samples" / "harbour.txt"
RUNS = 3
# Seconds that workers wait for each other.
TIMEOUT = 600
# Layers of bart-large's encoder.
LAYERS = 12
TABLES = ("parsing", "workers", "decoder", "compressed")


def make_texts(count: int) -> list[str]:
    """Return texts of 100 to 1,500 words."""
    generator, texts = random.Random(0), []
    paragraphs = SAMPLE.read_text(encoding="utf-8").strip().split("\n\n")
    for _ in range(count):
        words, wanted, chosen = 0, generator.randint(100, 1500), []
        while words < wanted:
            chosen.append(generator.choice(paragraphs))
            words += len(chosen[-1].split())
        texts.append("\n\n".join(chosen))
    return texts


def seconds(work: Callable[[], object], device: torch.device) -> float:
    """Return the time of the fastest of `RUNS` runs, after a warm-up run."""
    times = []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        work()
        wait_for(device)
        times.append(time.perf_counter() - start)
    return min(times[1:])


def busy(work: Callable[[], object], device: torch.device) -> float:
    """Return the share of a run's time in which the device is busy."""
    if device.type != "cuda":
        start, before = time.perf_counter(), time.process_time()
        work()
        return (time.process_time() - before) / (time.perf_counter() - start)
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        start = time.perf_counter()
        work()
        wait_for(device)
        took = time.perf_counter() - start
    ranges = sorted(
        (event.time_range.start, event.time_range.end)
        for event in profile.events()
        if event.device_type == torch.autograd.DeviceType.CUDA
    )
    computing, reached = 0.0, float("-inf")
    for start_us, end_us in ranges:
        computing += max(0.0, end_us - max(start_us, reached))
        reached = max(reached, end_us)
    return computing / 1e6 / took


def same_trees(found: list[Document], expected: list[Document]) -> tuple[float, float]:
    """Return the share of documents with the same EDUs, and the share with the same tree too."""
    same_edus = [one.edus == other.edus for one, other in zip(found, expected, strict=True)]
    nodes = [
        [(node.first, node.last, node.nuclearity, node.relation) for node in document.tree.nodes]
        if document.tree
        else []
        for document in (*found, *expected)
    ]
    same = [edus and nodes[place] == nodes[place + len(found)] for place, edus in enumerate(same_edus)]
    return sum(same_edus) / len(found), sum(same) / len(found)


def measure_parsing(
    device: torch.device, documents: int, batch_size: int, parser_name: str, precisions: Sequence[str]
) -> None:
    """Print a row for each precision."""
    texts, expected = make_texts(documents), list[Document]()
    heading = f"{'precision':10}{'documents/s':>12}{'encoder alone/s':>17}{'of it':>7}{'busy':>7}{'encoder busy':>14}"
    print(f"{heading}{'same EDUs':>11}{'same trees':>12}")
    for precision in precisions:
        try:
            check_precision(precision, str(device))
        except InputError as error:
            print(f"{precision:10}{error}")
            continue
        parser = Parser.from_pretrained(parser_name, device=str(device), precision=precision)
        words = [split_subwords(text, parser.tokenizer) for text in texts]
        found: list[Document] = []

        def parse(parser: Parser = parser, found: list[Document] = found) -> None:
            found[:] = parser.parse_many(texts, batch_size=batch_size)

        @torch.inference_mode()
        def encode(parser: Parser = parser, words: list = words) -> None:
            for first in range(0, len(words), batch_size):
                for _ in parser.network.encoder.stretches(words[first : first + batch_size]):
                    pass

        whole, alone = (documents / seconds(work, device) for work in (parse, encode))
        shares = busy(parse, device), busy(encode, device)
        expected = expected or list(found)
        edus, trees = same_trees(found, expected)
        row = f"{precision:10}{whole:12.1f}{alone:17.1f}{whole / alone:7.0%}{shares[0]:7.0%}{shares[1]:14.0%}"
        print(f"{row}{edus:11.1%}{trees:12.1%}", flush=True)


def parse_share(name: str, device: str, texts: list[str], batch_size: int, moments: tuple[Barrier, Barrier]) -> None:
    """Load the parser in a worker process, warm up, and parse the texts between two moments."""
    torch.set_num_threads(1)
    parser = Parser.from_pretrained(name, device=device)
    list(parser.parse_many(texts, batch_size=batch_size))
    moments[0].wait(TIMEOUT)
    list(parser.parse_many(texts, batch_size=batch_size))
    moments[1].wait(TIMEOUT)


def measure_workers(device: torch.device, documents: int, batch_size: int, name: str, counts: list[int]) -> None:
    """Print a row for each number of worker processes."""
    print(f"{'workers':>10}{'documents/s':>13}{'busy':>7}")
    if device.type == "cuda":
        # It needs the package nvidia-ml-py; fail before workers start.
        torch.cuda.utilization(device)
    texts, context = make_texts(documents), multiprocessing.get_context("spawn")
    for count in counts:
        moments = context.Barrier(count + 1), context.Barrier(count + 1)
        shares = [texts[worker::count] for worker in range(count)]
        workers = [
            context.Process(target=parse_share, args=(name, str(device), share, batch_size, moments), daemon=True)
            for share in shares
        ]
        for worker in workers:
            worker.start()
        moments[0].wait(TIMEOUT)
        start, used = time.perf_counter(), list[float]()
        waiting = Thread(target=moments[1].wait, args=(TIMEOUT,), daemon=True)
        waiting.start()
        while waiting.is_alive():
            if device.type == "cuda":
                used.append(torch.cuda.utilization(device))
            waiting.join(0.1)
        took = time.perf_counter() - start
        for worker in workers:
            worker.join()
        print(f"{count:10}{documents / took:13.1f}" + (f"{fmean(used):6.0f}%" if used else ""), flush=True)


def measure_decoder(device: torch.device, lengths: list[int], small: bool) -> None:
    """Print milliseconds per step of stock `generate`, dense attention with one cached copy, and sparse attention."""
    model = make_model(small).to(device)
    print(f"{'tokens':>10}{'stock':>10}{'dense':>10}{'r=10':>10}  ms a step of the sparse decoder")
    for tokens in lengths:
        states, layout, row = torch.randn(1, tokens, model.config.d_model, device=device), layout_of(tokens), []
        layout = layout.to(device)
        for options in (None, {"selector": "all"}, {"selector": "mean_key", "r": 10}):
            if options is not None:
                sparsify(model, **options)
            own = layout if options is not None else None
            run(model, states, 2, own)
            row.append(1000 * run(model, states, 16, own)[1])
            if options is not None:
                densify(model)
        print(f"{tokens:10}" + "".join(f"{value:10.1f}" for value in row), flush=True)


def measure_compressed(device: torch.device, lengths: list[int], blocks: int) -> None:
    """Print milliseconds of the self-attention of `LAYERS` layers."""
    head = "".join(f"{name:>10}" for name in ("tokens", "stock", "strided"))
    print(f"{head}  ms for {LAYERS} layers, strided with {blocks} blocks")
    for tokens in lengths:
        states = torch.randn(1, tokens, 1024, device=device, dtype=torch.bfloat16)
        settings = CompressionSettings(CompressionConfig("strided", blocks))
        stock = make_layer(None, None, projected=False).self_attn
        strided = make_layer(settings.config, settings, projected=False).self_attn

        def layers(module: Module, states: Tensor = states) -> Tensor:
            return [module(states, attention_mask=None)[0] for _ in range(LAYERS)][-1]

        def attend(module: Module, states: Tensor = states, settings: CompressionSettings = settings) -> Tensor:
            mask = torch.ones(states.shape[:2], dtype=torch.bool, device=states.device)
            with settings.within(Call(tables=BlockTables.of(mask, blocks))):
                return layers(module, states)

        with torch.inference_mode():
            times = [seconds(lambda stock=stock, layers=layers: layers(stock), device)]
            times.append(seconds(lambda strided=strided, attend=attend: attend(strided), device))
        print(f"{tokens:10}" + "".join(f"{1000 * one:10.3f}" for one in times), flush=True)


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    options.add_argument("--device", default="cuda")
    options.add_argument("--documents", type=int, default=1024)
    options.add_argument("--batch-size", type=int, default=512)
    options.add_argument("--parser", default="discsum-gum")
    options.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=PRECISIONS)
    options.add_argument("--workers", type=int, nargs="+", default=[1, 4, 12])
    options.add_argument("--tokens", type=int, nargs="+", default=[1024, 4096, 16384])
    options.add_argument("--small", action="store_true", help="Two decoder layers instead of twelve.")
    options.add_argument("--blocks", type=int, default=4, help="Blocks of the compressed encoder.")
    arguments = options.parse_args()
    if arguments.device.startswith("cuda") and not torch.cuda.is_available():
        print("no GPU here: nothing was measured; --device cpu tries the script")
        sys.exit(0)
    device = torch.device(arguments.device)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else f"{torch.get_num_threads()} CPU threads"
    print(f"{name}, torch {torch.__version__}, {arguments.documents} documents, {arguments.batch_size} a batch")
    parsing = device, arguments.documents, arguments.batch_size, arguments.parser
    measures: dict[str, Callable[[], None]] = {
        "parsing": lambda: measure_parsing(*parsing, arguments.precisions),
        "workers": lambda: measure_workers(*parsing, arguments.workers),
        "decoder": lambda: measure_decoder(device, arguments.tokens, arguments.small),
        "compressed": lambda: measure_compressed(device, arguments.tokens, arguments.blocks),
    }
    for table in arguments.tables:
        measures[table]()


if __name__ == "__main__":
    main()
