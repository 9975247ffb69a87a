"""The Typer app: the commands, `--version`, and exit codes of errors."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

import discsum
from discsum.cli.progress import say
from discsum.cli.streams import buffer_output, drop_unwritten, replace_closed
from discsum.constants import COMMAND_LINE
from discsum.errors import DiscsumError, InputWarning, message_of

# Commands and their summaries in `discsum --help`. Each command is a module of `discsum.cli`.
COMMANDS = {
    "parse": "Turn raw text into discourse trees, or convert tree files.",
    "extract": "Summarize texts by their most important sentences or EDUs.",
    "abstract": "Write abstractive summaries with a sequence-to-sequence model.",
    "preprocess": "Parse, label and encode texts with summaries, for training.",
    "train": "Train a parser or a summarizer, or resume its training.",
    "evaluate": "Evaluate parsers on gold trees, summarizers on references.",
    "analyze": "Measure sequence-to-sequence models, corpora and trees.",
}
# Number of different warnings that are remembered, so that those about an option, a model or a table, which every
# document or batch causes, are shown once. Python's own filter starts again whenever some code catches warnings.
_REMEMBERED = 10_000


class LazyGroup(TyperGroup):
    """Imports a command's module only when the command runs, so that `discsum --help` is fast."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return name, command and remaining arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        if name:
            command = typer.main.get_command(import_module(f"discsum.cli.{name}").app)
        return name, command, rest


app = typer.Typer(
    name="discsum",
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, _summary in COMMANDS.items():
    app.command(_name, help=_summary)(lambda: None)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"discsum {discsum.__version__}")
        raise typer.Exit


@app.callback(epilog="Example: discsum extract article.txt --units 3")
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Raw English text to RST discourse tree to summary, offline."""


class _WarningPrinter:
    """Prints an `InputWarning` on one line, and other warnings in Python's format."""

    def __init__(self) -> None:
        """Start with no warning shown."""
        self._shown: set[str] = set()

    def __call__(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        """Print a warning, unless the same one was shown before."""
        if not issubclass(category, InputWarning):
            say(warnings.formatwarning(message, category, filename, lineno, line).rstrip("\n"))
            return
        told = str(message)
        if told not in self._shown:
            say(f"discsum: {told}")
            if len(self._shown) < _REMEMBERED:
                self._shown.add(told)


def main() -> None:
    """Run the command line; a `DiscsumError` becomes one line on standard error and exit code 1."""
    replace_closed()
    buffer_output()
    # Silences progress bars and warnings of transformers; workers inherit these variables.
    os.environ |= {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "TRANSFORMERS_VERBOSITY": "error", COMMAND_LINE: "1"}
    warnings.showwarning = _WarningPrinter()
    warnings.simplefilter("always", InputWarning)
    # Reports have a line about it.
    warnings.filterwarnings("ignore", "intervals and p-values are too small", InputWarning)
    if "" in sys.argv[1:]:
        # Python takes an empty path for the working directory, which would hide an unset shell variable.
        place = sys.argv.index("", 1)
        before = f" after {sys.argv[place - 1]}" if place > 1 else ""
        typer.echo(f"discsum: expected no empty argument, got one{before}; is a shell variable unset?", err=True)
        sys.exit(2)
    results = sys.stdout
    try:
        app()
    except SystemExit:
        if sys.stdout is not results:
            # The reader closed the pipe, for example `head`; Typer has wrapped the stream, which fails again at exit.
            sys.stdout = results
            drop_unwritten()
        raise
    except BrokenPipeError:
        drop_unwritten()
        sys.exit(1)
    except (DiscsumError, OSError) as error:
        typer.echo(f"discsum: {message_of(error)}", err=True)
        drop_unwritten()
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
