import os
from pathlib import Path

import browser as chromium
import numpy as np
import pytest

from discsum.formats import read_tree
from discsum.formats.html import page
from discsum.summary import Summary

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


@pytest.fixture(scope="package")
def browser():
    pytest.importorskip("selenium")
    names = ("chromium", "chromedriver")
    if missing := [name for name, path in zip(names, chromium.programs(), strict=True) if path is None]:
        pytest.skip(f"needs {' and '.join(missing)}, found none on the PATH")
    found = chromium.start()
    yield found
    found.quit()


@pytest.fixture
def opened(browser, tmp_path):
    """Open pages; afterwards check that the console is empty and that only the file itself was requested."""
    from selenium.webdriver.support.wait import WebDriverWait

    path = tmp_path / "page.html"
    chromium.requests(browser)
    browser.get_log("browser")

    def open_page(document, unit="sentence", most=0.9, **window):
        units = len(document.units(unit))
        summary = Summary.from_indices(document, unit, "lead", np.linspace(most, 0.1, units), [0])
        path.write_text(page(document, summary), encoding="utf-8")
        chromium.show(browser, path, **window)
        # On a busy machine, scripts of a large page may still be running when the browser reports it as loaded.
        WebDriverWait(browser, 30).until(
            lambda browser: browser.execute_script("return document.body.dataset.ready") == "all"
        )
        return browser

    yield open_page
    assert browser.get_log("browser") == []
    assert set(chromium.requests(browser)) == {path.as_uri()}
