"""`discsum train`: a model from a recipe and data."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Annotated, Any

import typer

from discsum.cli.command import GroupedCommand, command_app
from discsum.cli.completion import recipes as recipe_names
from discsum.cli.options import HeadFiles
from discsum.cli.output_paths import local_folder
from discsum.cli.progress import loading, reporter
from discsum.data.made_folder import is_dataset_folder
from discsum.errors import InputError
from discsum.extras import needs
from discsum.recipes import read_recipe, summaries

app = command_app()


class TrainCommand(GroupedCommand):
    """`discsum train`; its help ends with the shipped recipes and the first comment line of each."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        super().format_help(ctx, formatter)
        formatter.write("\nShipped recipes:\n")
        for recipes in summaries().values():
            formatter.write("\n")
            formatter.write_dl([(_in_lines(name), line) for name, line in recipes.items()], col_max=32)


def _in_lines(name: str) -> str:
    """Return a recipe's name; a name that stands for several, such as `xiao2020/{a,b}`, is wrapped after commas."""
    words = name.replace(",", ", ")
    return "\n    ".join(line.replace(", ", ",") for line in textwrap.wrap(words, 74, break_on_hyphens=False))


@app.command(cls=TrainCommand)
def train(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE", autocompletion=recipe_names, help="A shipped recipe (parser-gum, ...) or a YAML file."
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", help="Fields of the recipe to change, for example seed=2 or data=gum."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            callback=local_folder,
            help="Folder of the run. Default: runs/NAME, the last part of RECIPE.",
        ),
    ] = None,
    head_files: HeadFiles = None,
    fields: Annotated[
        bool, typer.Option("--fields", help="Print every field of the recipe with value, type, range and help.")
    ] = False,
) -> None:
    """Train a parser or a summarizer, or resume its training.

    Repeat the command to resume an interrupted run. Parsers learn from a folder of trees, summarizers from tables of
    texts with summaries or from folders that discsum preprocess made. Parsed and encoded texts are cached in sibling
    folders for other runs. On several GPUs: accelerate launch -m discsum train.

    Example: discsum train parser data=trees seed=5 -o runs/parser-5
    """
    content = read_recipe(recipe, settings or [])
    with loading("the training code"):
        if not fields:
            with needs("accelerate"):
                # First, because the code also needs another extra, which this one includes.
                import accelerate  # noqa: F401
        from discsum.experiments import training_runs
    try:
        training_runs.check_kind(content)
    except InputError as error:
        raise InputError(f"{recipe}: {error}") from error
    if fields:
        from discsum.experiments.recipe_fields import field_report

        typer.echo(field_report(content))
        return
    # Not `stem`, which would cut `sparsity-0.1`.
    name = Path(recipe).name.removesuffix(".yaml").removesuffix(".yml")
    run = Path(output or f"runs/{name}")
    if is_dataset_folder(run):
        raise InputError(f"{run}: expected the folder of a run, or a new one, got a dataset folder; choose another -o")
    training_runs.train(content, run, reporter())
