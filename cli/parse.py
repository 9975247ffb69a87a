"""`discsum parse`: raw text to a discourse tree."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from discsum.cli.documents import BATCH, Run, Writer, check_choice, in_batches, one_document
from discsum.cli.options import BatchSize, Device, Encoding, Inputs, Output, ParserName, Roots, Sentences, TextColumn
from discsum.cli.progress import counting
from discsum.constants import DECLARED, SENTENCES, SHIPPED_PARSER
from discsum.data.inputs import Item, read_inputs
from discsum.errors import InputError
from discsum.files import to_line
from discsum.format_registry import dump, suffix, writable

if TYPE_CHECKING:
    from discsum.document import Document

app = typer.Typer(add_completion=False)

# Formats for standard output; several documents may follow each other.
SHOWN = ("tree", "json")


@app.command()
def parse(
    inputs: Inputs,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="|".join(writable(installed=False)),
            help="Output format; tree is an outline.",
        ),
    ] = "tree",
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Print JSON, one object per line.")] = False,
    output: Output = None,
    sentences: Sentences = "model",
    edus: Annotated[
        str, typer.Option(metavar="model|newline", help="EDU segmentation: by the parser, or one EDU per line.")
    ] = "model",
    brackets: Annotated[
        bool,
        typer.Option(
            "--brackets", help="Write ( and ) in texts as -LRB- and -RRB-, for NLTK and the like; with --format dis."
        ),
    ] = False,
    roots: Roots = "join",
    encoding: Encoding = DECLARED,
    text_column: TextColumn = None,
    parser: ParserName = SHIPPED_PARSER,
    device: Device = "cpu",
    batch_size: BatchSize = BATCH,
) -> None:
    """Turn raw text into discourse trees, or convert trees from one format to another.

    Example: discsum parse article.txt --format rs3 -o article.rs3
    """
    if jsonl and format not in SHOWN:
        raise typer.BadParameter(f"expected no --format {format} beside it", param_hint="--jsonl")
    format = "json" if jsonl else format
    check_choice("--format", format, writable())
    check_choice("--sentences", sentences, SENTENCES)
    check_choice("--edus", edus, ("model", "newline"))
    if brackets and format != "dis":
        raise typer.BadParameter(f"expected --format dis beside it, got {format}", param_hint="--brackets")
    entries = read_inputs(inputs, encoding=encoding, text_column=text_column, roots=roots)
    single, entries = one_document(inputs, entries)
    if not single and output in (None, "-") and format not in SHOWN:
        raise typer.BadParameter(f"several documents as {format} need a folder: -o FOLDER", param_hint="--output")
    run = Run()
    from discsum.parsers.loading import load_parser
    from discsum.parsers.parsing import ensure_parsed

    def work(items: Sequence[Item]) -> list[Document]:
        parsed = ensure_parsed(items, lambda: load_parser(parser, device), sentences=sentences, edus=edus)
        return [item.document for item in parsed]

    one_file = single or format in SHOWN
    with Writer(output, suffix(format), one_file=one_file) as writer, counting("parsed") as show:
        for item, document in in_batches(entries, work, run, batch_size):
            with run.guard(item):
                writer.write(item, _render(document, format, single and not jsonl, writer, brackets))
            show(run.done)
    run.finish()


def _render(document: Document, format: str, single: bool, writer: Writer, brackets: bool) -> str:
    if format == "json":
        return to_line(document.to_json(), pretty=single)
    if format != "tree":
        if not document.edus:
            raise InputError("expected some text, got none; without any, --format can only be json or tree")
        return dump(document, format, brackets=brackets)
    from discsum.formats.tree import to_text

    heading = "" if single or writer.folder else f"== {document.id}\n"
    if not document.edus:
        return heading
    terminal = writer.folder is None and writer.file is None and sys.stdout.isatty()
    return heading + to_text(document, shutil.get_terminal_size().columns if terminal else None)
