"""`discsum extract --shards`: write extractive summaries with any number of workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discsum.baselines import BASELINES
from discsum.constants import PARSER_KIND, SHIPPED_PARSER, SUMMARIZER_KIND
from discsum.data.input_source import InputSource
from discsum.data.inputs import Item
from discsum.data.manifest import COMMAND
from discsum.data.part_maker import Division, PartMaker, part_job
from discsum.data.shard_run import ShardJob, absolute
from discsum.data.storage import Location
from discsum.encoder.heads import HEADS
from discsum.files import sha256
from discsum.persistence import fingerprint
from discsum.summarizer.options import SHIPPED, SummaryOptions, check_parser, is_baseline

if TYPE_CHECKING:
    from discsum.summarizer.pipeline import SummaryPipeline

EXTRACT = "extract"


@dataclass(frozen=True)
class SummaryMaker(PartMaker):
    """Writes parts of summaries.

    Attributes:
        options: Options of the summaries, with absolute paths; `device` overrides their device.
        head_files: Absolute paths of Python files that register heads of the model.
    """

    options: SummaryOptions
    head_files: tuple[str, ...] = ()
    command = EXTRACT

    def makers(self) -> dict[str, str]:
        """Return the identities of the program, the model or parser, and the head files."""
        return _makers(self.options, self.head_files)

    def load(self) -> None:
        """Load the models."""
        _ = self.pipeline

    def objects(self, items: Sequence[Item]) -> list[dict[str, Any]]:
        """Return each document's summary as the object of `discsum extract --json`."""
        return [summary.to_json() for summary in self.pipeline(items)]

    @cached_property
    def pipeline(self) -> SummaryPipeline:
        """The summary pipeline, loaded once per process."""
        from discsum.summarizer.loading import load_pipeline

        for file in self.head_files:
            HEADS.register_file(file)
        return load_pipeline(replace(self.options, device=self.device))


def summary_job(
    source: InputSource,
    folder: Location,
    options: SummaryOptions,
    division: Division,
    head_files: Sequence[str] = (),
) -> ShardJob[Item]:
    """Return the job that writes a folder of summaries.

    Run it with `make_all`, or with `make_part` and `finish`, of `discsum.data.shard_run`.

    Args:
        source: Texts and parsed documents.
        folder: Folder of the parts.
        options: Options of the summaries; the run chooses the device.
        division: How documents are divided among files.
        head_files: Python files that register heads of the model.

    Raises:
        TypeError: A loaded model or parser, which workers cannot load.
        InputError: A parser other than the model's own; and as in `part_job`.
        WeightsError: No such model or parser.
    """
    files = tuple(str(Path(file).absolute()) for file in head_files)
    made_by = _makers(options, files)
    if options.parser is not None and not is_baseline(options.model):
        from discsum.summarizer.folder import read_summarizer_config

        own = read_summarizer_config(_model(options))
        check_parser(own.name, own.fingerprint, options.parser)
    model, parser = (None if name is None else absolute(name, BASELINES) for name in _names(options))
    elsewhere = replace(options, model=model, parser=parser)

    def maker(place: Location, digest: str, device: str) -> SummaryMaker:
        return SummaryMaker(place, digest, made_by, device, division, elsewhere, files)

    content = {name: value for name, value in asdict(options).items() if name != "device"}
    return part_job(source, folder, division, content | {COMMAND: EXTRACT}, made_by, maker)


def _names(options: SummaryOptions) -> list[str | None]:
    """Return the names of model and parser; raise `TypeError` for loaded ones."""
    given = {"model": options.model, "parser": options.parser}
    for option, value in given.items():
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{option}: expected a name, by which workers load it, got {value!r}")
    return [value if value is None else str(value) for value in given.values()]


def _makers(options: SummaryOptions, head_files: Sequence[str]) -> dict[str, str]:
    """Return the identities of the program, of the model, or of the parser for a baseline, and of head files.

    A trained model's fingerprint covers its parser, whose fingerprint is part of the model's configuration.
    """
    name, parser = _names(options)
    made = {"discsum": version("discsum")}
    if head_files:
        made["head_files"] = ", ".join(f"{Path(file).name}@{sha256(Path(file))}" for file in head_files)
    if is_baseline(name):
        found = fingerprint(parser or SHIPPED_PARSER, PARSER_KIND)
        return made | {"parser": found} | BASELINES.code(str(name))
    return made | {"model": fingerprint(_model(options), SUMMARIZER_KIND)}


def _model(options: SummaryOptions) -> str:
    """Return the name of the trained model."""
    return str(options.model or SHIPPED[options.unit or "sentence"])
