"""Measure parsing speed by length of the text, the overhead beyond the encoder, memory and start-up time.

    python tests/benchmarks/parsing_speed.py [--threads 1]

Times are CPU seconds of the process, all from one run, so that their ratios also hold on a busy machine. A word is a
white-space separated token. "encoder s" is the time of one forward pass of the same encoder over the same subwords, in
windows of the same size without overlap and in batches of the same size. This is the minimum for any parser that uses
this encoder.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile

import torch

from discsum.parsers.budgets import budget_of
from discsum.parsers.parser import Parser
from discsum.parsers.subwords import split_subwords

SAMPLE = Path(__file__).parents[2] / "data" / "samples" / "harbour.txt"
NOTE = (
    "The harbour bridge reopened on Monday after three months of repairs. Engineers replaced forty cables because "
    "inspectors had found rust. Traffic will stay limited to one lane until the paint dries.\n"
)


def cpu_seconds(works: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """Return the least CPU time of each function; they run in turn, so that a slowdown of the machine affects all."""
    times = []
    for _ in range(repeats + 1):
        row = []
        for work in works:
            start = time.process_time()
            work()
            row.append(time.process_time() - start)
        times.append(row)
    # The first run warms up.
    return [min(column) for column in zip(*times[1:], strict=True)]


@torch.inference_mode()
def encode_alone(parser: Parser, text: str) -> None:
    """Run the bare encoder over the text's subwords, in full windows without overlap."""
    encoder = parser.network.encoder
    ids = torch.from_numpy(split_subwords(text, parser.tokenizer).ids)
    windows = budget_of(encoder.device).tokens // encoder.window
    for batch in ids.split((encoder.window - 2) * windows):
        rows = [
            torch.cat([torch.tensor([encoder.special[0]]), row, torch.tensor([encoder.special[1]])])
            for row in batch.split(encoder.window - 2)
        ]
        full = [row for row in rows if len(row) == encoder.window]
        if full:
            encoder.encoder(input_ids=torch.stack(full))
        for row in rows[len(full) :]:
            encoder.encoder(input_ids=row[None])


def start_up(code: str) -> float:
    """Return the CPU seconds of a new process that runs `code`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def peak(copies: int) -> float:
    """Return the peak memory in MiB of a new process that parses `copies` copies of the sample."""
    code = (
        "from pathlib import Path; from discsum.parsers.parser import Parser\n"
        f"text = '\\n\\n'.join([Path({str(SAMPLE)!r}).read_text()] * {copies})\n"
        "Parser.from_pretrained().parse(text) if text else Parser.from_pretrained()\n"
        # Not getrusage, whose peak a new process inherits from its parent.
        "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    )
    return int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout) / 1024


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--threads", type=int, default=1)
    torch.set_num_threads(arguments.parse_args().threads)
    parser = Parser.from_pretrained()
    article = SAMPLE.read_text(encoding="utf-8")
    print("copies  words  EDUs  parse s  encoder s  beyond encoder  words/CPU s  peak MiB")
    for copies, repeats in ((1, 9), (10, 4), (100, 2)):
        text = "\n\n".join([article] * copies)
        words = len(text.split())
        works = (lambda text=text: parser.parse(text), lambda text=text: encode_alone(parser, text))
        whole, alone = cpu_seconds(works, repeats)
        edus = len(parser.parse(text).edus)
        beyond = 100 * (whole / alone - 1)
        row = f"{copies:6} {words:6} {edus:5} {whole:8.2f} {alone:10.2f} {beyond:14.0f}%"
        print(f"{row} {words / whole:12.0f} {peak(copies):9.0f}")
    print(f"peak MiB without a text: {peak(0):.0f}")
    command = "import sys; sys.argv = ['discsum', {}]; from discsum.cli import main; main()"
    with NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as note:
        note.write(NOTE)
        note.flush()
        starts = {
            "import torch": "import torch",
            "discsum --help": command.format("'--help'"),
            "discsum parse, 30 words": command.format(f"'parse', {note.name!r}"),
            "discsum parse, the sample": command.format(f"'parse', {str(SAMPLE)!r}"),
            "discsum extract, 30 words": command.format(f"'extract', {note.name!r}"),
            "discsum extract, the sample": command.format(f"'extract', {str(SAMPLE)!r}"),
        }
        seconds = dict.fromkeys(starts, float("inf"))
        for _ in range(5):
            for name, code in starts.items():
                seconds[name] = min(seconds[name], start_up(code))
    for name, value in seconds.items():
        print(f"{name:28} {value:5.2f} CPU s, {value / seconds['import torch']:.2f} of import torch")


if __name__ == "__main__":
    main()
