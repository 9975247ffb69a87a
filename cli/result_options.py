"""The options that a command's results depend on: `--resume` compares them, to never mix different results."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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
# Parameters that only set the place, format or speed of results; all others change their content.
_OUTSIDE = {"inputs", "output", "resume", "report", "format", "json", "jsonl", "device", "batch_size"}


def summarizer_identity(name: str) -> str:
    """Return the name of a baseline or summarizer with a digest of its content."""
    if name in BASELINES:
        # Those of other packages have their code as content.
        return "@".join([name, *(digest[-SHOWN_DIGITS:] for digest in BASELINES.code(name).values())])
    return with_digest(name, partial(fingerprint, kind=SUMMARIZER_KIND))


def with_digest(name: str, digest: Callable[[str], str]) -> str:
    """Return the name of a model with its digest, or the name alone if there is no such model."""
    try:
        return f"{Path(name).name}@{digest(name)[:SHOWN_DIGITS]}"
    except WeightsError:
        # Reported when the model is loaded, if at all.
        return name


def result_options(context: typer.Context, model: Callable[[str], str] = summarizer_identity) -> str:
    """Return the signature of a command and of its options that differ from their defaults; models as `name@sha256`.

    Args:
        context: Context of the command.
        model: Returns the value of `--model` with a digest of its content.
    """
    given: dict[str, Any] = {}
    for parameter in context.command.params:
        name, value = str(parameter.name), context.params.get(str(parameter.name))
        if name in _OUTSIDE or value in (None, "", [], ()) or value == parameter.get_default(context):
            continue
        if name == "model":
            given[name] = model(value)
        elif name == "parser":
            given[name] = with_digest(value, partial(fingerprint, kind=PARSER_KIND))
        elif name == "head_files":
            given[name] = [f"{Path(file).name}@{sha256(Path(file))[:SHOWN_DIGITS]}" for file in value]
        else:
            given[name] = value
    return str(Signature.of(command=context.info_name, **given))
