"""Options of folders of shards, and of the runs that fill them."""

from __future__ import annotations

from typing import Annotated

import typer

from discsum.cli.choices import choice, open_choice
from discsum.cli.command import as_usage
from discsum.data.engines import ENGINES
from discsum.data.parts import Part
from discsum.data.shard_names import FORMATS
from discsum.data.shard_sizes import shard_size

# Section of the help.
_PANEL = "Worker and shard options"


def _known_part(text: str | None) -> str | None:
    if text is not None:
        with as_usage():
            Part.of(text)
    return text


def _known_shard(text: str) -> str:
    with as_usage():
        shard_size(text)
    return text


Shards = Annotated[
    bool,
    typer.Option(
        "--shards",
        help="Write several files to -o FOLDER, with any number of workers. Failed documents are listed "
        "in its failures.jsonl. Repeat the command to resume an interrupted run. The options below need --shards.",
        rich_help_panel=_PANEL,
    ),
]
ShardFormat = Annotated[
    str,
    typer.Option(
        **choice(*FORMATS),
        help="Format of the files, with --shards.",
        rich_help_panel=_PANEL,
    ),
]
ShardSize = Annotated[
    str,
    typer.Option(
        "--shard",
        metavar="N|SIZE",
        callback=_known_shard,
        help="Documents per file, such as 256; or bytes of input per file, such as 8MiB: then the workers read "
        "the input, not the process that starts them.",
        rich_help_panel=_PANEL,
    ),
]
Workers = Annotated[int, typer.Option(min=1, help="Number of parallel workers.", rich_help_panel=_PANEL)]
EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        **open_choice(*ENGINES.own),
        help="Where workers run: local, as processes on this machine; ray, in a Ray instance started on this machine; "
        "ray:ADDRESS, in a Ray cluster.",
        rich_help_panel=_PANEL,
    ),
]
CpusPerWorker = Annotated[
    int | None,
    typer.Option(min=1, help="CPUs of each worker, with --engine ray. Default: 1.", rich_help_panel=_PANEL),
]
GpusPerWorker = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="GPUs of each worker, for example 0.5 for half a GPU, with --engine ray. Default: 1 with --device cuda, "
        "otherwise 0.",
        rich_help_panel=_PANEL,
    ),
]
PartOfShards = Annotated[
    str | None,
    typer.Option(
        "--part",
        metavar="I/N",
        callback=_known_part,
        help="Make only part I of N, for job arrays; run with --finish once all parts are made.",
        rich_help_panel=_PANEL,
    ),
]
Finish = Annotated[
    bool,
    typer.Option(
        "--finish", help="Write the manifest once all parts are made; parses nothing.", rich_help_panel=_PANEL
    ),
]
Verify = Annotated[
    bool,
    typer.Option(
        "--verify",
        help="Check files of earlier runs by checksum, not only by size, and remake damaged ones, also in a finished "
        "folder (but not with --part or --finish).",
        rich_help_panel=_PANEL,
    ),
]
Wait = Annotated[
    bool,
    typer.Option(
        "--wait", help="If another run is working in the folder, wait instead of failing.", rich_help_panel=_PANEL
    ),
]
