"""The options that a command's results depend on: `--resume` compares them, to never mix different results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from discsum.baselines import BASELINES
from discsum.constants import PARSER_KIND, SUMMARIZER_KIND
from discsum.errors import WeightsError
from discsum.files import sha256
from discsum.persistence import fingerprint
from discsum.signature import Signature

# Digits of a digest that are shown.
SHOWN_DIGITS = 12
# Parameters that name a model, with its kind.
_MODELS = {"model": SUMMARIZER_KIND, "parser": PARSER_KIND}
# Parameters that only set the place, format or speed of results; all others change their content.
_OUTSIDE = {"inputs", "output", "resume", "report", "format", "json", "jsonl", "device", "batch_size"}


def result_options(context: typer.Context) -> str:
    """Return the signature of a command and of its options that differ from their defaults; models as `name@sha256`."""
    given: dict[str, Any] = {}
    for parameter in context.command.params:
        name, value = str(parameter.name), context.params.get(str(parameter.name))
        if name in _OUTSIDE or value in (None, "", [], ()) or value == parameter.get_default(context):
            continue
        if name in _MODELS:
            given[name] = _identity(value, _MODELS[name])
        elif name == "head_files":
            given[name] = [f"{Path(file).name}@{sha256(Path(file))[:SHOWN_DIGITS]}" for file in value]
        else:
            given[name] = value
    return str(Signature.of(command=context.info_name, **given))


def _identity(name: str, kind: str) -> str:
    """Return the name of a model with a digest of its content."""
    if name in BASELINES:
        # Those of other packages have their code as content.
        return "@".join([name, *(digest[-SHOWN_DIGITS:] for digest in BASELINES.code(name).values())])
    try:
        return f"{Path(name).name}@{fingerprint(name, kind)[:SHOWN_DIGITS]}"
    except WeightsError:
        # Reported when the model is loaded, if at all.
        return name
