"""Options of several commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

import typer

from discsum.abstractive.sparse.costs import GATHERED, SELECTING, whole_below
from discsum.abstractive.sparse.selectors import SELECTORS
from discsum.cli.choices import choice
from discsum.cli.command import as_usage
from discsum.cli.completion import parsers, selectors
from discsum.constants import (
    AUTO,
    COVERAGE_PENALTIES,
    DECLARED,
    DEFAULT_UNITS,
    INPUTS,
    LAYOUTS,
    LENGTH_PENALTIES,
    MAX_DOCUMENT_BYTES,
    PRECISIONS,
    ROOTS,
    SENTENCES,
    UNATTACHED,
    UNITS,
)
from discsum.data.encodings import check_encoding
from discsum.encoder.heads import HEADS
from discsum.errors import InputError
from discsum.format_registry import readable

T = TypeVar("T", str, list[str] | None)

# Sections of the help.
OF_INPUTS = "Input options"
OF_SELECTION = "Selection options"
OF_SEQUENCE_MODELS = "Options for sequence-to-sequence models"


def _known_encoding(name: str) -> str:
    if name != DECLARED:
        with as_usage():
            check_encoding(name)
    return name


def no_standard_input(names: T) -> T:
    """Return the argument of a command that cannot read standard input; a callback.

    Raises:
        BadParameter: `-`, which stands for standard input.
    """
    if "-" in ([names] if isinstance(names, str) else names or ()):
        raise typer.BadParameter("expected a file or folder, got -: this command does not read standard input")
    return names


Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT",
        help="Text files, folders, patterns or URLs of these, - for standard input, .jsonl, .csv or .tsv tables (also "
        f".gz, .zst, ...), .parquet tables, or trees ({' '.join(f'.{name}' for name in readable(installed=False))}).",
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
Json = Annotated[bool, typer.Option("--json", help="Print JSON; several documents: one per line.")]
JsonLines = Annotated[bool, typer.Option("--jsonl", help="Print JSON, one object per line, also of a single document.")]
Encoding = Annotated[
    str,
    typer.Option(
        callback=_known_encoding,
        help=f"Encoding of the inputs; {DECLARED}: the one that an rs3, rs4 or HTML file declares, else that of the "
        "byte order mark (not of tables), else UTF-8.",
        rich_help_panel=OF_INPUTS,
    ),
]
MaxDocumentBytes = Annotated[
    int,
    typer.Option(
        min=1,
        help="Largest size in bytes of a file, or of a line or field of a table; a larger document fails. "
        f"Default: {MAX_DOCUMENT_BYTES >> 20} MiB.",
        show_default=False,
        rich_help_panel=OF_INPUTS,
    ),
]
Roots = Annotated[
    str,
    typer.Option(
        **choice(*ROOTS),
        help="Trees with several roots or unattached segments: join all in text order under the relation "
        f"{UNATTACHED}, drop what is not under the largest root, or refuse the file with an error.",
        rich_help_panel=OF_INPUTS,
    ),
]
Input = Annotated[
    str,
    typer.Option(
        "--input",
        **choice(AUTO, *INPUTS),
        help=f"Markup of the texts; {AUTO}: by the suffix of the file (.html .htm .md .markdown).",
        rich_help_panel=OF_INPUTS,
    ),
]
TextColumn = Annotated[
    str | None, typer.Option(help="Column of the texts. Default: article or text.", rich_help_panel=OF_INPUTS)
]
SummaryColumn = Annotated[
    str | None,
    typer.Option(
        help="Column of the summaries. Default: references, highlights or summary.", rich_help_panel=OF_INPUTS
    ),
]
Sentences = Annotated[
    str,
    typer.Option(
        **choice(*SENTENCES),
        help="Sentence segmentation: by the parser, by NLTK's Punkt model (python -m nltk.downloader punkt_tab), or "
        "one sentence per line.",
        rich_help_panel=OF_INPUTS,
    ),
]
ParserName = Annotated[
    str, typer.Option("--parser", autocompletion=parsers, help="Name or folder of a parser, or hf:NAME from the hub.")
]
Device = Annotated[str, typer.Option(help="Device for the models: cpu, cuda, ...")]
Precision = Annotated[
    str,
    typer.Option(
        **choice(*PRECISIONS),
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
        rich_help_panel=OF_SEQUENCE_MODELS,
    ),
]
ReadSentences = Annotated[
    int | None,
    typer.Option(
        "--r",
        min=1,
        help=f"Number of selected sentences. A document of fewer than {GATHERED} * (r + {SELECTING}) sentences, "
        f"{whole_below(10)} for --r 10, is read whole, because that is faster. Default: as the model was trained; a "
        "model without a number of its own needs it with --selector.",
        rich_help_panel=OF_SEQUENCE_MODELS,
    ),
]
Beams = Annotated[int, typer.Option(min=1, help="Number of beams.", rich_help_panel=OF_SEQUENCE_MODELS)]
MinTokens = Annotated[
    int | None, typer.Option(min=1, help="Minimum number of tokens of the summary.", rich_help_panel=OF_SEQUENCE_MODELS)
]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="Maximum number of tokens of the summary.", rich_help_panel=OF_SEQUENCE_MODELS)
]
LengthPenalty = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=LENGTH_PENALTIES,
        help="Exponent of the length penalty of Wu et al. 2016. Default: the model's own penalty, or none with "
        "--coverage-penalty.",
        rich_help_panel=OF_SEQUENCE_MODELS,
    ),
]
CoveragePenalty = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=COVERAGE_PENALTIES,
        help="Weight of the penalty for reading the same words again, for models with copy attention.",
        rich_help_panel=OF_SEQUENCE_MODELS,
    ),
]
Truncate = Annotated[
    bool,
    typer.Option(
        "--truncate", help="Truncate texts that are longer than the model's input.", rich_help_panel=OF_SEQUENCE_MODELS
    ),
]


def _number_of_units(given: str | int) -> int:
    try:
        return int(given)
    except ValueError:
        hint = ". To choose the kind of unit, use --unit" if given in UNITS else ""
        raise typer.BadParameter(f"expected a whole number, got {given!r}{hint}") from None


Units = Annotated[
    int | None,
    typer.Option(
        "--units",
        "-n",
        parser=_number_of_units,
        metavar="<int>",
        help="Number of units in the summary. Default: "
        f"{DEFAULT_UNITS['sentence']} sentences or {DEFAULT_UNITS['edu']} EDUs; in extract, the number that the model "
        "was trained with, if any.",
        rich_help_panel=OF_SELECTION,
    ),
]
Words = Annotated[
    int | None, typer.Option(help="Maximum number of words; instead of --units.", rich_help_panel=OF_SELECTION)
]
Ratio = Annotated[
    float | None,
    typer.Option(
        help="Maximum number of words, as a fraction of those in the text; instead of --units.",
        rich_help_panel=OF_SELECTION,
    ),
]
Layout = Annotated[
    str,
    typer.Option(
        **choice(*LAYOUTS),
        help="Whether headings, bylines, list fragments and code are skipped.",
        rich_help_panel=OF_SELECTION,
    ),
]
NoTrigramTwice = Annotated[
    bool,
    typer.Option(
        "--block-trigrams",
        help="Never repeat a trigram, unless it has a full stop or tag.",
        rich_help_panel=OF_SEQUENCE_MODELS,
    ),
]
BlockTrigrams = Annotated[
    bool | None,
    typer.Option(
        "--block-trigrams/--no-block-trigrams",
        help="Skip units that share a trigram with the summary. Default: as the model was trained. In evaluate, "
        "sequence-to-sequence models then never repeat a trigram, unless it has a full stop or tag.",
        rich_help_panel=OF_SELECTION,
    ),
]
Redundancy = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Penalty on a unit's log-odds: this weight times the fraction of its bigrams that are already in the "
        "summary. Trained models only; 0 switches it off. Default: as the model was trained.",
        rich_help_panel=OF_SELECTION,
    ),
]
Brevity = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Penalty on a unit's log-odds: this weight for each word of an EDU, or for each word of a sentence after "
        "the 20th. Trained models only; 0 switches it off. Default: as the model was trained.",
        rich_help_panel=OF_SELECTION,
    ),
]


def _register(files: list[str] | None) -> list[str] | None:
    if files:
        with as_usage():
            for file in files:
                HEADS.register_file(file)
    return files


# The files run while options are parsed, before recipes and models look up the heads.
HeadFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--head-file",
        metavar="FILE.py",
        callback=_register,
        help="Python code to run that calls discsum.encoder.heads.register to add attention heads.",
    ),
]

# Keys that `selector_options` rejects, because other command-line options set them.
RESERVED_KEYS = ("name_or_path", "selector", "r", "share_beams", "device", "untrained")


def selector_options(given: Sequence[str], taken: Sequence[str] = RESERVED_KEYS) -> dict[str, Any]:
    """Return the options of a selector from `key=value` entries with YAML values.

    Raises:
        InputError: An entry that is not `key=value`, or a key in `taken`.
    """
    from discsum.recipes.yaml_values import parse_yaml

    found = {}
    for entry in given:
        key, equals, value = entry.partition("=")
        if not equals or not key:
            raise InputError(f"expected an option of a selector as key=value, got {entry!r}")
        if key.strip() in taken:
            raise InputError(
                f"expected an option of the selector, got {key.strip()!r}, which the selector does not set; use the "
                "command's own option for it, if there is one"
            )
        found[key.strip()] = parse_yaml(value, entry)
    return found
