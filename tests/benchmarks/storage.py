"""Measure the cost of storage: `python tests/benchmarks/storage.py resume|rate|memory|parsed|decode [--count N]`.

resume: time of resuming a run in a folder in moto's S3, or the store of AWS_ENDPOINT_URL, that already has all shards,
each with one document.
rate: tasks per second that the driver prepares. memory: memory of a process that makes a dataset of one-sentence rows
with a randomly initialised parser. parsed: the same for rows that are already parsed. decode: time of decoding one
shard of articles, without and with unit vectors.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import tiny
from object_store import SETTINGS

from discsum.batches import batches
from discsum.data.combined_records import TOGETHER, write_combined
from discsum.data.dataset_maker import SHARD_FILE, DatasetMaker
from discsum.data.manifest import digest_of
from discsum.data.pairs import PairSource
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe, makers
from discsum.data.run_options import RunOptions
from discsum.data.shard_maker import ShardTask
from discsum.data.shard_names import record_name
from discsum.data.shard_run import make_all
from discsum.data.shards import schema
from discsum.data.storage import location
from discsum.data.tasks import shards_of

# Number of characters of a typical news article.
ARTICLE = 4000


def write_rows(path: Path, count: int, text: str, **others: object) -> PairSource:
    """Write a table of JSON lines with `count` rows of the same text."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            file.write(json.dumps({"id": str(number), "text": text, "summary": "Rain.", **others}) + "\n")
    return PairSource(str(path))


@contextmanager
def store() -> Iterator[tuple[str, int | None]]:
    """Yield the URL of a bucket, and the process id of moto's S3 unless AWS_ENDPOINT_URL names another store."""
    if "AWS_ENDPOINT_URL" in os.environ:
        files, bucket = fsspec.filesystem("s3"), f"discsum-{uuid4().hex[:8]}"
        files.mkdir(bucket)
        try:
            yield f"s3://{bucket}", None
        finally:
            files.rm(bucket, recursive=True)
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ.update(SETTINGS, AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}")
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        files = fsspec.filesystem("s3")
        for _ in range(100):
            try:
                files.mkdir("benchmark")
                break
            except OSError:
                time.sleep(0.2)
        yield "s3://benchmark", server.pid
    finally:
        server.terminate()
        server.wait()


def resume(place: Path, count: int) -> None:
    """Time a run on a folder in an object store that has all shards but no manifest."""
    tiny.make_parser().save_pretrained(place / "parser")
    source = write_rows(place / "news.jsonl", count, tiny.ARTICLE)
    recipe = PreprocessRecipe(str(place / "parser"), shard=1)
    whole = recipe.to_dict() | {"documents": source.identity(), "made_by": makers(recipe)}
    maker = DatasetMaker(place, digest_of(whole), whole["made_by"], "cpu", recipe)
    shard = place / SHARD_FILE.format(0)
    _, record = maker(ShardTask(shard.name, list(source.pairs(0, 1))), lambda steps: None)
    contents = {"recipe.json": json.dumps(whole).encode()}
    with store() as (bucket, server):
        files = location(f"{bucket}/set")
        job = preprocess_job(source.pairs(), source.identity(), files, recipe)
        records = {}
        for number, entries in enumerate(job.shards()):
            name = job.name(number)
            records[name] = replace(record, entries=ShardTask(name, entries).digest)
            contents[name] = shard.read_bytes()
        # As a killed run leaves the folder at worst: the records of one file less one are not combined.
        names = list(records)
        combined = names[: 1 - TOGETHER]
        for number, some in enumerate(batches(combined, TOGETHER)):
            write_combined(files, number, {name: records[name] for name in some})
        for name in names[len(combined) :]:
            contents[record_name(name)] = json.dumps(asdict(records[name])).encode()
        fsspec.filesystem("s3").pipe({f"{bucket}/set/{name}": content for name, content in contents.items()})
        begun, found = time.perf_counter(), []
        used = time.process_time(), computed(server) if server else 0.0
        make_all(job, RunOptions(skip=lambda done: found.append(time.perf_counter() - begun), warn=sys.exit))
        finished = time.perf_counter() - begun
        here = time.process_time() - used[0]
        there = f" and the store {computed(server) - used[1]:.1f} s" if server else ""
    print(
        f"{len(found)} shards found after {found[-1]:.1f} s, the folder finished after {finished:.1f} s; of that this "
        f"process computed {here:.1f} s{there}"
    )


