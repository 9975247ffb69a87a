"""Measure the speed of preprocessing, training and ROUGE, and how preprocessing scales with the number of documents.

    python tests/benchmarks/experiments.py TABLE [--documents 480] [--growth 10000]

TABLE has texts with summaries, such as CNN/DailyMail. Both sides of a ratio are measured in turn in the same run, so
that ratios also hold on a busy machine. Two workers need two free cores; the figures for one and two workers are each
the better of two runs. Scaling is measured on generated short texts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import torch
from rouge_score.rouge_scorer import RougeScorer
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from discsum.baselines import baseline
from discsum.constants import UNITS
from discsum.data.pairs import Pair, PairSource
from discsum.data.shards import Record, schema, write_shard
from discsum.encoder.synthesizer import Synthesizer, SynthesizerConfig
from discsum.metrics.rouge import METRICS, rouge
from discsum.oracles import oracle_labels
from discsum.parsers.parser import Parser
from discsum.parsers.parsing import with_vectors
from discsum.parsers.unit_encoders import UnitEncoder
from discsum.scoring import extract
from discsum.selection import Budget, Policy
from discsum.summarizer.training.examples import Batch, UnitExamples, collate
from discsum.summarizer.training.task import ScoringNetwork

WORDS = (
    *("river", "mill", "wheel", "stone", "water", "town", "baker", "flour"),
    *("bridge", "winter", "field", "council", "wall", "harbour", "ferry", "ice"),
)


def seconds(work: Callable[[], object]) -> float:
    """Return the wall-clock time of a function call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def stages(pairs: list[Pair], folder: Path) -> None:
    """Print the time of each stage of preprocessing on one thread."""
    parser = Parser.from_pretrained()
    encoded = parser.encode([pairs[0].text])
    parsing = seconds(lambda: encoded.extend(parser.encode([pair.text for pair in pairs], keep=UNITS)))
    documents = encoded[1:]
    encoder = UnitEncoder.load("contextual", parser)
    labels: list[dict[str, object]] = []
    vectors: list[dict[str, object]] = []
    texts = [{"sentence": item.document.sentence_texts, "edu": item.document.edu_texts} for item in documents]

    def label() -> None:
        for pair, both in zip(pairs, texts, strict=True):
            labels.append({unit: oracle_labels("rouge12-f", found, pair.references) for unit, found in both.items()})

    def pool() -> None:
        for item in documents:
            parsed = with_vectors(item, parser)
            vectors.append({unit: encoder.of(parsed, unit).half().numpy() for unit in UNITS})

    def write() -> None:
        records = [
            Record(item.document, pair.references, *values)
            for item, pair, *values in zip(documents, pairs, labels, vectors, strict=True)
        ]
        write_shard(folder / "shard.parquet", records, [], schema(("sentence", "edu"), encoded=True))

    times = {
        "parsing and encoding": parsing,
        "oracles": seconds(label),
        "pooling": seconds(pool),
        "writing": seconds(write),
    }
    whole = sum(times.values())
    print(f"preprocessing, {len(pairs)} documents, one thread, by stage:")
    for name, value in times.items():
        print(f"  {name:22}{1000 * value / len(pairs):8.1f} ms a document {100 * value / whole:6.1f}%")


