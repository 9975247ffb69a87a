"""Typer apps of commands, all set up the same way, and the options given on the command line."""

from __future__ import annotations

import re
import signal
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import Any

import typer
from typer.core import TyperCommand, TyperOption

from discsum.errors import InputError, warn_caller


class _WholeWords:
    """A help formatter that ends no line inside a hyphenated word, such as the name `tree-knapsack`.

    Typer's formatter breaks words at hyphens, but not at this character of the same width.
    """

    HYPHEN = "\N{NON-BREAKING HYPHEN}"

    def __init__(self, formatter: Any) -> None:
        self._formatter = formatter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._formatter, name)

    def write_text(self, text: str) -> None:
        self._formatter.write_text(text.replace("-", self.HYPHEN))

    def write_dl(self, rows: Sequence[tuple[str, str]], **widths: int) -> None:
        self._formatter.write_dl([(name, text.replace("-", self.HYPHEN)) for name, text in rows], **widths)

    def getvalue(self) -> str:
        return str(self._formatter.getvalue()).replace(self.HYPHEN, "-")


def _number(option: Any) -> str:
    """Return which numbers an option takes, such as `a whole number of at least 1`."""
    kind = "a whole number" if "int" in str(option.type_descriptor.annotation) else "a number"
    least, most = option.min, option.max
    if most is not None:
        return f"{kind} from {least} to {most:g}"
    return kind if least is None else f"{kind} of at least {least}"


class GroupedCommand(TyperCommand):
    """A command whose plain-text help has a section for each `rich_help_panel`, like Rich's help."""

    def get_help(self, ctx: Any) -> str:
        """Return the help; names in it can be copied, because lines end only at spaces."""
        formatter: Any = _WholeWords(ctx.make_formatter())
        self.format_help(ctx, formatter)
        return str(formatter.getvalue()).rstrip("\n")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments; errors about numbers say what was expected, with the option's range, and what came."""
        self._warn_of_repeated(args)
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            for problem in getattr(error.__cause__, "errors", list)()[:1]:
                error.message = f"expected {_number(error.param)}, got {problem['input']!r}"
            raise

    def _warn_of_repeated(self, args: Sequence[str]) -> None:
        """Warn about options with one value that are given several times, of which only the last one counts."""
        options = [one for one in self.params if isinstance(one, TyperOption) and not one.is_flag]
        option_of = {name: option for option in options for name in option.opts}
        times = Counter[str]()
        given = takewhile(lambda argument: argument != "--", args)
        for argument in given:
            name, equals, _ = argument.partition("=")
            if (option := option_of.get(name)) is not None:
                times[max(option.opts, key=len)] += not option.multiple
                if not equals:
                    # Its value may look like an option.
                    next(given, None)
        for name in (name for name, count in times.items() if count > 1):
            message = f"{name}: given {times[name]} times; only the last one counts"
            warn_caller(message)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, options without a panel, and the panels in order of their first options."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
                # One value at a time, also of options that may be repeated; ranges follow the help.
                shown = re.sub(r"<(?:list\[)?(\w+)(?: range)?\]?>", r"<\1>", record[0]), record[1]
                sections.setdefault(getattr(parameter, "rich_help_panel", None) or usual, []).append(shown)
        for name, records in sections.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


class _CommandApp(typer.Typer):
    def command(
        self, name: str | None = None, *, cls: type[TyperCommand] | None = GroupedCommand, **settings: Any
    ) -> Any:
        return super().command(name, cls=cls, **settings)


def command_app(**settings: Any) -> typer.Typer:
    """Return an app with plain-text help, which wraps between words at any width; Rich breaks words in columns."""
    return _CommandApp(rich_markup_mode=None, add_completion=False, **settings)


@contextmanager
def ending_on_sigterm() -> Iterator[None]:
    """Exit with code 143 on SIGTERM through an exception, so that locks are released and workers end.

    Clusters end jobs with SIGTERM and may restart them at once. Do not use this for training: a process that waits for
    others in native code does not run Python's signal handlers.
    """

    def end(number: int, frame: object) -> None:
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def as_usage() -> Iterator[None]:
    """Turn an `InputError` in the block into `BadParameter`, which exits with code 2."""
    try:
        yield
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


def given_options(context: typer.Context) -> dict[str, str]:
    """Return the parameters given on the command line, by name, each with its longest option such as `--output`."""
    given = {}
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if source is not None and source.name != "DEFAULT":
            given[name] = max(parameter.opts, key=len)
    return given


def check_unused(context: typer.Context, used: Collection[str], where: str) -> None:
    """Raise `BadParameter` for options given on the command line that are not in `used`; `where` ends the message."""
    unused = [option for name, option in given_options(context).items() if name not in used]
    if unused:
        raise typer.BadParameter(f"{', '.join(sorted(unused))} cannot be used {where}")
