"""Freed memory is returned to the system."""

import ctypes
import subprocess
import sys

import pytest

from discsum import memory

# Runs in a separate process, whose heap holds nothing else. Without the call, memory freed between tensors that are
# still in use stays with the process.
HELD = """
import psutil, torch
from discsum.memory import trim_heap

kept = [torch.ones(250_000) for _ in range(400)]
del kept[::2]
before = psutil.Process().memory_info().rss
trim_heap()
print((before - psutil.Process().memory_info().rss) / 2**20)
"""


def test_memory_between_what_is_used_is_given_back():
    if memory._malloc_trim() is None:
        pytest.skip("glibc")
    # Tensors are smaller than this threshold, so glibc keeps them in its heap.
    environment = {"MALLOC_MMAP_THRESHOLD_": str(8 << 20), "PYTHONPATH": ":".join(sys.path)}
    found = subprocess.run([sys.executable, "-c", HELD], env=environment, capture_output=True, text=True, check=True)
    assert float(found.stdout) > 100


def test_encoding_gives_back_what_it_leaves_behind(parser, monkeypatch):
    calls = []
    monkeypatch.setattr(memory, "trim_heap", lambda: calls.append(None))
    monkeypatch.setattr(memory, "PAUSE", 3600.0)
    parser.parse("It rained.")
    assert not calls
    monkeypatch.setattr(memory, "PAUSE", 0.0)
    parser.parse("It rained.")
    assert len(calls) == 1
    # A long text is read in stretches.
    parser.parse("It rained. " * 12_000)
    assert len(calls) > 3


def test_another_c_library(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    memory._malloc_trim.cache_clear()
    try:
        assert memory.trim_heap() is None
        assert memory._malloc_trim() is None
    finally:
        memory._malloc_trim.cache_clear()
