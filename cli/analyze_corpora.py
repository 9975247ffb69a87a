"""`discsum analyze corpus` and `discsum analyze trees`: statistics of texts with summaries, and of trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from discsum.abstractive.folder import check_model_location, load_tokenizer
from discsum.batches import batches
from discsum.cli.analysis import Out, Table, read_table, write_numbers
from discsum.cli.command import as_usage
from discsum.cli.documents import BATCH, Run, in_batches
from discsum.cli.job import CheckedSource
from discsum.cli.options import (
    Device,
    Encoding,
    Input,
    Inputs,
    MaxDocumentBytes,
    ParserName,
    Roots,
    SummaryColumn,
    TextColumn,
)
from discsum.cli.progress import counting, loading
from discsum.constants import AUTO, DECLARED, MAX_DOCUMENT_BYTES, SHIPPED_PARSER
from discsum.data.inputs import Item
from discsum.devices import check_device
from discsum.errors import InputError

if TYPE_CHECKING:
    from discsum.data.pairs import Pair
    from discsum.document import Document
    from discsum.parsers.parser import Parser

# How the means of `CorpusStatistics` are shown.
MEANS = {
    "words": "words",
    "sentences": "sentences",
    "edus": "EDUs",
    "summary_words": "words of the summary",
    "compression": "words / words of the summary",
    "coverage": "coverage",
    "density": "density",
    "oracle_sentences": "sentences of the oracle",
    "oracle_edus": "EDUs of the oracle",
    "tokens": "tokens, N",
    "summary_tokens": "tokens of the summary, M",
    "ratio": "N / M",
}


def _row(name: str, value: float) -> str:
    return f"{name:42}{value:10,.2f}" if isinstance(value, float) else f"{name:42}{value:7,}"


def _loaded(parser: str, device: str) -> Parser:
    with loading("the parser"):
        from discsum.parsers.loading import load_parser

        return load_parser(parser, device)


def corpus(
    table: Table,
    model: Annotated[
        str | None,
        typer.Option(help="Folder of a model, or hf:NAME from the hub, with whose tokenizer tokens are counted."),
    ] = None,
    output: Out = "analysis",
    documents: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of documents. Default: all of them.")
    ] = None,
    text_column: TextColumn = None,
    summary_column: SummaryColumn = None,
    parser: ParserName = SHIPPED_PARSER,
    device: Device = "cpu",
) -> None:
    """Show lengths and extractiveness of a corpus.

    Means over documents: words, sentences, EDUs; coverage and density of the summaries (Grusky et al. 2018); units of
    the oracle that Xiao et al. 2020 train on; tokens as in table 4 of Manakul and Gales 2021.

    Example: discsum analyze corpus news.jsonl
    """
    if model is not None:
        check_model_location(model)
    with as_usage():
        check_device(device)
    from discsum.data.pairs import PairSource

    run = Run()
    pairs = read_table(PairSource(table, text_column, summary_column), documents, run)
    from discsum.abstractive.analysis.corpus import corpus_statistics
    from discsum.parsers.parsing import ensure_parsed

    tokenizer = None if model is None else load_tokenizer(model)
    with counting("counted", len(pairs)) as counter:

        def parsed() -> Iterator[tuple[Pair, Document]]:
            done = 0
            for block in batches(pairs, BATCH):
                found = ensure_parsed(block, lambda: _loaded(parser, device))
                yield from zip(block, (item.document for item in found), strict=True)
                done += len(block)
                counter(done)

        found = corpus_statistics(parsed(), tokenizer)
    data = asdict(found)
    write_numbers(output, "corpus", {"table": table, "model": model, **data})
    typer.echo(_row("documents", found.documents))
    for name, shown in MEANS.items():
        if data[name] is not None:
            typer.echo(_row(shown, data[name]))
    run.finish()


def trees(
    inputs: Inputs,
    output: Out = "analysis",
    roots: Roots = "join",
    input: Input = AUTO,
    encoding: Encoding = DECLARED,
    max_document_bytes: MaxDocumentBytes = MAX_DOCUMENT_BYTES,
    text_column: TextColumn = None,
    parser: ParserName = SHIPPED_PARSER,
    device: Device = "cpu",
) -> None:
    """Show sizes, nuclearity and relations of discourse trees.

    Texts are parsed first. Relations are counted on binary trees, as in original Parseval.

    Example: discsum analyze trees PATH/TO/TREES
    """
    with as_usage():
        check_device(device)
    from discsum.parsers.tree_statistics import tree_statistics

    source = CheckedSource(inputs, encoding, text_column, roots, input, max_document_bytes)
    run = Run()
    with counting("counted", None) as counter:

        def load(_: Sequence[Item]) -> Callable[[Sequence[Item]], list[Document]]:
            from discsum.parsers.parsing import ensure_parsed

            return lambda items: [item.document for item in ensure_parsed(items, lambda: _loaded(parser, device))]

        def with_trees() -> Iterator[Document]:
            for _, document in in_batches(source.items(), load, run):
                # A warning names the texts without words.
                if document.tree is not None:
                    yield document
                run.done += 1
                run.show(counter)

        found = tree_statistics(with_trees())
    if not found.documents:
        run.finish()
        raise InputError(f"{', '.join(inputs)}: expected trees or texts, got none")
    write_numbers(output, "trees", found.to_dict())
    typer.echo(_row("documents", found.documents))
    typer.echo(_row("EDUs", found.edus))
    for name, value in found.means().items():
        typer.echo(_row(name, value))
    typer.echo(f"\n{'relation':32}{'nodes':>8}{'share':>8}{'NS':>8}{'SN':>8}{'NN':>8}")
    for relation, counts in {"all": found.nuclearity, **found.by_relation()}.items():
        nodes = sum(counts.values())
        cells = "".join(f"{count:8}" for count in counts.values())
        typer.echo(f"{relation:32}{nodes:8}{nodes / max(1, found.nodes):8.1%}{cells}")
    run.finish()
