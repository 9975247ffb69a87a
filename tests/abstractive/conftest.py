import pytest
import small_training
from tiny_bart import Inputs, make_bart


@pytest.fixture
def bart():
    return make_bart()


@pytest.fixture
def inputs():
    return Inputs()


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """A folder with tables of texts to learn from and to choose by, and what is made of them once for all tests."""
    return small_training.make_data(tmp_path_factory.mktemp("news"))
