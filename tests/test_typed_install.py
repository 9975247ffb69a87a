"""Type checkers see the types of an installed discsum, even if it is installed from its folder."""

import importlib.util
import shutil
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest

import discsum

ROOT = Path(__file__).resolve().parents[1]
SETUPTOOLS = next((int(found.version.split(".")[0]) for found in distributions(name="setuptools")), 0)
OWN_SCORER = """
class Longest(discsum.scoring.UnitScorer):
    @property
    def name(self) -> str:
        return "longest"

    def score(self, document: discsum.Document, unit: str) -> list[int]:
        return [span.end - span.start for span in document.units(unit)]

discsum.summarize("Rain fell.", model=Longest())
"""
# What a program says, and what mypy answers.
EXPECTED = {
    'reveal_type(discsum.parse("Rain fell."))': 'Revealed type is "discsum.document.Document"',
    'reveal_type(discsum.formats.read_tree("a.rs3"))': 'Revealed type is "discsum.document.Document"',
    "reveal_type(discsum.ExtractiveSummarizer.from_pretrained().parser)": 'type is "discsum.parsers.parser.Parser"',
    'discsum.parze("Rain fell.")': 'Module has no attribute "parze"',
    "discsum.metrics.rogue": 'Module has no attribute "rogue"',
    "\n".join(f"discsum.{name}" for name in discsum._MODULES): "",
    OWN_SCORER: "",
}
SETTINGS = "[mypy]\n[mypy-torch.*,transformers.*,numpy.*]\nfollow_imports = skip\n"


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
@pytest.mark.skipif(SETUPTOOLS < 77, reason="setuptools cannot build discsum")
def test_the_types_of_a_strict_editable_install(tmp_path):
    """`docs/extending.md` says that this mode has types; the usual one installs an import hook, which mypy ignores."""
    project, site = tmp_path / "project", tmp_path / "site"
    for name in ("discsum", "parsers", "cli", "data"):
        shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("weights", "samples", "__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, project)
    options = ["--no-deps", "--no-build-isolation", "--config-settings", "editable_mode=strict"]
    install = [sys.executable, "-m", "pip", "install", "--quiet", *options, "--target", site, "--editable", project]
    subprocess.run(install, check=True, capture_output=True)
    [link] = site.glob("*.pth")
    (tmp_path / "mypy.ini").write_text(SETTINGS)
    (tmp_path / "user.py").write_text("\n".join(["import discsum", *EXPECTED]) + "\n")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "user.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"MYPYPATH": link.read_text().strip(), "PATH": ""},
    )
    said = [line for line in checked.stdout.splitlines() if line.startswith("user.py:")]
    expected = [answer for answer in EXPECTED.values() if answer]
    assert len(said) == len(expected), checked.stdout + checked.stderr
    assert all(answer in line for answer, line in zip(expected, said, strict=True)), said
