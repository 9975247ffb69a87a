"""`discsum parse` and `discsum extract` process all of one long text, in bounded memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "samples" / "harbour.txt"
# Maximum memory in KiB: 1.5 GiB.
MOST = 3 << 19


def text_of(words: int, random: np.random.Generator) -> str:
    """Return paragraphs of the sample in random order, with at least `words` words in total."""
    paragraphs = SAMPLE.read_text(encoding="utf-8").strip().split("\n\n")
    chosen: list[str] = []
    while words > 0:
        chosen.append(paragraphs[random.integers(len(paragraphs))])
        words -= len(chosen[-1].split())
    return "\n\n".join(chosen)


def measured(*arguments: str) -> tuple[int, float]:
    """Run discsum with one thread in a separate process; return its peak memory in KiB, and CPU seconds."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    process = subprocess.Popen([sys.executable, "-m", "discsum", *arguments], env=environment)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"discsum {' '.join(arguments)}: exit code {process.returncode}"
    assert used.ru_maxrss <= MOST, f"discsum {arguments[0]}: {used.ru_maxrss} KiB"
    return used.ru_maxrss, used.ru_utime + used.ru_stime


def attack(count: int, seed: int) -> Mapping[str, object]:
    """Parse and summarize a text of `count` words."""
    text = text_of(count, np.random.default_rng(seed))
    figures: dict[str, object] = {"words": len(text.split())}
    with tempfile.TemporaryDirectory() as name:
        file, tree, summary = (Path(name) / stem for stem in ("long.txt", "long.json", "summary.txt"))
        file.write_text(text, encoding="utf-8")
        for command in (
            ["parse", "--format", "json", "-o", str(tree)],
            ["extract", "--units", "20", "-o", str(summary)],
        ):
            memory, seconds = measured(command[0], str(file), *command[1:])
            figures[command[0]] = f"{memory / 1024:.0f} MiB, {seconds:.0f} CPU seconds"
        document = json.loads(tree.read_bytes())
        assert document["text"] == text
        spans = [(edu["start"], edu["end"]) for edu in document["edus"]]
        assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
        # Inner nodes of a binary tree over all EDUs.
        assert len(document["nodes"]) == len(spans) - 1
        assert (document["nodes"][0]["first"], document["nodes"][0]["last"]) == (0, len(spans) - 1)
        found = summary.read_text(encoding="utf-8").split()
        assert found and set(found) <= set(text.split())
    return figures
