"""Measure the size of pages, the time to make them, and the time to open them in headless Chromium.

    python tests/benchmarks/pages.py [--repeats 3]

The documents are the sample article, and 5 and 44 copies of it parsed as one text, each with a summary of three
sentences. "opened" is the time from navigation to the load event, after which the page is drawn and interactive; "first
paint" is when text first appears. "plain" is the opening time of a page with only paragraphs, the same text repeated up
to the same size, and "ratio" is "opened" divided by "plain". Figures are medians of the repeats, in which the two pages
alternate.
"""

from __future__ import annotations

import argparse
import statistics
import time
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from selenium import webdriver
from selenium.webdriver.support.wait import WebDriverWait

import discsum
from discsum.formats.html import page

SAMPLE = Path(__file__).parents[2] / "data" / "samples" / "harbour.txt"
_TIMES = """
const paint = performance.getEntriesByType("paint").find((entry) => entry.name === "first-contentful-paint");
const opened = performance.getEntriesByType("navigation")[0].loadEventEnd;
return paint && opened ? [opened, paint.startTime, document.body.dataset.ready] : null;
"""


def chromium() -> Any:
    """Return a headless Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1440,900"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))


def opening(path: Path) -> tuple[float, float]:
    """Return the times in ms until a new browser with an empty cache has opened a page, and has first painted it."""
    browser = chromium()
    try:
        browser.get(path.as_uri())
        # The paint may come after the load event.
        wait = WebDriverWait(browser, 20)
        opened, paint, ready = wait.until(lambda browser: browser.execute_script(_TIMES))
    finally:
        browser.quit()
    assert ready == "all", "the script did not reach its end"
    return opened, paint


def plain_page(text: str, size: int) -> str:
    """Return a page of the text's paragraphs, repeated until it has `size` characters."""
    body = "".join(f"<p>{escape(paragraph)}</p>\n" for paragraph in text.split("\n\n"))
    return (
        f'<!doctype html><meta charset="utf-8"><title>Plain</title><body data-ready="all">{body * (size // len(body))}'
    )


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--repeats", type=int, default=3)
    repeats = arguments.parse_args().repeats
    torch.set_num_threads(1)
    article = SAMPLE.read_text(encoding="utf-8")
    print(" EDUs  page KiB  made s  first paint ms  opened ms  plain ms  ratio")
    with TemporaryDirectory() as folder:
        page_file, plain_file = Path(folder) / "page.html", Path(folder) / "plain.html"
        for copies in (1, 5, 44):
            summary = discsum.summarize("\n\n".join([article] * copies), units=3)
            start = time.perf_counter()
            content = page(summary.document, summary)
            made = time.perf_counter() - start
            page_file.write_text(content, encoding="utf-8")
            plain_file.write_text(plain_page(summary.document.text, len(content)), encoding="utf-8")
            rows = [(*opening(page_file), opening(plain_file)[0]) for _ in range(repeats)]
            opened, paint, plain = (statistics.median(column) for column in zip(*rows, strict=True))
            print(
                f"{len(summary.document.edus):5} {page_file.stat().st_size / 1024:9.0f} {made:7.2f} {paint:15.0f} "
                f"{opened:10.0f} {plain:9.0f} {opened / plain:6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
