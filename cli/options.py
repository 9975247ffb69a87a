"""Options of several commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from discsum.abstractive.sparse.selectors import SELECTORS
from discsum.cli.completion import choice, parsers, selectors
from discsum.constants import AUTO, DECLARED, INPUTS, PRECISIONS, ROOTS, SENTENCES, UNATTACHED
from discsum.data.encodings import check_encoding
from discsum.data.engines import ENGINES
from discsum.data.parts import Part
from discsum.data.shard_names import FORMATS
from discsum.data.shard_sizes import shard_of
from discsum.errors import InputError
from discsum.format_registry import readable
from discsum.registry import suggestion


def _known_encoding(name: str) -> str:
    if name != DECLARED:
        try:
            check_encoding(name)
        except InputError as error:
            raise typer.BadParameter(str(error)) from error
    return name


def _known_part(text: str | None) -> str | None:
    if text is not None:
        try:
            Part.of(text)
        except InputError as error:
            raise typer.BadParameter(str(error)) from error
    return text


def _known_shard(text: str) -> str:
    try:
        shard_of(text)
    except InputError as error:
        raise typer.BadParameter(str(error)) from error
    return text


def _known(*choices: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        if value not in choices:
            expected = f"expected one of {', '.join(choices)}, got {value!r}{suggestion(value, choices)}"
            raise typer.BadParameter(expected)
        return value

    return check


Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT",
        help="Text files, folders, patterns or URLs of these, - for standard input, .jsonl(.gz), .csv, .tsv or "
        f".parquet tables, or trees ({' '.join(f'.{name}' for name in readable(installed=False))}).",
        show_default=False,
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        help="A file, or a folder (a path without suffix) for one file per document. Default: standard output.",
    ),
]
Encoding = Annotated[
    str,
    typer.Option(
        callback=_known_encoding,
        help=f"Encoding of the inputs; {DECLARED}: as an rs3, rs4 or HTML file declares, otherwise UTF-8.",
    ),
]
MaxDocumentBytes = Annotated[
    int,
    typer.Option(
        min=1,
        help="Largest size in bytes of a file, or of a line or field of a table; a larger document fails. "
        "Default: 64 MiB.",
        show_default=False,
    ),
]
Roots = Annotated[
    str,
    typer.Option(
        **choice(*ROOTS),
        callback=_known(*ROOTS),
        help="Trees with several roots or unattached segments: join all in text order under the relation "
        f"{UNATTACHED}, drop what is not under the largest root, or refuse the file with an error.",
    ),
]
Input = Annotated[
    str,
    typer.Option(
        "--input",
        **choice(AUTO, *INPUTS),
        callback=_known(AUTO, *INPUTS),
        help=f"Markup of the texts; {AUTO}: by the ending of the file (.html .htm .md .markdown).",
    ),
]
TextColumn = Annotated[str | None, typer.Option(help="Column of the texts. Default: article or text.")]
Sentences = Annotated[
    str,
    typer.Option(
        **choice(*SENTENCES),
        help="Sentence segmentation: by the parser, by NLTK's Punkt model (downloaded once), or one sentence per line.",
    ),
]
ParserName = Annotated[str, typer.Option("--parser", autocompletion=parsers, help="Name or folder of a parser.")]
Device = Annotated[str, typer.Option(help="Device of the models: cpu, cuda, ...")]
Precision = Annotated[
    str,
    typer.Option(
        **choice(*PRECISIONS),
        callback=_known(*PRECISIONS),
        help="Precision of the parser's encoder; bf16 and fp16 are faster on GPUs and change some trees.",
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Continue an interrupted run with the same options: keep the files in -o FOLDER, or the JSON lines in "
        "-o FILE, and skip their documents.",
    ),
]
BatchSize = Annotated[int, typer.Option(min=1, help="Documents processed together.")]
# Options of folders of shards, and of the runs that fill them.
Shards = Annotated[
    bool,
    typer.Option(
        "--shards",
        help="Write JSON lines to several files in -o FOLDER, with any number of workers, and documents that fail to "
        "its failures.jsonl. Repeat the command to resume an interrupted run. The options below need it.",
    ),
]
ShardFormat = Annotated[
    str, typer.Option(**choice(*FORMATS), callback=_known(*FORMATS), help="Format of the files, with --shards.")
]
ShardSize = Annotated[
    str,
    typer.Option(
        "--shard",
        metavar="N|SIZE",
        callback=_known_shard,
        help="Documents per file; or bytes of input per file, as 8MiB, which workers read without the driver.",
    ),
]
Workers = Annotated[int, typer.Option(min=1, help="Number of parallel workers.")]
EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        **choice(*ENGINES.own),
        help="Where workers run: local, as processes of this machine; ray, in a Ray of this machine; ray:ADDRESS, in a "
        "Ray cluster.",
    ),
]
CpusPerWorker = Annotated[int | None, typer.Option(min=1, help="CPUs of each worker, with --engine ray. Default: 1.")]
GpusPerWorker = Annotated[
    float | None,
    typer.Option(min=0, help="GPUs of each worker, as 0.5 for half of one, with --engine ray. Default: 1 with cuda."),
]
PartOfShards = Annotated[
    str | None,
    typer.Option(
        "--part",
        metavar="I/N",
        callback=_known_part,
        help="Make only part I of N, for jobs of an array; run --finish when all parts are made.",
    ),
]
Finish = Annotated[
    bool,
    typer.Option("--finish", help="Write the manifest once all parts are there; parses nothing."),
]
Verify = Annotated[bool, typer.Option("--verify", help="Check files of earlier runs by checksum, not only by size.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait while another run works in the folder, instead of failing.")]
SEQUENCE_MODEL = (
    "Folder of a sequence-to-sequence model with its tokenizer (BART, PEGASUS, LED, T5, LongT5 and others), or hf:NAME "
    "from the hub."
)
# Options of generation.
Selector = Annotated[
    str | None,
    typer.Option(
        autocompletion=selectors,
        help=f"Selector of the sentences that each step reads: all, {', '.join(SELECTORS.own)}. "
        "Default: as the model was trained, or all.",
    ),
]
ReadSentences = Annotated[
    int | None,
    typer.Option(
        "--r",
        min=1,
        help="Number of selected sentences. A document of fewer than 3.5 * (r + 2) sentences, 42 for --r 10, is read "
        "whole, because that is faster. Default: as the model was trained, or all.",
    ),
]
Beams = Annotated[int, typer.Option(min=1, help="Number of beams.")]
MinTokens = Annotated[int | None, typer.Option(min=1, help="Minimum number of tokens of the summary.")]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Maximum number of tokens of the summary.")]
LengthPenalty = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Exponent of the length penalty of Wu et al. 2016. Default: the model's own penalty; with "
        "--coverage-penalty none.",
    ),
]
CoveragePenalty = Annotated[
    float | None,
    typer.Option(min=0, help="Weight of the penalty for reading the same words again, for models with copy attention."),
]
Truncate = Annotated[bool, typer.Option("--truncate", help="Truncate texts that are longer than the model's input.")]
BlockTrigrams = Annotated[
    bool | None,
    typer.Option(
        "--block-trigrams/--no-block-trigrams",
        help="Skip units that share a trigram with the summary; sequence-to-sequence models write no trigram twice. "
        "Default: as the model was trained.",
    ),
]
Redundancy = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Penalty on a unit's log-odds, times the share of its bigrams that are in the summary; trained models "
        "only, 0 for none. Default: as the model was trained.",
    ),
]
Brevity = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Penalty on a unit's log-odds for each word of an EDU, or each word after the 20th of a sentence; trained "
        "models only, 0 for none. Default: as the model was trained.",
    ),
]

# Set by other command-line options.
NO_OPTIONS = ("name_or_path", "selector", "r", "share_beams", "device", "untrained")


def selector_options(given: Sequence[str], taken: Sequence[str] = NO_OPTIONS) -> dict[str, Any]:
    """Return the options of a selector from `key=value` entries with YAML values.

    Raises:
        InputError: An entry of another form, or a key in `taken`.
    """
    from discsum.recipes.yaml_values import parse_yaml

    found = {}
    for entry in given:
        key, equals, value = entry.partition("=")
        if not equals or not key:
            raise InputError(f"expected an option of a selector as key=value, got {entry!r}")
        if key.strip() in taken:
            raise InputError(f"expected an option of the selector itself, got {key.strip()!r}, which is none")
        found[key.strip()] = parse_yaml(value, entry)
    return found
