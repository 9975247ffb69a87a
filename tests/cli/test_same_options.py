"""Options that several commands have."""

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