def computed(process: int) -> float:
    """Return the CPU seconds of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rate(place: Path, count: int) -> None:
    """Time preparing the tasks of article tables."""
    lines = write_rows(place / "news.jsonl", count, "x" * ARTICLE)
    rows = [json.loads(line) for line in (place / "news.jsonl").open(encoding="utf-8")]
    pq.write_table(pa.Table.from_pylist(rows), place / "news.parquet", row_group_size=10_000)
    for source, size, unit in (
        (lines, 256, "documents"),
        (lines, 1 << 20, "bytes"),
        (PairSource(str(place / "news.parquet")), 256, "documents"),
        (PairSource(str(place / "news.parquet")), 1 << 20, "bytes"),
    ):
        begun, pairs = time.perf_counter(), source.pairs()
        shards = shards_of(pairs, size, unit, pairs.tables())
        tasks = [len(pickle.dumps(ShardTask("shard", shard))) for shard in shards]
        seconds = time.perf_counter() - begun
        print(
            f"{Path(source.name).suffix}, {size} {unit} a shard: {count / seconds:,.0f} documents a second, "
            f"{len(tasks)} tasks of at most {max(tasks)} bytes"
        )


def parsed(place: Path, count: int) -> None:
    """Run `memory` on rows that are already parsed."""
    memory(place, count, parse=False)


def memory(place: Path, count: int, *, parse: bool = True) -> None:
    """Make a dataset of short rows and print the peak memory of this process during the run."""
    document = tiny.make_parser().parse("It rained on Monday.").to_json()
    row = {"text": document["text"]} if parse else {name: document[name] for name in document if name != "id"}
    source = write_rows(place / "news.jsonl", count, **row)
    tiny.make_parser().save_pretrained(place / "parser")
    recipe = PreprocessRecipe(str(place / "parser"), "none")
    begun, step = time.perf_counter(), max(1, count // 10)

    def report(done: int) -> None:
        if done // step > report.shown:  # type: ignore[attr-defined]
            report.shown = done // step  # type: ignore[attr-defined]
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            print(f"{done:,} rows after {time.perf_counter() - begun:.0f} s: at most {peak} MiB", flush=True)

    report.shown = 0  # type: ignore[attr-defined]
    manifest = make_all(
        preprocess_job(source.pairs(), source.identity(), place / "set", recipe), RunOptions(report=report)
    )
    print(f"{manifest.documents:,} documents in {len(manifest.shards):,} files")


def decode(place: Path, count: int) -> None:
    """Time decoding a shard of articles with 700 words, 30 sentences and 90 EDUs each."""
    random = np.random.default_rng(0)
    words = ["".join(random.choice(list("abcdefghijklmnopqrstuvwxyz"), 5)) for _ in range(700)]
    ends = np.linspace(0, 6 * len(words) - 1, 91).astype(int).tolist()
    spans = [{"start": start, "end": end} for start, end in pairwise(ends)]
    nodes = [{"first": first, "last": 89, "split": first, "nuclearity": "NS"} for first in range(89)]
    for width in (0, 768):
        rows = [
            {
                "id": str(number),
                "text": " ".join(random.permutation(words)),
                "sentences": [{"start": ends[at], "end": ends[at + 3]} for at in range(0, 90, 3)],
                "edus": [span | {"sentence": at // 3} for at, span in enumerate(spans)],
                "nodes": [node | {"relation": "joint-list", "probability": float(random.random())} for node in nodes],
                "references": ["It rained."],
                "sentence_labels": [0] * 30,
                "edu_labels": [0] * 90,
                "sentence_vectors": random.random((30, width)).astype(np.float16).tobytes(),
                "edu_vectors": random.random((90, width)).astype(np.float16).tobytes(),
            }
            for number in range(count)
        ]
        columns = schema(("sentence", "edu"), encoded=width > 0)
        content = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(rows, schema=columns), content, compression="zstd")
        whole = content.getvalue()
        times = []
        for _ in range(9):
            begun = time.process_time()
            table = pq.ParquetFile(pa.BufferReader(whole)).read(use_threads=False)
            times.append(time.process_time() - begun)
        size = f"{len(whole) / 2**20:.1f} MiB, {table.nbytes / 2**20:.1f} decoded"
        print(f"{count} articles, vectors of {width}: {size}, in {1000 * float(np.median(times)):.0f} ms")


def main() -> None:
    """Run the requested measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = {
        "resume": (resume, 10_000),
        "rate": (rate, 50_000),
        "memory": (memory, 1_000_000),
        "parsed": (parsed, 1_000_000),
        "decode": (decode, 256),
    }
    parser.add_argument("kind", choices=kinds)
    parser.add_argument("--count", type=int)
    options = parser.parse_args()
    measure, usual = kinds[options.kind]
    with tempfile.TemporaryDirectory() as place:
        measure(Path(place), options.count or usual)


if __name__ == "__main__":
    main()
