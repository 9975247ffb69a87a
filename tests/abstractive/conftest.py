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
    """A folder with tables of training and validation texts, which also keeps the datasets that tests make of them."""
    return small_training.make_data(tmp_path_factory.mktemp("news"))
