"""The options that a command's results depend on: `--resume` compares them, to never mix different results."""

from __future__ import annotations

from pathlib import Path

import typer

from discsum.errors import WeightsError
from discsum.persistence import fingerprint
from discsum.signature import Signature

# Parameters that only set the place, format or speed of results; all others change their content.
_OUTSIDE = {"inputs", "output", "resume", "report", "format", "json", "jsonl", "device", "batch_size"}


def result_options(context: typer.Context) -> str:
    """Return the signature of a command and of its options that differ from their defaults; models as `name@sha256`."""
    given = {}
    for parameter in context.command.params:
        name, value = str(parameter.name), context.params.get(str(parameter.name))
        if name in _OUTSIDE or value in (None, "", [], ()) or value == parameter.get_default(context):
            continue
        given[name] = _identity(value) if name in ("model", "parser") else value
    return str(Signature.of(command=context.info_name, **given))


def _identity(name: str) -> str:
    try:
        return f"{Path(name).name}@{fingerprint(name)[:12]}"
    except WeightsError:
        # A baseline, or a model on the hub.
        return name
