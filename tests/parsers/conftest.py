"""Fixtures of all parser tests."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def bfloat16_everywhere():
    """Train in bfloat16 on every machine: tiny parsers are fast enough on CPUs without instructions for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discsum.parsers.training.task.has_fast_bfloat16", lambda device: True)
        yield
