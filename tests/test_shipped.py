"""The weights that come with the package: whole, small enough, and what the README shows of them."""

from pathlib import Path

import pytest

import discsum
from discsum.formats.outline import to_text
from discsum.persistence import locate, shipped
from discsum.summarizer.extractive import SHIPPED, ExtractiveSummarizer

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SAMPLE = (ROOT / "data" / "samples" / "harbour.txt").read_text(encoding="utf-8")


def test_all_of_them_fit_into_60_megabytes():
    assert set(shipped()) == {"discsum-gum", *SHIPPED.values()}
    size = sum(path.stat().st_size for name in shipped() for path in locate(name).iterdir())
    assert size <= 60_000_000


def test_the_readme_shows_the_tree_of_its_note():
    note = README.split("$ cat note.txt\n")[1].split("\n$ ")[0]
    assert f"$ discsum parse note.txt\n{to_text(discsum.parse(note))}$" in README


def test_the_readme_shows_the_summary_of_the_sample():
    summary = discsum.summarize(SAMPLE, units=3)
    assert "harbour.txt --units 3\n" + "\n".join(summary.lines) + "\n```" in README


@pytest.mark.parametrize("unit", SHIPPED)
def test_summarizers_come_with_their_parser(unit):
    model = ExtractiveSummarizer.from_pretrained(unit=unit)
    assert model.config.unit == unit
    assert model.parser.fingerprint == discsum.Parser.from_pretrained().fingerprint
