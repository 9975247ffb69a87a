"""What all tests of parsers share."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def bfloat16_everywhere():
    """Train in bfloat16 on every machine; small parsers need no instructions for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discsum.parsers.training.task.has_fast_bfloat16", lambda device: True)
        yield
