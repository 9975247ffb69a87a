"""`discsum train`: a recipe and data to a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from discsum.cli.progress import quiet, reporter
from discsum.errors import InputError
from discsum.files import replacing

if TYPE_CHECKING:
    from discsum.recipes.sources import Rows


def _register(files: list[str] | None) -> list[str] | None:
    if files:
        from discsum.encoder.heads import register_file

        for file in files:
            register_file(file)
    return files


# The files run as soon as the option is read, before any recipe or model asks for their heads.
HeadFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--head-file",
        metavar="FILE.py",
        callback=_register,
        help="Code that makes attention heads known: it calls discsum.encoder.heads.register, and is run as it is.",
    ),
]


class TrainCommand(TyperCommand):
    """`discsum train`, whose help ends with the shipped recipes: the first comment line of each."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        from discsum.recipes import summaries

        super().format_help(ctx, formatter)
        formatter.write("Shipped recipes:\n")
        for recipes in summaries().values():
            formatter.write("\n")
            width = max(len(name) for name in recipes if "{" not in name)
            for name, line in recipes.items():
                formatter.write(f"  {name:{width}}  {line}\n" if "{" not in name else f"  {name}\n    {line}\n")


def train(
    recipe: Annotated[str, typer.Argument(metavar="RECIPE", help="A shipped recipe (parser-gum, ...) or a YAML file.")],
    settings: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", help="Fields of the recipe to change, as seed=2 or data=gum."),
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Folder of the run. Default: runs/RECIPE.")
    ] = None,
    head_files: HeadFiles = None,
    fields: Annotated[
        bool, typer.Option("--fields", help="Print every field of the recipe with value, type, range and help.")
    ] = False,
) -> None:
    """Train a model; started again on the same folder, an interrupted run goes on where it stopped.

    Parsers learn from a folder of GUM, summarizers from tables of texts with summaries or from folders that discsum
    preprocess made. What runs can share, parsed and encoded texts, is kept in folders beside theirs. On several GPUs:
    accelerate launch -m discsum.cli train. Every field of a recipe: discsum train RECIPE --fields

    Example: discsum train parser-gum-first data=gum seed=5 -o runs/parser-gum-5
    """
    from discsum.recipes import read_recipe

    content = read_recipe(recipe, settings or [])
    kind = content.get("kind")
    if kind not in TRAINERS:
        raise InputError(f"{recipe}: expected kind to be one of {', '.join(TRAINERS)}, got {kind!r}")
    if fields:
        from discsum.experiments.recipe_fields import field_report

        typer.echo(field_report(content))
        return
    folder = Path(output or f"runs/{Path(recipe).stem}")
    TRAINERS[kind](content, folder)
    from discsum.training.processes import leave_group

    # Not after an error: the others may wait for this process, which must end at once for their launcher to see it.
    leave_group()


def _train_parser(content: dict[str, Any], folder: Path) -> None:
    from discsum.data.manifest import alone
    from discsum.parsers.training.card import mean_card, parser_card
    from discsum.parsers.training.model_soup import train_seeds
    from discsum.parsers.training.recipe import ParserRecipe
    from discsum.parsers.training.trainer import ParserTrainer
    from discsum.parsers.treebank import read_gum
    from discsum.persistence import CARD
    from discsum.recipes import common_fields

    quiet()
    data, name, notes = common_fields(content)
    recipe = ParserRecipe.from_dict(content)
    train_documents, dev_documents = read_gum(data, "train"), read_gum(data, "dev")
    texts = [text for rows in recipe.texts for text in _texts(data, rows)]
    report = reporter()
    with alone(folder):
        if recipe.seeds:
            runs, scores = train_seeds(recipe, train_documents, dev_documents, folder, name, texts, report)
            card, kept = mean_card(name, recipe, runs, scores, notes), "the mean of the runs' best weights"
        else:
            trainer = ParserTrainer(recipe, train_documents, dev_documents, folder, name, texts, report)
            trainer.run(report)
            card, kept = parser_card(name, recipe, trainer.log, notes), "the weights of the best epoch"
        with replacing(folder / "best" / CARD) as path:
            path.write_text(card, encoding="utf-8")
    typer.echo(f"{folder / 'best'}: {kept}; use them with --parser {folder / 'best'}")


def _texts(data: Path, rows: Rows) -> list[str]:
    """Return the texts of some rows of a table, with or without summaries."""
    from discsum.data.inputs import Item, read_inputs

    texts = []
    for item in read_inputs([str(data / rows.path)], trees=False):
        if not isinstance(item, Item):
            raise InputError(f"texts: {item}")
        texts.append(item.text)
    return texts[rows.first : rows.last]


def _train_summarizer(content: dict[str, Any], folder: Path) -> None:
    from discsum.experiments.training_runs import train_summarizer

    quiet()
    train_summarizer(content, folder, reporter())


def _train_abstractive(content: dict[str, Any], folder: Path) -> None:
    from discsum.experiments.training_runs import train_abstractive

    quiet()
    train_abstractive(content, folder, reporter())


TRAINERS = {"parser": _train_parser, "extractive": _train_summarizer, "abstractive": _train_abstractive}
