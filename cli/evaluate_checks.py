"""Checks of `discsum evaluate` before anything is loaded: options that do not apply, names, and files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from discsum.cli.command import as_usage, check_unused
from discsum.cli.output_paths import check_no_input, check_outside, check_writable
from discsum.constants import ORACLE, PARSER_KIND
from discsum.data.inputs import input_files
from discsum.data.made_folder import documents_in, is_dataset_folder
from discsum.data.manifest import made_by_discsum
from discsum.data.storage import location
from discsum.data.summaries import COLUMNS
from discsum.data.tables import TABLE_KINDS, TABLES, is_table
from discsum.errors import InputError
from discsum.persistence import CONFIG, read_config, shipped

if TYPE_CHECKING:
    from discsum.data.pairs import PairSource
    from discsum.selection import Policy

# Options of sequence-to-sequence models.
OF_SEARCH = ("beams", "min_tokens", "max_tokens", "truncate", "length_penalty", "coverage_penalty")
OF_GENERATION = ("selector", "r", *OF_SEARCH)


def check_data(place: Path) -> None:
    """Raise `InputError` for a single tree file, for a folder of dataset folders, and for one without any documents."""
    from discsum.formats import suffixes
    from discsum.parsers.tree_folder import has_trees

    endings = suffixes()
    if place.is_file() and place.suffix.lower() in endings:
        raise InputError(
            f"{place}: expected a folder of tree files, or a table ({TABLE_KINDS}) of texts with summaries, got "
            f"a file; to measure parsers on its tree, name its folder, {place.parent}"
        )
    if not place.is_dir():
        return
    inside = [path for path in sorted(place.iterdir()) if not path.name.startswith(".")]
    made = [path for path in inside if is_dataset_folder(path)]
    others = [path for path in inside if path not in made]
    if made and not any(has_trees(path) or path.name.lower().endswith(tuple(endings)) for path in others):
        names = ", ".join(path.name for path in made)
        example = place / "test" if place / "test" in made else made[-1]
        raise InputError(
            f"{place}: expected a dataset folder, a treebank or tables, got a folder of the dataset folders {names}; "
            f"name one of them, such as {example}"
        )
    if not has_trees(place) and not documents_in(place, TABLES):
        raise InputError(
            f"{place}: expected a folder with tree files, for parsers ({', '.join(sorted(endings))}), or with tables "
            f"of texts with summaries, for summarizers ({TABLE_KINDS}), found neither"
        )


def check_kinds(context: typer.Context, extractive: Collection[str], generated: Collection[str]) -> None:
    """Raise `BadParameter` for options of extractive or of sequence-to-sequence models if none of those is listed."""
    from discsum.selection import PENALTIES

    if not generated:
        listed = "extractive models" if extractive else "tables of summaries"
        check_unused(context, context.params.keys() - {*OF_GENERATION}, f"with {listed}")
    if not extractive:
        of_selection = {*PENALTIES, "unit", "units", "words", "ratio", "layout"}
        of_selection |= set() if generated else {"block_trigrams"}
        listed = "sequence-to-sequence models" if generated else "tables of summaries"
        check_unused(context, context.params.keys() - of_selection, f"with {listed}")


def check_against(against: Sequence[str] | None, models: Sequence[str]) -> None:
    """Raise `BadParameter` for a model to compare with that is not listed."""
    if unknown := [name for name in against or [] if name not in models]:
        raise typer.BadParameter(
            f"expected one of {', '.join(models)}, got {', '.join(unknown)}", param_hint="--against"
        )


def check_parser(context: typer.Context, data: str, split: Collection[str]) -> None:
    """Raise `BadParameter` for a parser that nothing uses: documents of a dataset folder are parsed.

    `split` are the systems whose summaries it may split into sentences.
    """
    if not split and is_dataset_folder(location(data)):
        check_unused(context, context.params.keys() - {"parser"}, "with a dataset folder, whose documents are parsed")


def check_names(models: Sequence[str], policy: Policy, parser: str | None, selector: str | None) -> None:
    """Check the names of extractive models, parser and selector, and the rules of baselines, without loading any."""
    from discsum.abstractive.sparse.selectors import check_name
    from discsum.baselines import BASELINES, baseline
    from discsum.summarizer.options import check_scorer, check_unit

    with as_usage():
        check_name(selector)
    if parser is not None:
        read_config(parser, PARSER_KIND)
    units: dict[str, str] = {}
    for model in models:
        if model not in (ORACLE, *BASELINES, *shipped()):
            _check_path(model)
        if model != ORACLE and (unit := check_scorer(model)) is not None:
            units[model] = unit
        if model in BASELINES:
            with as_usage():
                baseline(model).complete(policy)
    if len({*units.values()}) > 1:
        listed = ", ".join(f"{model} ({unit})" for model, unit in units.items())
        raise InputError(
            f"expected models that select the same unit, got {listed}; to compare them, make a table of one model's "
            "summaries (discsum extract DATA --model MODEL --unit UNIT --json -o TABLE.jsonl), and name it instead"
        )
    for model, unit in units.items():
        check_unit(model, unit, policy.unit)


def _check_path(model: str) -> None:
    """Raise `InputError` for a path that is surely no summarizer."""
    from discsum.parsers.training.predicted_trees import is_tree_folder

    path = Path(model)
    if is_table(model) and not path.exists():
        raise InputError(f"{model}: expected a table of summaries on this machine, found no such file")
    if path.is_file():
        raise InputError(
            f"{model}: expected a table ({TABLE_KINDS}) with the columns {' and '.join(COLUMNS)}, or a "
            "model's folder, got another file"
        )
    if not path.is_dir():
        return
    if made_by_discsum(path) or (not (path / CONFIG).exists() and any(path.glob("*.txt"))):
        raise InputError(
            f"{model}: expected a summarizer or a table, got a folder of files; to measure the summaries in it, write "
            f"them to one table with the columns {' and '.join(COLUMNS)}, as discsum extract --json -o TABLE.jsonl "
            "does, or to a folder with --shards"
        )
    if is_tree_folder(model):
        raise InputError(
            f"{model}: expected a summarizer, got a folder of tree files; trees are measured on a treebank"
        )


def check_columns(source: PairSource) -> None:
    """Raise `BadParameter` for columns of a dataset folder, whose columns are known."""
    if (source.text_column or source.summary_column) and is_dataset_folder(location(source.name)):
        raise typer.BadParameter("--text-column, --summary-column: expected neither with a dataset folder")


def check_files(
    source: PairSource, first: int, last: int | None, output: str | None, written: Collection[str] = ()
) -> None:
    """Check that the output can be written, that a table has the columns, and that none is named for a folder.

    `written` are tables of summaries, which the output must not replace, and folders of them, which it must not be in.
    """
    check_columns(source)
    if output is not None:
        check_writable(Path(output), folder=False)
        check_no_input(Path(output), input_files([source.name, *written]))
        check_outside(Path(output).parent, [name for name in written if Path(name).is_dir()])
    if Path(source.name).is_file():
        next(iter(source.pairs(first, last)), None)
