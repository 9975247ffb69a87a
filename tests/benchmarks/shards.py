"""Measure sharded runs: the maximum throughput of the driver, or the engines compared with each other.

    python tests/benchmarks/shards.py driver [--documents 200000]
    python tests/benchmarks/shards.py engines [--documents 320] [--rounds 2]

`driver`: short rows of JSON lines are read, sent to two workers that do almost nothing, and written as parts. Figures
are documents per second of the driver's own CPU time, and of wall-clock time.

`engines`: the shipped parser parses the same texts in two workers of each engine, in turn. Figures are documents per
second from the first part to the last, in wall-clock time and in CPU time of all processes; the time until the first
part; and the peak of the summed proportional set sizes of all processes that the engine started. Engines alternate, and
ratios are taken within a round, so that they also hold on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from discsum.data.engines import engine_of
from discsum.data.engines.base import Engine, Step
from discsum.data.input_source import InputSource
from discsum.data.inputs import Item
from discsum.data.parse_parts import ParseRecipe, parse_job
from discsum.data.part_maker import Division, PartMaker, part_job
from discsum.data.run_options import RunOptions
from discsum.data.shard_run import make_all

SAMPLE = Path(__file__).parents[2] / "data" / "samples" / "harbour.txt"
MARK = "DISCSUM_BENCHMARK"


class Trivial(PartMaker):
    """Writes ids and texts as they are."""

    command = "parse"

    def makers(self) -> dict[str, str]:
        """Return nothing: nothing is loaded."""
        return {}

    def objects(self, items: Sequence[Item]) -> list[dict[str, Any]]:
        """Return each document's id and text."""
        return [{"id": item.id, "text": item.text} for item in items]


def started(mark: str) -> Iterator[Path]:
    """Yield the folder in /proc of each running process that has a mark in its environment."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={mark}".encode() in path.read_bytes().split(b"\0"):
                yield path.parent
        except OSError:
            # The process has ended, or belongs to another user.
            continue


def cpu_seconds(process: Path) -> float:
    """Return the CPU time of a process."""
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(process: Path) -> float:
    """Return the proportional set size of a process, in MiB."""
    lines = (process / "smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def total(mark: str, measure: Callable[[Path], float]) -> float:
    """Return the sum of a measure over the processes that were started with a mark."""
    found = 0.0
    for process in started(mark):
        with suppress(OSError):
            found += measure(process)
    return found


@dataclass
class Timed:
    """An engine that records when each part is done: seconds, and CPU time of all processes until then."""

    engine: Engine
    mark: str
    begun: float = field(default_factory=time.perf_counter)
    done: list[tuple[float, float]] = field(default_factory=list)

    def results_of(self, work: Callable[[Any, Step], Any], tasks: Iterable[Any], step: Step) -> Iterator[Any]:
        """Yield the engine's results."""
        for result in self.engine.results_of(work, tasks, step):
            used = time.process_time() + total(self.mark, cpu_seconds)
            self.done.append((time.perf_counter() - self.begun, used))
            yield result


@dataclass
class Memory:
    """The peak memory, in MiB, of all processes that are started with a mark.

    It is sampled only every five seconds because sampling takes time too.
    """

    mark: str
    greatest: float = 0.0
    ended: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Memory:
        """Start sampling."""
        os.environ[MARK] = self.mark
        threading.Thread(target=self._look, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop sampling."""
        self.ended.set()
        del os.environ[MARK]

    def _look(self) -> None:
        while not self.ended.wait(5.0):
            self.greatest = max(self.greatest, total(self.mark, memory))


def time_driver(documents: int, folder: Path) -> None:
    """Print the throughput of a run with trivial work."""
    table = folder / "rows.jsonl"
    with table.open("w") as file:
        for number in range(documents):
            file.write(
                json.dumps({"id": f"d{number}", "text": f"Text {number}. The river rose, and it rained."}) + "\n"
            )
    source, division = InputSource([str(table)]), Division()
    job = part_job(
        source,
        folder / "parts",
        division,
        {"command": "parse"},
        {},
        lambda place, digest, device: Trivial(place, digest, {}, device, division),
    )
    begun, own = time.perf_counter(), time.process_time()
    make_all(job, RunOptions(workers=2))
    seconds, own = time.perf_counter() - begun, time.process_time() - own
    print(f"{documents:,} documents: {documents / own:,.0f} a second of the driver, {documents / seconds:,.0f} in all")


@dataclass(frozen=True)
class Figures:
    """Figures of an engine: documents per wall-clock and per CPU second, seconds until the first part, peak MiB."""

    rate: float
    cpu_rate: float
    first: float
    memory: float


def time_engine(name: str, texts: Path, shard: int, place: Path) -> Figures:
    """Return the figures of one engine with two workers."""
    source, mark = InputSource([str(texts)]), uuid.uuid4().hex
    with Memory(mark) as used:
        job = parse_job(source, place, ParseRecipe(), Division(shard=shard))
        timed = Timed(engine_of(name, 2), mark)
        made = make_all(job, RunOptions(engine=timed))
    (first, cpu_first), (last, cpu_last) = timed.done[0], timed.done[-1]
    others = made.documents - shard
    return Figures(others / (last - first), others / (cpu_last - cpu_first), first, used.greatest)


def time_engines(documents: int, rounds: int, folder: Path) -> None:
    """Print a line for each engine and round, then the medians of the ratios and differences over rounds."""
    texts = folder / "texts.jsonl"
    sample = SAMPLE.read_text(encoding="utf-8")
    texts.write_text("".join(json.dumps({"text": f"Text {n}.\n\n{sample}"}) + "\n" for n in range(documents)))
    found: list[tuple[Figures, Figures]] = []
    for number in range(rounds):
        pair = []
        for name in ("local", "ray"):
            of = time_engine(name, texts, 4, folder / f"{name}-{number}")
            pair.append(of)
            print(
                f"{name}: {of.rate:.2f} documents a second, {of.cpu_rate:.2f} a second of processors, first part after "
                f"{of.first:.1f} s, {of.memory:.0f} MiB",
                flush=True,
            )
        found.append((pair[0], pair[1]))
    print(
        f"ray / local: {median(ray.rate / local.rate for local, ray in found):.1%} of documents a second, "
        f"{median(ray.cpu_rate / local.cpu_rate for local, ray in found):.1%} of those a second of processors; "
        f"first part {median(ray.first - local.first for local, ray in found):.1f} s later, "
        f"{median(ray.memory - local.memory for local, ray in found):.0f} MiB more"
    )


def main() -> None:
    """Run the requested measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("driver", "engines"))
    parser.add_argument("--documents", type=int)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.what == "driver":
            time_driver(options.documents or 200_000, Path(folder))
        else:
            time_engines(options.documents or 320, options.rounds, Path(folder))


if __name__ == "__main__":
    main()
