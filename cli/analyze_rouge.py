"""`discsum analyze rouge`: ROUGE by the number of sentences read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from discsum.abstractive.folder import check_model
from discsum.abstractive.sparse.selectors import ALL
from discsum.cli.analysis import Documents, Out, Table, load_system, read_table, write_numbers
from discsum.cli.command import as_usage
from discsum.cli.documents import Run
from discsum.cli.options import (
    Beams,
    Device,
    LengthPenalty,
    MaxTokens,
    MinTokens,
    NoTrigramTwice,
    ParserName,
    SummaryColumn,
    TextColumn,
)
from discsum.cli.progress import counting, loading
from discsum.constants import BEAMS, SHIPPED_PARSER
from discsum.devices import check_device


def rouge(
    table: Table,
    system: Annotated[
        list[str],
        typer.Option(
            metavar="MODEL[,SELECTOR[,KEY=VALUE...]]",
            help="A system to plot as one line; may be repeated. Every selector but all and random takes beta=WEIGHT.",
        ),
    ],
    output: Out = "analysis",
    against: Annotated[
        str | None, typer.Option(metavar="SYSTEM", help="Also plot the difference in R-1 from this system.")
    ] = None,
    read: Annotated[
        list[int] | None,
        typer.Option(
            "--r", min=1, help="Number of sentences read per step; may be repeated. Default: 1, 2, 3, 5 and 10."
        ),
    ] = None,
    documents: Documents = 100,
    text_column: TextColumn = None,
    summary_column: SummaryColumn = None,
    beams: Beams = BEAMS,
    min_tokens: MinTokens = None,
    max_tokens: MaxTokens = None,
    length_penalty: LengthPenalty = None,
    block_trigrams: NoTrigramTwice = False,
    parser: ParserName = SHIPPED_PARSER,
    device: Device = "cpu",
) -> None:
    """Plot ROUGE and attention by the number of sentences read.

    Figures 2 and 4 of Manakul and Gales 2021.

    Example: discsum analyze rouge news.jsonl --system runs/kl/best --system runs/kl/best,ideal --r 1 --r 2 --r 5
    """
    if against is not None and (against not in system or len(set(system)) < 2):
        raise typer.BadParameter(
            f"--against: expected one of at least two systems, got {against} with {', '.join(system)}"
        )
    for name in system:
        check_model(name.partition(",")[0])
    from discsum.abstractive.generation import Generation

    with as_usage():
        check_device(device)
        generation = Generation(beams, min_tokens, max_tokens, True, length_penalty, block_trigrams=block_trigrams)
    from discsum.data.pairs import PairSource

    run = Run()
    pairs = read_table(PairSource(table, text_column, summary_column), documents, run)
    with loading("the parser"):
        from discsum.abstractive.analysis.pictures import curves
        from discsum.abstractive.analysis.sentences_read import rouge_at_r
        from discsum.experiments.blocks import given_trees, parser_name
        from discsum.metrics.rouge import signature
        from discsum.parsers.loading import load_parser
        from discsum.parsers.parsing import ensure_parsed, split_lines

        engine = load_parser(parser, device)
    parsed = [item.document for item in ensure_parsed(pairs, lambda: engine)]
    references = [pair.references for pair in pairs]
    amounts = sorted(set(read or [1, 2, 3, 5, 10]))

    def split(summaries: Sequence[str]) -> list[str]:
        return split_lines(summaries, engine)

    found: dict[str, list[dict[str, Any]]] = {}
    signatures: dict[str, str] = {}
    for name in system:
        with loading(name):
            summarizer = load_system(name, amounts[0], device)
        # Analyses always select.
        settings = {
            key: False if key == "dense_where_faster" else value
            for key, value in summarizer.family.settings().items()
            if key != "sentences_per_step"
        }
        signatures[name] = str(
            signature() + generation.signature.with_(**settings, parser=parser_name(engine), **given_trees(pairs))
        )
        summarizer.warn_truncated(summarizer.lengths(parsed, truncate=True))
        whole = summarizer.selector.selector == ALL
        with counting(name, len(pairs) * (1 if whole else len(amounts))) as counter:
            found[name] = []
            for place, r in enumerate([None] if whole else amounts):

                def shown(done: int, before: int = place * len(pairs)) -> None:
                    counter(before + done)

                measured = rouge_at_r(summarizer, parsed, references, r, split, shown, **generation.options)
                found[name].append(measured.to_dict())
    path = write_numbers(output, "rouge", {"table": table, "signatures": signatures, "systems": found})
    for what, (label, bottom, lines) in _drawn(found, len(amounts), against).items():
        labels, beside = ("sentences read, r", label), path.with_name(f"{path.stem}-{what}.json")
        pictures = curves(lines, amounts, labels, f"{table}: {len(pairs)} documents", beside, bottom=bottom)
        typer.echo("\n".join(map(str, pictures)))
    _show(found, signatures)
    run.finish()


def _show(found: Mapping[str, Sequence[Mapping[str, Any]]], signatures: Mapping[str, str]) -> None:
    """Print the figures and the signature of each system."""
    from discsum.experiments.report import HEADINGS, aligned

    cells = [["system", "r", *HEADINGS.values(), "attention read"]]
    for name, entries in found.items():
        for entry in entries:
            figures = [f"{entry[metric]:.2f}" for metric in HEADINGS]
            cells.append([name, str(entry["r"] or "all"), *figures, f"{entry['mass']:.3f}"])
    typer.echo(aligned(cells, "table"))
    for name, text in signatures.items():
        typer.echo(f"signature of {name}: {text}")


def _drawn(
    found: Mapping[str, Sequence[Mapping[str, Any]]], amounts: int, against: str | None
) -> dict[str, tuple[str, float | None, dict[str, list[float]]]]:
    """Return for each plot the label of its vertical axis, where that begins, and one line per system."""

    def lines(metric: str) -> dict[str, list[float]]:
        # A system that reads all sentences has the same value for every r.
        return {
            name: [entry[metric] for entry in entries] * (amounts if len(entries) < amounts else 1)
            for name, entries in found.items()
        }

    drawn: dict[str, tuple[str, float | None, dict[str, list[float]]]] = {
        "rouge1": ("R-1", None, lines("rouge1")),
        "mass": ("share of attention read", 0.0, lines("mass")),
    }
    if against is not None:
        others = lines("rouge1")
        base = others.pop(against)
        over = {name: [own - there for own, there in zip(line, base, strict=True)] for name, line in others.items()}
        drawn["rouge1-difference"] = (f"R-1 minus that of {against}", None, over)
    return drawn
