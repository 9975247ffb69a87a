"""The options that a command's results depend on, so that `--resume` mixes no results of different ones."""

from __future__ import annotations

from pathlib import Path

import typer

from discsum.errors import WeightsError
from discsum.persistence import fingerprint
from discsum.signature import Signature

# Parameters that say where results go, in what form and how fast; all others change what is in them.
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
