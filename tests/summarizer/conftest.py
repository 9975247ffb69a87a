"""Fixture of the tests of training."""

import pytest
from small_runs import make_data


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return a folder of tables, which are preprocessed there once for all tests."""
    return make_data(tmp_path_factory.mktemp("news"))
