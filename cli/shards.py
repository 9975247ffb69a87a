"""Folders of shards, which `preprocess` and, with `--shards`, `parse`, `extract` and `abstract` fill."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from discsum.cli.command import as_usage, check_unused, ending_on_sigterm, given_options
from discsum.cli.documents import FAILED, SOME_FAILED
from discsum.cli.output_paths import check_outside, check_writable
from discsum.cli.progress import can_redraw, counting, say
from discsum.data.claims import is_finished
from discsum.data.engines import engine_of
from discsum.data.manifest import MANIFEST, failures_told
from discsum.data.parts import Part
from discsum.data.shard_sizes import DOCUMENTS, shard_size
from discsum.data.storage import Location, location
from discsum.data.tables import TABLES
from discsum.errors import number_of

if TYPE_CHECKING:
    from discsum.data.shard_run import ShardJob

SHARDS = "--shards"
# Parameters that need --shards.
OF_SHARDS = (
    *("shard", "shard_format", "workers", "engine", "cpus_per_worker", "gpus_per_worker"),
    *("part", "finish", "verify", "wait"),
)


def check_no_shards(context: typer.Context) -> None:
    """Raise `BadParameter` if an option that needs `--shards` is given without it."""
    check_unused(context, context.params.keys() - {*OF_SHARDS}, f"without {SHARDS}")


def shard_folder(context: typer.Context, inputs: Sequence[str], refused: Sequence[str]) -> Location:
    """Return the folder that `--shards` fills.

    Args:
        context: Context of a command with the option `output`.
        inputs: Arguments of the command line that name inputs.
        refused: Parameters that have no meaning with `--shards`.

    Raises:
        BadParameter: No output folder is given, or a file, or one of the refused options.
        InputError: A folder that cannot be written, or is in one of the inputs.
    """
    given = [option for name, option in given_options(context).items() if name in refused]
    if given:
        raise typer.BadParameter(f"cannot be combined with {', '.join(sorted(given))}", param_hint=SHARDS)
    output = context.params["output"]
    if output in (None, "-"):
        raise typer.BadParameter("needs -o FOLDER", param_hint=SHARDS)
    folder = location(output)
    if isinstance(folder, Path):
        if folder.name.lower().endswith((*TABLES, ".json", ".txt")) and not folder.is_dir():
            raise typer.BadParameter(
                f"expected a folder for --shards, got {output}; leave out the suffix", param_hint="-o"
            )
        check_fillable(folder)
    check_outside(folder, inputs)
    return folder


def check_fillable(folder: Path, option: str = "--output") -> None:
    """Raise `InputError` for an output folder that cannot be written, unless it is finished, and is only checked."""
    if not is_finished(folder):
        check_writable(folder, folder=True, option=option)


def fill(job_of: Callable[[], ShardJob[Any]], given: Mapping[str, Any], count: Callable[[], int | None]) -> None:
    """Fill a folder of shards, or a part of it, or finish it; exit with the documented code.

    Args:
        job_of: Returns the job; called after the options are checked.
        given: Parameters of the command: those of `OF_SHARDS`, and `device`.
        count: Counts the documents, for the progress bar. Counting may read all inputs, so it is left out if shards
            are sized in bytes, because the driver need not read the inputs then.
    """
    from discsum.data.run_options import RunOptions
    from discsum.data.shard_run import finish, make_all, make_part

    part = given["part"]
    if part and given["finish"]:
        raise typer.BadParameter("expected --part or --finish, got both")
    options = {name: given[name] for name in ("device", "cpus_per_worker", "gpus_per_worker")}
    with as_usage():
        engine = engine_of(given["engine"], given["workers"], **options)
    counted = can_redraw() and not part and shard_size(given["shard"])[1] == DOCUMENTS
    with ending_on_sigterm(), counting("done", count() if counted else None) as counter:
        run = RunOptions(
            engine=engine,
            device=given["device"],
            wait=given["wait"],
            verify=given["verify"],
            report=counter,
            skip=counter.skip,
            warn=lambda line: say(f"discsum: {line}"),
        )
        job = job_of()
        folder = job.folder
        if part:
            files = number_of(make_part(job, Part.of(part), run), "file")
            if (folder / MANIFEST).is_file():
                say(f"{folder}: finished, nothing is left to do for part {part}")
                return
            say(f"{folder}: part {part} is done ({files}); when all parts are done, run this with --finish")
            return
        manifest = (finish if given["finish"] else make_all)(job, run)
    say(f"{folder}: {number_of(manifest.documents, 'document')} in {number_of(len(manifest.shards), 'file')}")
    if manifest.failed:
        say(f"discsum: {failures_told(folder, manifest.failed, 'failed')}")
        raise typer.Exit(SOME_FAILED if manifest.documents else FAILED)
