"""`discsum abstract --shards`: write abstractive summaries with any number of workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from discsum.abstractive.families import family_of
from discsum.abstractive.folder import identity
from discsum.data.input_source import InputSource
from discsum.data.inputs import Item
from discsum.data.manifest import COMMAND
from discsum.data.part_maker import Division, PartMaker, part_job
from discsum.data.preprocess_recipe import own_makers
from discsum.data.shard_run import ShardJob, absolute
from discsum.data.storage import Location

if TYPE_CHECKING:
    from discsum.abstractive.generation import AbstractiveOptions
    from discsum.abstractive.pipeline import AbstractivePipeline

ABSTRACT = "abstract"


@dataclass(frozen=True)
class AbstractiveMaker(PartMaker):
    """Writes parts of abstractive summaries.

    Attributes:
        options: Options of the summaries, with absolute paths; `device` overrides their device.
        model: Name of the model as it was given, for the summaries.
    """

    options: AbstractiveOptions
    model: str
    command = ABSTRACT

    def makers(self) -> dict[str, str]:
        """Return the identities of the program, the parser and the model."""
        return _makers(self.options)

    def load(self) -> None:
        """Load the model and the parser."""
        from discsum.parsers.loading import load_parser

        load_parser(self.options.parser, self.device)
        _ = self.pipeline

    def objects(self, items: Sequence[Item]) -> list[dict[str, Any]]:
        """Return each document's summary as the object of `discsum abstract --json`."""
        return [summary.to_json() | {"model": self.model} for summary in self.pipeline(items)]

    @cached_property
    def pipeline(self) -> AbstractivePipeline:
        """The pipeline, loaded once per process."""
        from discsum.abstractive.pipeline import AbstractivePipeline

        return AbstractivePipeline.load(replace(self.options, device=self.device))


def abstract_job(
    source: InputSource, folder: Location, options: AbstractiveOptions, division: Division
) -> ShardJob[Item]:
    """Return the job that writes a folder of abstractive summaries, for `make_all`, `make_part` and `finish`.

    Args:
        source: Texts and parsed documents.
        folder: Folder of the parts.
        options: Options of the summaries; the run chooses the device.
        division: How documents are divided among files, which are JSON lines: the fields depend on the model.

    Raises:
        InputError: As for `part_job`.
        WeightsError: No such model or parser, or a model of another kind.
    """
    made_by = _makers(options)
    # Refuses models of other kinds before the folder is begun.
    family_of(options.model)
    elsewhere = replace(options, model=absolute(options.model), parser=absolute(options.parser))

    def maker(place: Location, digest: str, device: str) -> AbstractiveMaker:
        return AbstractiveMaker(place, digest, made_by, device, division, elsewhere, options.model)

    own = {"model": options.model, "sentences": options.sentences, "parser": options.parser}
    content = {**options.settings, **asdict(options.generation), **own, COMMAND: ABSTRACT}
    return part_job(source, folder, division, content, made_by, maker)


def _makers(options: AbstractiveOptions) -> dict[str, str]:
    return own_makers(options.parser) | {"model": identity(options.model)}
