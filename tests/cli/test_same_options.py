"""Options that several commands have."""

import json
import re

import pytest
from typer.main import get_command

from discsum.cli.app import COMMANDS


def commands():
    """Return the commands by name, with those of groups, such as `analyze corpus`."""
    found = {}
    for name in COMMANDS:
        command = get_command(__import__(f"discsum.cli.{name}", fromlist=["app"]).app)
        inner = getattr(command, "commands", None)
        found |= {name: command} if inner is None else {f"{name} {key}": one for key, one in inner.items()}
    return found


def options(name):
    """Return each command's option with this name, or with this short name, by command."""
    return {
        command: parameter for command, one in commands().items() for parameter in one.params if name in parameter.opts
    }


@pytest.mark.parametrize("name", ["--parser", "--model"])
def test_models_may_be_on_the_hub(name):
    for command, option in options(name).items():
        assert re.search(r"\bhf:NAME (from|of|on) ", option.help), command


def test_a_short_name_stands_for_the_same_option_everywhere():
    for short, long in (("-o", "--output"), ("-f", "--format"), ("-n", "--units")):
        assert options(short) and options(short).keys() == options(long).keys()


@pytest.mark.parametrize("command", [("parse",), ("extract", "--model", "lead"), ("abstract", "--max-tokens", 3)])
def test_one_input_as_json_and_as_a_json_line(discsum, article, bart_folder, parser_folder, command):
    given = (*command, article, "--parser", parser_folder, *(("--model", bart_folder) if "abstract" in command else ()))
    whole, line = discsum(*given, "--json").out, discsum(*given, "--jsonl").out
    assert (len(whole.splitlines()) > 3, len(line.splitlines())) == (True, 1)
    assert json.loads(whole) == json.loads(line)
    assert discsum(*given, "--json", "--jsonl").out == line


@pytest.mark.parametrize(
    ("command", "option", "value", "expected"),
    [
        ("parse", "--batch-size", "many", "a whole number of at least 1"),
        ("parse", "--batch-size", "0", "a whole number of at least 1"),
        ("parse", "--max-document-bytes", "1MB", "a whole number of at least 1"),
        ("extract", "--words", "1.5", "a whole number"),
        ("extract", "--ratio", "half", "a number"),
        ("extract", "--redundancy", "-1.0", "a number of at least 0"),
        ("abstract", "--length-penalty", "11.0", "a number from 0 to 10"),
        ("analyze corpus", "--documents", "0", "a whole number of at least 1"),
        ("analyze sparsity", "--layer", "last", "a whole number of at least 1"),
    ],
)
def test_errors_about_numbers_name_the_range_and_the_value(discsum, article, command, option, value, expected):
    result = discsum(*command.split(), article, option, value)
    assert (result.code, option in result.err) == (2, True)
    # The first is Discsum's; versions of typer before 0.29 name the value in their own words.
    ours = f"expected {expected}, got '{value}'\n"
    assert ours in result.err or f"'{value}' is not" in result.err or f"{value} is not" in result.err
