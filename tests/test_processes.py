"""The group of processes of a training run."""

import subprocess
import sys

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
    # In a process of its own: accelerate keeps what it knows of groups for as long as a process lives.
    code = ALONE.replace("{FILE}", str(tmp_path / "group"))
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
