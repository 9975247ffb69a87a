"""`discsum analyze time` and `discsum analyze corpus`: what decoding costs, and how long a corpus is."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discsum.cli.analysis import Device, Documents, Model, Out, load_model, read_table, write_numbers
from discsum.cli.options import ParserName
from discsum.cli.progress import counting, quiet
from discsum.constants import HUB, SHIPPED_PARSER
from discsum.errors import InputError, WeightsError


def time(
    model: Model,
    output: Out = "analysis",
    outputs: Annotated[list[int] | None, typer.Option("--length", min=1, help="Lengths of the output, M.")] = None,
    inputs: Annotated[list[int] | None, typer.Option("--tokens", min=1, help="Lengths of the input, N.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Passes whose mean is taken.")] = 10,
    mode: Annotated[
        str, typer.Option(help="What is timed: forward, backward (with gradients), or generate.")
    ] = "forward",
    selector: Annotated[str, typer.Option(help="Which sentences a step reads, with --mode generate.")] = "all",
    r: Annotated[int | None, typer.Option("--r", min=1, help="How many of them.")] = None,
    device: Device = "cpu",
) -> None:
    """Fit the decoder's time by the lengths of input and output (Eq 1 and appendix B of Manakul and Gales 2021).

    Example: discsum analyze time --model hf:facebook/bart-large-cnn --tokens 256 --tokens 512 --tokens 1024
    """
    from discsum.abstractive.analysis.pictures import curves
    from discsum.abstractive.analysis.time_model import check_lengths, fit_output_time, fit_time
    from discsum.abstractive.analysis.timing import decoder_times

    lengths, tokens = outputs or [50, 100, 150, 200, 250, 300], inputs or [256, 512, 768, 1024]
    check_lengths(lengths, tokens)
    summarizer = load_model(model, selector, r, device)
    for option, longest, most in (
        ("--length", max(lengths), summarizer.target_positions),
        ("--tokens", max(tokens), summarizer.positions),
    ):
        if most is not None and longest > most - (mode == "generate" and option == "--length"):
            raise InputError(f"{option}: expected at most {most}, the positions of {model}, got {longest}")
    with counting("measured", len(lengths) * len(tokens)) as show:
        samples = []
        for sample in decoder_times(summarizer.model, lengths, tokens, repeats, mode):
            samples.append(sample)
            show(len(samples))
    data: dict[str, Any] = {
        "model": model,
        "mode": mode,
        "selector": selector,
        "r": r,
        "samples": [one.to_dict() for one in samples],
    }
    seconds = [one.seconds for one in samples]
    if len(tokens) > 1:
        fitted = fit_time([one.output for one in samples], [one.input for one in samples], seconds)
    else:
        fitted = fit_output_time(lengths, seconds)
    data["fit"] = fitted.to_dict()
    path = write_numbers(output, "time", data)
    lines = {f"N = {count}": [one.seconds for one in samples if one.input == count] for count in tokens}
    pictures = curves(lines, lengths, ("output tokens, M", "seconds a pass"), f"{summarizer.name}, {mode}", path)
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
    from transformers import AutoTokenizer

    from discsum.abstractive.analysis.corpus import corpus_statistics
    from discsum.parsers.loading import load_parser

    pairs = read_table(table, documents)
    quiet()
    place, local = model.removeprefix(HUB), not model.startswith(HUB)
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(place, local_files_only=local)
    except (OSError, ValueError) as error:
        raise WeightsError(f"{model}: expected a model's folder with its tokenizer, or hf:NAME, got {error}") from error
    parsed = load_parser(parser).parse_many([pair.text for pair in pairs])
    counted = ((pair, len(document.sentences)) for pair, document in zip(pairs, parsed, strict=True))
    found = corpus_statistics(counted, tokenizer)
    write_numbers(output, "corpus", {"table": table, "model": model, **found.to_dict()})
    figures = {"N": found.tokens, "N1": found.sentences, "M": found.summary_tokens, "N/M": found.ratio}
    typer.echo("  ".join([f"documents {found.documents}", *(f"{name} {value:.1f}" for name, value in figures.items())]))
