"""Two Python processes in one group, as `torchrun` and `accelerate launch` start them."""

import os
import socket
import subprocess
import sys


def run_together(*arguments):
    """Run Python in two processes of one group, which must both succeed; return what each printed."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    shared = {"OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
    shared |= {"WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": str(port)}
    started = [
        subprocess.Popen(
            [sys.executable, *map(str, arguments)],
            env=os.environ | shared | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    printed = [process.communicate(timeout=300)[0] for process in started]
    assert [process.returncode for process in started] == [0, 0]
    return printed
