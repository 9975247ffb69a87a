"""`discsum train` on two machines as in docs/scale.md, here two launchers on one machine."""

import json
import os
import re
import socket
import subprocess
import sys

import pytest
from documented import ROOT, blocks
from small_news import write_recipe, write_table

(LAUNCH,) = (
    block.content for block in blocks(ROOT / "docs" / "scale.md", "bash") if "accelerate launch" in block.content
)


@pytest.fixture
def recipe(tmp_path, parser_folder):
    write_table(tmp_path / "train.jsonl", 0, 20)
    write_table(tmp_path / "validation.jsonl", 50, 58)
    # No dropout: its random draws differ between processes.
    synthesizer = {"inner": 16, "scorer": 8, "dropout": 0.0}
    return write_recipe(
        tmp_path, parser_folder, units=1, epochs=2, batch_size=7, learning_rate=1e-3, synthesizer=synthesizer
    )


def test_two_machines_learn_what_one_process_does(discsum, recipe, tmp_path):
    accelerate = tmp_path / "bin" / "accelerate"
    accelerate.parent.mkdir()
    accelerate.write_text(f'#!/bin/bash\nexec "{sys.executable}" -m accelerate.commands.accelerate_cli "$@"\n')
    accelerate.chmod(0o755)
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    # One process per machine, where the documentation has four GPUs per machine.
    command, changed = re.subn(r"--num_processes \d+", "--num_processes 2", LAUNCH.replace("29500", str(port)))
    assert changed == 1
    settings = {"HOST": "127.0.0.1", "RECIPE": str(recipe), "DATA": str(tmp_path), "OUT": str(tmp_path / "two" / "run")}
    settings |= {"PATH": f"{accelerate.parent}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
    machines = [
        subprocess.Popen(
            ["bash", "-e", "-c", command],
            env=os.environ | settings | {"RANK_OF_MACHINE": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in (0, 1)
    ]
    printed = [machine.communicate(timeout=200) for machine in machines]
    assert [machine.returncode for machine in machines] == [0, 0], printed
    # Only the first process prints.
    assert "20 documents, 6 steps" in printed[0][0]
    assert printed[1][0] == ""
    assert discsum("train", recipe, "-o", tmp_path / "one" / "run").code == 0
    logs = [json.loads((tmp_path / name / "run" / "log.json").read_text()) for name in ("one", "two")]
    for one, two in zip(*logs, strict=True):
        assert one["loss"] == pytest.approx(two["loss"], abs=2e-4)
        assert one["validation"] == two["validation"]
    assert (tmp_path / "two" / "run" / "best" / "model.safetensors").is_file()
