"""Sphinx configuration: pages in Markdown, and a page of API for every package that pyproject.toml names."""

from __future__ import annotations

import inspect
import re
import tomllib
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

from sphinx.util.inspect import stringify_signature

from discsum.recipes.described import described, init_fields
from discsum.recipes.fields import Checked

# Special methods that are shown.
OPERATORS = {"__call__", "__getitem__", "__add__", "__truediv__"}
HERE = Path(__file__).parent
ROOT = HERE.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

project = "discsum"
release = version = SETTINGS["project"]["version"]
author = "the discsum developers"
copyright = f"2026, {author}"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"discsum {release}"
templates_path: list[str] = []
myst_heading_anchors = 3
# Docstrings name code in single backticks.
default_role = "code"
napoleon_google_docstring, napoleon_numpy_docstring = True, False
napoleon_use_ivar = True
# Constructors are described below their class, methods by their own docstring only.
autoclass_content = "both"
autodoc_inherit_docstrings = False
autodoc_default_options = {"members": True, "show-inheritance": True, "ignore-module-all": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True


def write_api(app: Any) -> None:
    """Write `api/PACKAGE.md` for each package, with the modules in it; unchanged files are left alone."""
    packages = SETTINGS["tool"]["setuptools"]["packages"]
    moved = SETTINGS["tool"]["setuptools"]["package-dir"]
    pages = {}
    for package in packages:
        near = next(name for name in sorted(moved, key=len, reverse=True) if f"{package}.".startswith(f"{name}."))
        folder = ROOT / moved[near] / package.removeprefix(near).strip(".").replace(".", "/")
        modules = sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("__"))
        content = f"# {package}\n"
        for name in (package, *(f"{package}.{module}" for module in modules)):
            heading = "" if name == package else f"\n## {name}\n"
            content += f"{heading}\n```{{eval-rst}}\n.. automodule:: {name}\n```\n"
        pages[f"{package}.md"] = content
    listed = "\n".join(name.removesuffix(".md") for name in pages)
    pages["index.md"] = (
        f"# API\n\nEvery package, from its docstrings.\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"
    )
    api = HERE / "api"
    api.mkdir(exist_ok=True)
    for old in api.glob("*.md"):
        if old.name not in pages:
            old.unlink()
    for name, content in pages.items():
        path = api / name
        if not path.is_file() or path.read_text(encoding="utf-8") != content:
            path.write_text(content, encoding="utf-8")


def plain(app: Any, what: str, name: str, obj: Any, options: Any, signature: str, returned: str) -> Any:
    """Leave ranges and help out of the types of a class's fields; `with_fields` lists them."""
    if what != "class" or not help_of_fields(obj):
        return None
    hints, whole = get_type_hints(obj), inspect.signature(obj)
    parameters = [one.replace(annotation=hints[one.name]) for one in whole.parameters.values()]
    bare = whole.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    return stringify_signature(bare, unqualified_typehints=True), ""


def with_fields(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """List the fields of a class whose help stands in their types, with their ranges and choices."""
    if what == "class" and (told := help_of_fields(obj)):
        lines += ["", "Attributes:", *(f"    {field}: {text}" for field, text in told.items())]


def help_of_fields(cls: Any) -> dict[str, str]:
    """Return the help and the permitted values of the fields of a dataclass, if it has any."""
    hints = init_fields(cls) if inspect.isclass(cls) and issubclass(cls, Checked) and is_dataclass(cls) else {}
    told = {
        field: " ".join(mark.description for mark in getattr(hint, "__metadata__", ()) if mark.description)
        for field, hint in hints.items()
    }
    if not any(told.values()):
        return {}
    return {field: f"{text} Expected: {described(hints[field])}." for field, text in told.items()}


def as_code(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Turn code spans and indented formulas of a docstring into those of reStructuredText."""
    joined = re.sub(r"(?<!`)`([^`]+)`(?!`)(?=(\w)?)", _span, "\n".join(lines))
    joined = re.sub(r":\n\n(?= {4}\S)", "::\n\n", joined)
    lines[:] = joined.split("\n")


def _span(match: re.Match[str]) -> str:
    # A letter after a code span needs an escaped space before it.
    return f"``{match[1]}``" + ("\\ " if match[2] else "")


def choose(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Show what happens when an object is called, indexed or added, if it says so.

    Methods of an object that a module names, such as `register`, are left out: they are described with their class.
    """
    if what == "class" and name in OPERATORS and obj.__doc__:
        return False
    return True if what == "module" and inspect.ismethod(obj) else None


def setup(app: Any) -> None:
    """Connect all of them."""
    app.connect("autodoc-skip-member", choose)
    app.connect("builder-inited", write_api)
    app.connect("autodoc-process-signature", plain)
    app.connect("autodoc-process-docstring", with_fields, priority=300)
    # Before napoleon, which takes what stands before a colon for a type unless it is in a code span.
    app.connect("autodoc-process-docstring", as_code, priority=400)
