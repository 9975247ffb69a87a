"""At least a hundredth of each campaign, in a separate process: some fork, which is only safe early in a process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from campaigns import full_disk

SECONDS = 400
FORKING = ("kills", "sharing")


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("unicode_texts", 1_000),
        ("tree_file_mutants", 250),
        ("model_folders", 100),
        ("batch_invariance", 20),
        ("kills", 1),
        ("sharing", 16),
        ("long_text", 10_000),
        ("full_disk", 2),
    ],
)
def test_a_hundredth_at_least(name, count):
    if name in FORKING and not hasattr(os, "fork"):
        pytest.skip("POSIX")
    if name == "full_disk" and not full_disk.can_mount():
        pytest.skip("needs the right to mount a disk")
    command = [sys.executable, "-m", "campaigns", name, str(count), "--seed", "1"]
    found = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=SECONDS)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout.splitlines()[-1])["seed"] == 1
