"""Benchmarks whose results are in the documentation run, here at sizes too small to measure anything."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("storage.py rate --count 300", ".parquet, 1048576 bytes a shard: "),
        ("storage.py decode --count 2", "2 articles, vectors of 768: "),
        ("shards.py driver --documents 300", "300 documents: "),
        ("coarse_to_fine.py --small --words 80 --chosen 1 --steps 2 --repeats 1", "c2f conv"),
        # Four beams of stock generation keep 16 MiB.
        ("sparse_decoder.py --small --tokens 256 --r 1 --steps 2", "     4.0  yes"),
        ("priors.py", "balanced"),
        ("priors.py --help", "usage: "),
        ("gpu.py --device cpu --documents 1 --tokens 32 --tables parsing compressed --precisions fp32", "100.0%"),
    ],
)
def test_benchmarks_run(command, said):
    script, *options = command.split()
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    run = [sys.executable, str(ROOT / "tests" / "benchmarks" / script), *options]
    found = subprocess.run(run, env=environment, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr
    assert said in found.stdout
    assert "deprecated" not in found.stderr
