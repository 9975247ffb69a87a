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
    # Workers import the tests' work too.
    "PYTHONPATH": str(Path(__file__).parent),
}


def add_node(cluster: Any, cpus: int = 1) -> Any:
    """Start a node and return it."""
    # Not 127.0.0.1, which Ray replaces with the machine's external address.
    settings = {"node_ip_address": "127.0.0.2", "include_dashboard": False}
    return cluster.add_node(num_cpus=cpus, object_store_memory=STORE, **settings)


@contextmanager
def small_cluster(nodes: int = 2) -> Iterator[Any]:
    """Start a cluster while the block runs; its files are in a folder that is removed afterwards."""
    from ray.cluster_utils import Cluster

    # A short path, because it is part of the names of sockets.
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
    """Return the IDs of running processes whose environment variable `name` has this value."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{name}={value}".encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            # The process has ended, or belongs to another user.
            continue
    return found
