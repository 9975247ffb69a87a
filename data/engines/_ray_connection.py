"""Connect the engine `ray` to Ray: start Ray on this machine, or join a cluster."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from secrets import token_hex
from typing import Annotated, Any

from discsum.errors import DiscsumError
from discsum.recipes.fields import Checked, Count, NotNegative, about

# Address that stands for the cluster of `RAY_ADDRESS`, or of this machine.
AUTO = "auto"
# Seconds within which the address of a cluster has to answer.
CONNECT = 15.0
# Bytes of shared memory for tasks if this program starts Ray; what does not fit is written to disk.
STORE = 200 << 20


@dataclass(frozen=True)
class RayOptions(Checked):
    """The address of Ray, and the resources of each worker."""

    address: Annotated[str, about("`HOST:PORT` of a cluster, or `auto`; by default Ray is started here.")] = ""
    cpus_per_worker: Annotated[Count, about("CPUs of each worker, and its number of torch threads.")] = 1
    gpus_per_worker: Annotated[
        NotNegative | None, about("GPUs of each worker: a whole number, or less than 1; by default 1 on `cuda`.")
    ] = None
    device: Annotated[str, about("Device of the work.")] = "cpu"

    @property
    def gpus(self) -> float:
        """GPUs of each worker; it sees no others."""
        if self.gpus_per_worker is None:
            return 1.0 if self.device.startswith("cuda") else 0.0
        return self.gpus_per_worker

    def problems(self) -> list[str]:
        """Return a problem if Ray cannot give each worker this number of GPUs."""
        gpus = self.gpus
        if gpus < 1 or gpus == int(gpus):
            return []
        return [f"gpus_per_worker: expected a whole number, or a fraction of one GPU, got {gpus}"]


@contextmanager
def connected(workers: int, options: RayOptions) -> Iterator[None]:
    """Connect to Ray while the block runs; a connection that exists already is used, and stays open."""
    import ray

    if ray.is_initialized():
        joined = ray.get_runtime_context().gcs_address
        wanted = options.address
        # The address of a Ray client (ray://...) does not tell which cluster it is.
        if wanted not in ("", AUTO) and "//" not in wanted and _resolved(wanted) != _resolved(joined):
            raise DiscsumError(
                f"engine ray: expected Ray at {wanted}, but this program is connected to {joined}; "
                "call ray.shutdown() first"
            )
        yield
        return
    with _environment({} if options.address else {"RAY_worker_niceness": "0", "RAY_AUTH_TOKEN": _token()}):
        try:
            with _own_sigterm():
                _start(workers, options)
        except Exception as error:
            # Ray raises many types: ConnectionError, RuntimeError, ValueError, AuthenticationError.
            said = str(error).strip().partition("\n")[0] or type(error).__name__
            place = f"at {options.address}" if options.address else "to start here"
            raise DiscsumError(f"engine ray: expected Ray {place}, got {type(error).__name__}: {said}") from error
        try:
            yield
        finally:
            with _own_sigterm():
                ray.shutdown()


@contextmanager
def _own_sigterm() -> Iterator[None]:
    """Restore this program's SIGTERM handler after the block, because Ray replaces it with one that exits with 15."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _resolved(address: str) -> str:
    """Return HOST:PORT with the IP address of the host, which is the same for all names of this machine."""
    import ray

    host, _, port = address.rpartition(":")
    try:
        number = socket.gethostbyname(host)
    except OSError:
        return address
    return f"{ray.util.get_node_ip_address() if number.startswith('127.') else number}:{port}"


def _start(workers: int, options: RayOptions) -> None:
    """Start Ray on this machine, or join it at an address."""
    import ray

    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if options.address:
        host, colon, port = options.address.rpartition(":")
        if colon and port.isdigit() and "/" not in host:
            # Ray itself would retry for minutes and not report the reason.
            socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT).close()
        ray.init(options.address, **quiet)
        return
    ray.init(
        "local",
        num_cpus=workers * options.cpus_per_worker,
        object_store_memory=STORE,
        include_dashboard=False,
        **quiet,
    )


@cache
def _token() -> str:
    """Return a token for the Ray that this program starts; without one, Ray writes its own to the home folder."""
    return token_hex(32)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set those variables that are unset; after the block, remove all new `RAY_` variables, also those that Ray set.

    Ray also keeps the mode and the token of the Ray that it started, until it is made to read the environment again:
    a cluster without tokens, which this program joins next, would get no answer from it.
    """
    before = dict(os.environ)
    os.environ.update({name: value for name, value in variables.items() if name not in before})
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            if name.startswith("RAY_"):
                del os.environ[name]
        # Ray's own tests do the same, in this order; releases without tokens lack these names.
        with suppress(AttributeError):
            raylet: Any = import_module("ray._raylet")
            config, tokens = raylet.Config, raylet.AuthenticationTokenLoader
            config.initialize("")
            tokens.instance().reset_cache()
