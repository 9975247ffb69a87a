"""`discsum evaluate --table` and `--parameters`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discsum.cli.choices import choice
from discsum.cli.command import as_usage, check_unused
from discsum.cli.evaluate_checks import OF_SEARCH, check_files
from discsum.cli.output_paths import check_writable, local_path
from discsum.cli.progress import counting, loading, reporter
from discsum.constants import SHIPPED_PARSER
from discsum.data.storage import is_url
from discsum.devices import check_device
from discsum.errors import InputError

if TYPE_CHECKING:
    from discsum.abstractive.generation import Generation
    from discsum.data.pairs import PairSource

# Tables of Xiao et al. 2020, whose missing rows are trained first, and tables of models that are already trained.
OF_XIAO = ("2", "3")
COARSE_TO_FINE, FASTER_ENCODERS = "coarse-to-fine", "faster-encoders"
TABLES = (*OF_XIAO, COARSE_TO_FINE, FASTER_ENCODERS)
# Parameters of the options below.
OF_TABLES = ("table", "setting", "runs", "settings", "low_resource", "draws", "seeds")
_PANEL = "Options for the papers' tables"

Table = Annotated[
    str | None,
    typer.Option(
        **choice(*TABLES),
        help="2, 3: train and evaluate every row of this table of Xiao et al. 2020 on DATA/train, DATA/validation "
        "and DATA/test, folders that discsum preprocess made. coarse-to-fine: perplexity, ROUGE against "
        "the best highlight, and attention to chunks of each MODEL, as in tables 1 and 2 of Ling and Rush 2017. "
        "faster-encoders: accuracy, perplexity, speed and ROUGE of each MODEL, as in tables 2 and 3 of Yap et al.",
        rich_help_panel=_PANEL,
    ),
]
Setting = Annotated[
    str | None,
    typer.Option(
        **choice("default", "balanced"), help="Only the table's rows of this setting.", rich_help_panel=_PANEL
    ),
]
Runs = Annotated[
    str, typer.Option(help="Folder of the table's runs; finished runs are reused.", rich_help_panel=_PANEL)
]
RowSettings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Fields of the table's recipes to change.", rich_help_panel=_PANEL),
]
LowResource = Annotated[
    bool,
    typer.Option(
        "--low-resource",
        help="Use the fields of xiao2020/UNIT-low-resource in the table's rows: 1,000 training documents.",
        rich_help_panel=_PANEL,
    ),
]
Draws = Annotated[
    int,
    typer.Option(
        min=1,
        help="Random training sets per row of the table, with --low-resource or --set sample=N.",
        rich_help_panel=_PANEL,
    ),
]
Seeds = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Runs per row of the table on the same documents, with the seeds 1, 2, ...",
        rich_help_panel=_PANEL,
    ),
]


def show_parameters(models: Sequence[str], style: str) -> None:
    """Print the parameter counts of trained models; without models, compare all rows of both tables with the paper."""
    from discsum.experiments.report import parameter_report
    from discsum.summarizer.loading import load_scorer

    counts = []
    for name in models:
        count = load_scorer(name).parameter_count()
        if count is None:
            raise InputError(f"{name}: expected a trained model, got a baseline, which has no parameters")
        counts.append((name, count.attention, count.whole))
    typer.echo(parameter_report(counts, style))


def show_table(context: typer.Context, models: Sequence[str], data: str) -> None:
    """Print the table that `--table` names, with the options of the command line."""
    given = context.params
    table = given["table"]
    if table in OF_XIAO:
        if models:
            raise typer.BadParameter(f"expected DATA alone with --table, got {', '.join(models)} before it")
        check_unused(context, ("models_and_data", *OF_TABLES, "head_files", "output", "style"), "with --table")
        if is_url(data):
            raise typer.BadParameter(f"expected a folder on this machine, got the URL {data}", param_hint="DATA")
        check_writable(Path(str(local_path(given["runs"]))), folder=True, option="--runs")
        if given["output"] is not None:
            check_writable(Path(given["output"]), folder=False)
        _show_trained(given, Path(data))
        return
    from discsum.abstractive.folder import is_sequence_to_sequence
    from discsum.abstractive.generation import Generation
    from discsum.data.pairs import PairSource

    if not models:
        raise typer.BadParameter("expected models before DATA, as in: discsum evaluate runs/c2f/best news.jsonl")
    used = ("models_and_data", "table", "text_column", "summary_column", "first", "last", "parser", "device", "output")
    # The faster encoders always truncate.
    search = {*OF_SEARCH, "block_trigrams"} - ({"truncate"} if table == FASTER_ENCODERS else set())
    check_unused(context, (*used, "style", *search), f"with --table {table}")
    source = PairSource(data, given["text_column"], given["summary_column"])
    check_files(source, given["first"], given["last"], given["output"])
    if table == COARSE_TO_FINE and not any(map(is_sequence_to_sequence, models)):
        check_unused(context, context.params.keys() - search, "with extractive systems alone")
    with as_usage():
        generation = Generation(
            **{name: given[name] for name in OF_SEARCH}, block_trigrams=bool(given["block_trigrams"])
        )
    _show_models(given, models, source, generation)


def _show_trained(given: Mapping[str, Any], data: Path) -> None:
    """Train the missing rows of a table, or of one setting, and print our scores and the paper's.

    With `--low-resource`, rows get the fields of the low-resource recipe; `--set` overrides these.
    """
    from discsum.experiments.report import table_report, write_entries
    from discsum.experiments.rows import SETTINGS, low_resource_fields, table_rows
    from discsum.experiments.tables import run_table

    table, settings = int(given["table"]), given["settings"] or []
    draws, seeds = given["draws"], given["seeds"]
    rows = table_rows(table, [given["setting"]] if given["setting"] else SETTINGS)
    named = {setting.partition("=")[0] for setting in settings}
    fields = low_resource_fields(table) if given["low_resource"] else []
    settings = [*(one for one in fields if one.partition("=")[0] not in named), *settings]
    results = run_table(rows, data, Path(given["runs"]), settings, draws, reporter(err=True), seeds)
    typer.echo(table_report(results, table, data, settings, draws, given["style"], seeds))
    if given["output"] is not None:
        write_entries(
            Path(given["output"]), [entry for result in results for draw in result.draws for entry in draw.documents()]
        )


def _show_models(given: Mapping[str, Any], models: Sequence[str], source: PairSource, generation: Generation) -> None:
    """Print the measures of a paper's table for models on rows of a table of texts.

    With `coarse-to-fine`, `models` may include extractive systems. Summaries are written to the file of `--output`.

    Raises:
        InputError: A row that cannot be read; without it, runs would measure different documents.
    """
    from discsum.data.pairs import Pair

    pairs, device = [], given["device"]
    for pair in source.pairs(given["first"], given["last"]):
        if not isinstance(pair, Pair):
            raise InputError(f"{pair.source}: {pair.reason}")
        pairs.append(pair)
    with loading("the models"):
        with as_usage():
            check_device(device)
        from discsum.experiments.coarse_to_fine import measure_chunks
        from discsum.experiments.faster_encoders import measure_encoders
        from discsum.experiments.report import write_entries
        from discsum.parsers.loading import load_parser
    engine = partial(load_parser, given["parser"] or SHIPPED_PARSER, device)
    with counting("evaluated", len(models) * len(pairs)) as show:
        measure = measure_chunks if given["table"] == COARSE_TO_FINE else measure_encoders
        found = measure(models, pairs, engine, generation, show, device)
    typer.echo(found.report(given["style"], source.name))
    if given["output"] is not None:
        write_entries(Path(given["output"]), found.summaries)
