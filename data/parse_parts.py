"""`discsum parse --shards`: parse documents with any number of workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from discsum.constants import EDUS, PRECISIONS, SENTENCES, SHIPPED_PARSER
from discsum.data.input_source import InputSource
from discsum.data.inputs import Item
from discsum.data.manifest import COMMAND
from discsum.data.part_maker import Division, PartMaker, part_job
from discsum.data.preprocess_recipe import own_makers
from discsum.data.shard_run import ShardJob, absolute
from discsum.data.storage import Location
from discsum.recipes.fields import Checked, ModelName, about, one_of

if TYPE_CHECKING:
    from discsum.parsers.parser import Parser

PARSE = "parse"


@dataclass(frozen=True)
class ParseRecipe(Checked):
    """The options of parsing."""

    parser: Annotated[ModelName, about("Name or folder of the parser.")] = SHIPPED_PARSER
    sentences: Annotated[str, one_of(SENTENCES, "Sentence segmentation.")] = "model"
    edus: Annotated[str, one_of(EDUS, "EDU segmentation: the parser's, or one EDU per line.")] = "model"
    precision: Annotated[str, one_of(PRECISIONS, "Numeric precision of the parser's encoder.")] = "fp32"


@dataclass(frozen=True)
class ParseMaker(PartMaker):
    """Writes parts of parsed documents.

    Attributes:
        recipe: Options of parsing, paths absolute.
    """

    recipe: ParseRecipe
    command = PARSE

    def makers(self) -> dict[str, str]:
        """Return the version of discsum and the fingerprint of the parser."""
        return own_makers(self.recipe.parser)

    def load(self) -> None:
        """Load the parser."""
        _ = self.parser

    def objects(self, items: Sequence[Item]) -> list[dict[str, Any]]:
        """Return the JSON object of each document, as in `discsum parse --format json`."""
        from discsum.parsers.parsing import ensure_parsed

        recipe = self.recipe
        parsed = ensure_parsed(items, lambda: self.parser, sentences=recipe.sentences, edus=recipe.edus)
        return [item.document.to_json() for item in parsed]

    @cached_property
    def parser(self) -> Parser:
        """The parser, loaded once per process."""
        from discsum.parsers.loading import load_parser

        return load_parser(self.recipe.parser, self.device, self.recipe.precision)


def parse_job(source: InputSource, folder: Location, recipe: ParseRecipe, division: Division) -> ShardJob[Item]:
    """Return the job of a folder of parsed documents, for `make_all`, `make_part` and `finish` of `shard_run`.

    Args:
        source: Texts and parsed documents.
        folder: Folder of the parts.
        recipe: Options of parsing.
        division: How documents are divided among files.

    Raises:
        InputError: As for `part_job`.
        WeightsError: No such parser.
    """
    made_by = own_makers(recipe.parser)
    elsewhere = replace(recipe, parser=absolute(recipe.parser))

    def maker(place: Location, digest: str, device: str) -> ParseMaker:
        return ParseMaker(place, digest, made_by, device, division, elsewhere)

    return part_job(source, folder, division, {COMMAND: PARSE} | recipe.to_dict(), made_by, maker)
