"""A headless Chromium for tests of pages, if one is installed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any


def programs() -> tuple[str | None, str | None]:
    """Return the paths of Chromium and of its driver, as Debian's packages chromium and chromium-driver name them."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    return chromium, shutil.which("chromedriver")


def start() -> Any:
    """Return a headless browser that records its console and its requests."""
    from selenium import webdriver

    chromium, driver = programs()
    options = webdriver.ChromeOptions()
    options.binary_location = chromium or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


def show(browser: Any, path: Path, *, width: int = 1400, height: int = 900, dark: bool = False) -> None:
    """Open a page in a window of this size."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    browser.get(path.as_uri())


def requests(browser: Any) -> list[str]:
    """Return the addresses that were requested since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]
    return [url for url in sent if not url.startswith(("data:", "chrome:", "about:"))]
