"""`discsum analyze time` and `discsum analyze corpus`: what decoding costs, and how long a corpus is."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discsum.choices import SHIPPED_PARSER
from discsum.cli.analysis import Documents, Model, Out, load_model, read_table, write_numbers
from discsum.cli.options import ParserName
from discsum.cli.progress import counting


def time(
    model: Model,
    output: Out = "analysis",
    outputs: Annotated[list[int] | None, typer.Option("--length", help="Lengths of the output, M.")] = None,
    inputs: Annotated[list[int] | None, typer.Option("--tokens", help="Lengths of the input, N.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Passes whose mean is taken.")] = 10,
    selector: Annotated[str, typer.Option(help="Which sentences a step reads.")] = "all",
    r: Annotated[int | None, typer.Option("--r", min=1, help="How many of them.")] = None,
) -> None:
    """Fit the decoder's time by the lengths of input and output (Eq 1 and appendix B of Manakul and Gales 2021).

    Example: discsum analyze time --model hf:facebook/bart-large-cnn --tokens 256 --tokens 512 --tokens 1024
    """
    from discsum.abstractive.analysis.pictures import curves
    from discsum.abstractive.analysis.time_model import fit_output_time, fit_time
    from discsum.abstractive.analysis.timing import decoder_times

    lengths, tokens = outputs or [50, 100, 150, 200, 250, 300], inputs or [256, 512, 768, 1024]
    summarizer = load_model(model, selector, r)
    with counting("measured", len(lengths) * len(tokens)) as show:
        samples = []
        for sample in decoder_times(summarizer.model, lengths, tokens, repeats):
            samples.append(sample)
            show(len(samples))
    data: dict[str, Any] = {"model": model, "selector": selector, "r": r, "samples": [one.to_dict() for one in samples]}
    seconds = [one.seconds for one in samples]
    if len(tokens) > 1:
        fitted = fit_time([one.output for one in samples], [one.input for one in samples], seconds)
    else:
        fitted = fit_output_time(lengths, seconds)
    data["fit"] = fitted.to_dict()
    path = write_numbers(output, "time", data)
    lines = {f"N = {count}": [one.seconds for one in samples if one.input == count] for count in tokens}
    pictures = curves(lines, lengths, ("output tokens, M", "seconds a pass"), summarizer.name, path)
    typer.echo("\n".join(map(str, pictures)))
    typer.echo(f"R squared {fitted.r_squared:.4f}")
    for term, value in fitted.relative.items():
        typer.echo(f"{term:5}{value:12.3e}")


def corpus(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="A table of texts with summaries.")],
    model: Annotated[str, typer.Option(help="Folder of a model with its tokenizer, or hf:NAME from the hub.")],
    output: Out = "analysis",
    documents: Documents = 1_000_000,
    parser: ParserName = SHIPPED_PARSER,
) -> None:
    """Count tokens and sentences of a corpus (table 4 of Manakul and Gales 2021).

    Example: discsum analyze corpus news.jsonl --model hf:facebook/bart-large-cnn
    """
    from discsum.abstractive.analysis.corpus import corpus_statistics
    from discsum.cli.models import load_parser

    pairs = read_table(table, documents)
    tokenizer = load_model(model).tokenizer
    parsed = load_parser(parser).parse_many([pair.text for pair in pairs])
    counted = ((pair, len(document.sentences)) for pair, document in zip(pairs, parsed, strict=True))
    found = corpus_statistics(counted, tokenizer)
    write_numbers(output, "corpus", {"table": table, "model": model, **found.to_dict()})
    figures = {"N": found.tokens, "N1": found.sentences, "M": found.summary_tokens, "N/M": found.ratio}
    typer.echo("  ".join([f"documents {found.documents}", *(f"{name} {value:.1f}" for name, value in figures.items())]))
