"""The fields of a recipe as text: value in the recipe, type and range, help."""

from __future__ import annotations

from textwrap import fill
from typing import Any

from discsum.experiments.training_runs import KINDS
from discsum.recipes import common_fields
from discsum.recipes.described import FieldHelp, help_of

WIDTH, INDENT = 100, "    "


def field_report(content: dict[str, Any]) -> str:
    """Return all fields of a recipe's kind as `key=value` lines, each followed by type, range and help.

    Raises:
        InputError: An invalid recipe.
    """
    content = dict(content)
    kind = content["kind"]
    data, name, notes = common_fields(content)
    common = [
        FieldHelp("kind", f"one of {', '.join(KINDS)}", kind, "What is trained."),
        FieldHelp("data", "a folder", str(data), "A treebank, or the folder that paths of sources are relative to."),
        FieldHelp("name", "a word", name, "Name of the model."),
        FieldHelp("notes", "a text", notes, "Additional text of the model card."),
    ]
    lines = []
    for row in common + help_of(KINDS[kind][0].from_dict(content)):
        text = f"{row.expected}. {row.help}".strip()
        text = fill(text, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False)
        lines += [f"{row.name}={row.value}", text]
    return "\n".join(lines)
