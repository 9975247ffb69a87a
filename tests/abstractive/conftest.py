import pytest
from tiny_bart import Inputs, make_bart


@pytest.fixture
def bart():
    return make_bart()


@pytest.fixture
def inputs():
    return Inputs()
