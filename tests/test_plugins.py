"""Entry points of other packages that do not load, or have the names or suffixes of others."""

import os
import subprocess
import sys

import pytest

from discsum.errors import InputError
from discsum.formats import FORMATS, Format

MODULE = '''
from discsum.document import Document
from discsum.encoder.heads import HEADS
from discsum.formats import Format

OWN_SUFFIX = Format(None, lambda content, source="": Document.from_edu_texts(["One"]), suffix=".rs3")
NO_DOCUMENT = Format(None, lambda content, source="": None, suffix=".none")

class Tree(HEADS["none"]):
    """A head."""
'''


def run(folder, points, code):
    """Return the output of code beside an installed package with these entry points, by group."""
    package = folder / "plug"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "heads.py").write_text(MODULE)
    metadata = folder / "plug-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: plug\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "".join(f"[{group}]\n" + "".join(f"{line}\n" for line in lines) for group, lines in points.items())
    )
    environment = os.environ | {"PYTHONPATH": str(folder)}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=folder, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout, result.stderr


def test_a_format_that_does_not_load_leaves_the_others(tmp_path):
    out, err = run(
        tmp_path,
        {"discsum.formats": ["oops = plug.nowhere:X"]},
        "from discsum.format_registry import suffixes\nprint(sorted(suffixes()))",
    )
    assert out == "['.dis', '.json', '.rs3', '.rs4', '.rsd']\n"
    assert (
        "left out a format: oops: expected the entry point plug.nowhere:X of the group discsum.formats to load" in err
    )


def test_a_suffix_stays_that_of_discsum(tmp_path):
    code = "from discsum.format_registry import suffixes\nprint(suffixes()['.rs3'])"
    out, err = run(tmp_path, {"discsum.formats": ["other = plug.heads:OWN_SUFFIX"]}, code)
    assert out == "rs3\n"
    assert "format other: expected a suffix of its own, got .rs3, which is read as rs3" in err


def test_a_name_stays_that_of_discsum(tmp_path):
    code = "from discsum.encoder.heads import HEADS\nprint(HEADS['c_tree'].__module__)"
    out, err = run(tmp_path, {"discsum.heads": ["c_tree = plug.heads:Tree"]}, code)
    assert out == "discsum.encoder.heads.c_tree\n"
    assert "c_tree: left out the entry point plug.heads:Tree of the group discsum.heads, because discsum has a" in err


def test_a_name_is_that_of_one_entry_point(tmp_path):
    other = tmp_path / "other-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (other / "entry_points.txt").write_text("[discsum.heads]\nmine = other.heads:Tree\nsame = plug.heads:Tree\n")
    code = """
from discsum.encoder.heads import HEADS
from discsum.errors import InputError
print(HEADS.origin("same"))
try:
    HEADS["mine"]
except InputError as error:
    print(error)
"""
    out, _ = run(tmp_path, {"discsum.heads": ["mine = plug.heads:Tree", "same = plug.heads:Tree"]}, code)
    first, second = out.splitlines()
    # The module of a package, which says what to install.
    assert first == "plug.heads:Tree"
    assert second.startswith("mine: expected one entry point of this name in the group discsum.heads, got ")


@pytest.mark.parametrize("suffix", ["edus", ".EDUs"])
def test_suffixes_that_no_file_has(suffix):
    with pytest.raises(InputError, match="mine: expected a suffix in lower case that starts with a dot"):
        FORMATS.register("mine", Format(str, suffix=suffix))


def test_a_format_that_reads_no_document(tmp_path):
    code = """
from discsum.formats import load
try:
    load("a", "none")
except TypeError as error:
    print(error)
"""
    out, _ = run(tmp_path, {"discsum.formats": ["none = plug.heads:NO_DOCUMENT"]}, code)
    assert out == "format none: expected loads to return a Document, got NoneType\n"
