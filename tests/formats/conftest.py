import os
from pathlib import Path

import pytest

from discsum.formats import read_tree

DATA = Path(os.environ.get("DISCSUM_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))


@pytest.fixture(scope="session")
def gum_files():
    """Paths of GUM's rs4 files."""
    folder = DATA / "gum" / "rst" / "rstweb"
    files = sorted(folder.glob("*.rs4"))
    if not files:
        pytest.skip(f"needs the GUM treebank, found no .rs4 file in {folder}; set DISCSUM_DATA to its folder's parent")
    return files


@pytest.fixture(scope="session")
def gum(gum_files):
    """GUM's documents, read from rs4."""
    return [read_tree(path) for path in gum_files]