# Runs in a new process, in which nothing is loaded yet, and prints the peak memory in KiB.
PREPROCESS = """
import sys
from pathlib import Path
from discsum.data.pairs import PairSource
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe
from discsum.data.run_options import RunOptions
from discsum.data.shard_run import make_all

table, folder = map(Path, sys.argv[1:3])
documents, workers, shard = map(int, sys.argv[3:])
recipe = PreprocessRecipe(encoder="contextual", shard=shard)
pairs = PairSource(str(table)).pairs(0, documents)
make_all(preprocess_job(pairs, {}, folder, recipe), RunOptions(workers=workers))
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


def preprocessed(table: Path, folder: Path, documents: int, workers: int = 1, shard: int = 256) -> tuple[float, float]:
    """Return the seconds of preprocessing `documents` documents, including all loading, and the peak memory in MiB."""
    command = [sys.executable, "-c", PREPROCESS, *map(str, (table, folder, documents, workers, shard))]
    started = time.perf_counter()
    one = os.environ | {"OMP_NUM_THREADS": "1"}
    peak = int(subprocess.run(command, env=one, check=True, capture_output=True, text=True).stdout) / 1024
    return time.perf_counter() - started, peak


def workers(table: Path, documents: int, folder: Path) -> Path:
    """Print documents per second with one and two workers, each the better of two runs; return one of the datasets."""
    least = {1: float("inf"), 2: float("inf")}
    for turn in range(2):
        for count in least:
            made = folder / f"{count}-{turn}"
            taken, _ = preprocessed(table, made, documents, count, 16)
            least[count] = min(least[count], taken)
    one, two = (documents / taken for taken in least.values())
    print(
        f"preprocessing, {documents} documents: {one:.1f} a second at 1 worker, {two:.1f} at 2: {two / one:.2f} times",
        flush=True,
    )
    return made


def training(dataset: Path, folder: Path) -> None:
    """Print training steps per second on cached vectors and with encoding in each step, for batches of 32 documents."""
    parser = Parser.from_pretrained()
    large = UnitEncoder.load(bert(folder / "bert", parser), parser, dropout=True)
    for name, encoder, width, inner in (
        ("the shipped summarizer's", UnitEncoder.load("isolated", parser), 384, 512),
        ("the paper's default (inner 3072) on the shipped encoder", UnitEncoder.load("isolated", parser), 384, 3072),
        ("the paper's default and encoder, as large as BERT-base", large, 768, 3072),
    ):
        config = SynthesizerConfig("c_tree_nuc", width=width, inner=inner)
        examples = list(islice(UnitExamples(dataset, "sentence", config), 64))
        torch.manual_seed(1)
        network = Synthesizer(config)
        with torch.inference_mode():
            vectors = encoder.vectors([example.document for example in examples], "sentence")
        examples = [
            replace(example, inputs=replace(example.inputs, vectors=own[: len(example.labels)].clone()))
            for example, own in zip(examples, vectors, strict=True)
        ]
        batches = [collate(examples[start : start + 32]) for start in (0, 32)]
        kept, anew = (
            ScoringNetwork(network, None, "sentence").train(),
            ScoringNetwork(network, encoder, "sentence").train(),
        )
        step(kept, batches[0])
        took = seconds(lambda: [step(anew, batch) for batch in batches]) / len(batches)  # noqa: B023
        fast = seconds(lambda: [step(kept, batch) for batch in batches * 3]) / len(batches * 3)  # noqa: B023
        print(
            f"training steps a second, 32 documents each, {name}: {1 / fast:.2f} on kept vectors, "
            f"{1 / took:.3f} encoding each step: {took / fast:.0f} times",
            flush=True,
        )


def bert(folder: Path, parser: Parser) -> str:
    """Write an encoder of BERT-base's shape with random weights, which do not affect its speed; return its folder."""
    torch.manual_seed(1)
    BertModel(BertConfig()).save_pretrained(folder)
    names = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    PreTrainedTokenizerFast(tokenizer_object=parser.tokenizer, **names).save_pretrained(folder)
    return str(folder)


def step(scorer: ScoringNetwork, batch: Batch) -> None:
    """Compute a batch's gradients."""
    loss = torch.nn.functional.binary_cross_entropy_with_logits(scorer(batch), batch.labels)
    scorer.network.zero_grad()
    loss.backward()


def scoring(pairs: list[Pair], dataset: Path) -> None:
    """Print the speed of ROUGE in pairs per second, compared with rouge-score."""
    policy = Policy(Budget(units=3))
    found = [
        "\n".join(extract(example.document, baseline("lead"), policy).lines)
        for example in islice(UnitExamples(dataset, "sentence", SynthesizerConfig()), len(pairs))
    ]
    references = [list(pair.references) for pair in pairs]
    slow = RougeScorer(list(METRICS), use_stemmer=True)
    times = [
        seconds(lambda: rouge(found, references)),
        seconds(lambda: [slow.score_multi(given, made) for given, made in zip(references, found, strict=True)]),
    ]
    print(
        f"ROUGE: {len(found) / times[0]:.0f} pairs a second, {len(found) / times[1]:.0f} by rouge-score: "
        f"{times[1] / times[0]:.0f} times"
    )


def growth(most: int, folder: Path) -> None:
    """Print time and peak memory of preprocessing a tenth of the documents, and all documents."""
    made = random.Random(1)
    table = folder / "grown.jsonl"
    with table.open("w") as file:
        for number in range(most):
            sentences = [
                f"The {' '.join(made.choices(WORDS, k=8))} because the {made.choice(WORDS)} rose." for _ in range(6)
            ]
            row = {"id": number, "text": " ".join(sentences), "summary": sentences[2]}
            file.write(json.dumps(row) + "\n")
    for count in (most // 10, most):
        took, peak = preprocessed(table, folder / f"grown-{count}", count)
        print(f"growth: {count} short documents: {took:.0f} s, peak memory {peak:.0f} MiB", flush=True)


def main() -> None:
    """Run all measurements."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("table", type=Path)
    options.add_argument("--documents", type=int, default=480, help="For workers; other figures take 192 of them.")
    options.add_argument("--growth", type=int, default=10_000)
    arguments = options.parse_args()
    if arguments.documents < 64:
        options.error("--documents: expected at least 64, two batches of training")
    torch.set_num_threads(1)
    found = (pair for pair in PairSource(str(arguments.table)).pairs() if isinstance(pair, Pair))
    pairs = [replace(pair, document=None) for pair in islice(found, min(192, arguments.documents))]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dataset = workers(arguments.table, arguments.documents, folder)
        stages(pairs, folder)
        training(dataset, folder)
        scoring(pairs, dataset)
        growth(arguments.growth, folder)


if __name__ == "__main__":
    main()
