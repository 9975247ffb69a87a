"""A Ray cluster of nodes with one CPU each, all on loopback addresses of this machine."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

STORE = 100 << 20
SETTINGS = {
    "RAY_worker_niceness": "0",
    "RAY_AUTH_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
    # Work of the tests is imported by workers as well.
    "PYTHONPATH": str(Path(__file__).parent),
}


def add_node(cluster: Any) -> Any:
    """Start a node and return it."""
    # Not 127.0.0.1, which Ray takes for the machine's outward address.
    settings = {"node_ip_address": "127.0.0.2", "include_dashboard": False}
    return cluster.add_node(num_cpus=1, object_store_memory=STORE, **settings)


@contextmanager
def small_cluster(nodes: int = 2) -> Iterator[Any]:
    """Start a cluster for the time of a block, its files in a folder that goes with it."""
    from ray.cluster_utils import Cluster

    # Short: names of sockets are in it.
    place = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
    with patch.dict(os.environ, SETTINGS | {"RAY_TMPDIR": place}):
        cluster = Cluster(shutdown_at_exit=True)
        try:
            for _ in range(nodes):
                add_node(cluster)
            cluster.wait_for_nodes()
            yield cluster
        finally:
            cluster.shutdown()
            shutil.rmtree(place, ignore_errors=True)


def processes_of(name: str, value: str) -> list[int]:
    """Return the running processes that have an environment variable of that value."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{name}={value}".encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            # It has ended, or is somebody else's.
            continue
    return found
