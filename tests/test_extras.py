"""Errors about libraries of an extra name the command that installs it, from the package's own metadata."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from discsum.errors import MissingExtraError
from discsum.extras import extra_of, needs

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("module", "extra"),
    [
        ("pyarrow.parquet", "data"),
        ("datasets", "data"),
        ("accelerate", "train"),
        ("tensorboard", "train"),
        ("ray", "ray"),
        ("s3fs", "s3"),
        ("gcsfs", "gs"),
        ("matplotlib", "analyze"),
        ("trafilatura", "web"),
        ("lxml", "web"),
        ("mdit_py_plugins", "web"),
        ("rouge_score_rs", "rouge-fast"),
    ],
)
def test_extras_by_their_modules(module, extra):
    assert extra_of(module) == extra
    command = re.escape(f'pip install "discsum[{extra}]"')
    with (
        pytest.raises(MissingExtraError, match=f"{module}, .*No module named 'no_such'.*run: {command}$"),
        needs(module),
    ):
        import no_such  # noqa: F401


def test_every_guard_names_a_module_of_an_extra():
    sources = [path for room in ("discsum", "data", "parsers", "cli") for path in (ROOT / room).rglob("*.py")]
    guarded = {name for path in sources for name in re.findall(r'needs\("([^"]+)"\)', path.read_text(encoding="utf-8"))}
    assert guarded >= {"pyarrow", "datasets", "accelerate", "matplotlib", "trafilatura", "lxml"}
    for module in guarded:
        assert extra_of(module)
    with pytest.raises(LookupError, match="torch: no extra of discsum has it"):
        extra_of("torch")


def test_a_table_without_its_library(tmp_path):
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from discsum.cli import main; sys.argv = ['discsum', 'extract', 'x.parquet', '--model', 'lead']; main()"
    )
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert (result.returncode, 'run: pip install "discsum[data]"' in result.stderr) == (1, True)
    assert "Traceback" not in result.stderr


def test_training_names_its_own_extra_first(tmp_path):
    code = (
        "import sys; sys.modules |= dict.fromkeys(('pyarrow', 'datasets', 'accelerate'))\n"
        "from discsum.cli import main; sys.argv = ['discsum', 'train', 'news-edu']; main()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert (result.returncode, 'run: pip install "discsum[train]"' in result.stderr) == (1, True)


def test_evaluating_tables_and_parsers_needs_no_extra():
    modules = "discsum.cli.train, discsum.cli.evaluate, discsum.cli.parser_scores, discsum.experiments.comparison"
    code = f"import sys, {modules}, discsum.experiments.report; print('pyarrow' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"
