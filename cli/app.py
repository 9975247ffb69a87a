"""The Typer app: its commands, its version, and how errors end it."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

import discsum
from discsum.cli.abstract import abstract
from discsum.cli.analyze import app as analyze
from discsum.cli.evaluate import evaluate
from discsum.cli.extract import extract
from discsum.cli.parse import parse
from discsum.cli.preprocess import preprocess
from discsum.cli.train import TrainCommand, train
from discsum.errors import DiscsumError

app = typer.Typer(
    name="discsum",
    help="Raw English text to RST discourse tree to summary, offline.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(parse)
app.command()(extract)
app.command()(abstract)
app.command()(preprocess)
app.command(cls=TrainCommand)(train)
app.command()(evaluate)
app.add_typer(analyze, name="analyze")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"discsum {discsum.__version__}")
        raise typer.Exit


@app.callback(epilog="Example: discsum parse article.txt   discsum extract article.txt --units 3")
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Raw English text to RST discourse tree to summary, offline."""


def main() -> None:
    """Run the command line; an error of discsum's own is one line on standard error and exit code 1."""
    try:
        app()
    except DiscsumError as error:
        typer.echo(f"discsum: {error}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        # The reader closed the pipe, as `head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        known = error.filename is not None and error.strerror
        typer.echo(f"discsum: {error.filename}: {error.strerror}" if known else f"discsum: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
