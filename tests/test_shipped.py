"""The shipped weights are complete and small enough."""

import subprocess
import sys
import zlib
from importlib.resources import files
from pathlib import Path

import pytest

import discsum
from discsum.parsers.training.recipe import ParserRecipe
from discsum.persistence import CARD, shipped
from discsum.recipes.yaml_values import parse_yaml
from discsum.summarizer.extractive import SHIPPED, ExtractiveSummarizer
from discsum.summarizer.training.recipe import SummarizerRecipe

WEIGHTS = Path(str(files("discsum") / "weights"))


def test_all_of_them_fit_into_a_wheel_of_100_megabytes():
    assert set(shipped()) == {"discsum-gum", *SHIPPED.values()}
    # A wheel compresses its files in the same way.
    size = sum(len(zlib.compress(path.read_bytes())) for name in shipped() for path in (WEIGHTS / name).iterdir())
    assert size <= 95_000_000


@pytest.mark.parametrize("unit", SHIPPED)
def test_summarizers_come_with_their_parser(unit):
    model = ExtractiveSummarizer.from_pretrained(unit=unit)
    assert model.config.unit == unit
    assert model.parser.fingerprint == discsum.Parser.from_pretrained().fingerprint


@pytest.mark.parametrize("name", shipped())
def test_cards_have_the_recipe_that_trained_the_model(name):
    kind = ParserRecipe if name == "discsum-gum" else SummarizerRecipe
    text = (WEIGHTS / name / CARD).read_text(encoding="utf-8").partition("## Recipe")[2]
    # `from_dict` refuses unknown fields.
    assert kind.from_dict(parse_yaml(text.partition("```yaml\n")[2].partition("```")[0], name)).seed == 1


@pytest.mark.parametrize("rest", ["\u200b", "\ufeff", "\x1a", "\uf0b7"])
def test_a_last_line_without_words_begins_no_unit(rest):
    document = discsum.parse(f"Hello world.\n{rest}")
    assert [one.start for one in document.sentences] == [one.start for one in document.edus] == [0]


def test_a_summary_imports_no_compiler():
    code = (
        "import sys; from discsum.summarizer.extractive import ExtractiveSummarizer; "
        "ExtractiveSummarizer.from_pretrained().summarize('We came. We saw.'); "
        "print(sorted({'torch._dynamo', 'sympy', 'transformers'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_modules_are_found_after_one_import():
    code = (
        "import discsum\n"
        "print(discsum.metrics.rouge.rouge(['Rain.'], ['Rain.']).mean['rouge1'])\n"
        "for home in (discsum.dependency.edu_heads, discsum.scoring.UnitScorer, discsum.metrics.significance,\n"
        "             discsum.abstractive.summarizer.AbstractiveSummarizer):\n"
        "    print(home.__name__)"
    )
    result = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    names = ["1.0", "edu_heads", "UnitScorer", "discsum.metrics.significance", "AbstractiveSummarizer"]
    assert result.stdout.split() == names
