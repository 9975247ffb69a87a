"""The process group of a training run."""

import subprocess
import sys
from pathlib import Path

import pytest
from several_processes import run_together

from discsum.training.processes import accelerator

ALONE = """
import torch
from discsum.training.processes import leave_group

leave_group()
torch.distributed.init_process_group("gloo", init_method=f"file://{FILE}", rank=0, world_size=1)
assert torch.distributed.is_initialized()
leave_group()
assert not torch.distributed.is_initialized()
leave_group()
"""


def test_a_group_is_left_once_and_there_need_not_be_one(tmp_path):
    # In a separate process, because accelerate keeps its state of groups until the process ends.
    code = ALONE.replace("{FILE}", str(tmp_path / "group"))
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_a_run_on_the_cpu_beside_a_gpu_with_bfloat16_is_in_float32(monkeypatch):
    """As with `accelerate launch --cpu`."""
    monkeypatch.setattr("discsum.training.processes.has_fast_bfloat16", lambda device: True)
    assert accelerator(bf16=True).mixed_precision == "no"


TASKS = Path("/proc/self/task")
TWO = f"""
from pathlib import Path
import torch
from discsum.training.processes import accelerator, local_main_first, leave_group

def threads_of_the_group():
    names = [(task / "comm").read_text().strip() for task in Path("{TASKS}").iterdir()]
    return [name for name in names if "gloo" in name or "store" in name]

def train():
    with local_main_first():
        pass
    several = accelerator(bf16=False)
    network = several.prepare(torch.nn.Linear(2, 2))
    several.backward(network(torch.ones(1, 2)).sum())

train()
assert threads_of_the_group()
leave_group()
assert not threads_of_the_group(), threads_of_the_group()
"""


@pytest.mark.skipif(not TASKS.is_dir(), reason="threads are listed by Linux")
def test_no_thread_outlives_the_group():
    run_together("-c", TWO)


RESUMED = """
import sys
from pathlib import Path

sys.path[:0] = sys.argv[2:]
from test_loop import KilledError, LineTask, killed_at, recipe
from discsum.training.loop import TrainingLoop
from discsum.training.processes import leave_group

try:
    TrainingLoop(LineTask(recipe()), Path(sys.argv[1]), killed_at(8)).run()
except KilledError:
    loop = TrainingLoop(LineTask(recipe()), Path(sys.argv[1]))
    assert [entry.steps for entry in loop.log] == [3, 6]
    assert loop.run().steps == 12
    leave_group()
else:
    raise SystemExit("not killed")
"""


def test_several_processes_resume_a_run_that_gets_better(tmp_path):
    folders = Path(__file__).parent, Path(__file__).parents[1]
    run_together("-c", RESUMED, tmp_path / "run", *folders)
