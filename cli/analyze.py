"""`discsum analyze`: attention maps, sparsity, ROUGE by sentences read, and decoding time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from discsum.abstractive.families import family_of
from discsum.abstractive.folder import check_model
from discsum.abstractive.sparse.selectors import ALL, check_name
from discsum.cli.analysis import Documents, Model, Out, Table, load_model, parsed_document, read_table, write_numbers
from discsum.cli.analyze_chunks import draw_chunks
from discsum.cli.analyze_corpora import corpus, trees
from discsum.cli.analyze_encoder import show_encoder_times
from discsum.cli.analyze_rouge import rouge
from discsum.cli.choices import choice
from discsum.cli.command import as_usage, check_unused, command_app
from discsum.cli.completion import selectors
from discsum.cli.documents import Run
from discsum.cli.job import CheckedSource
from discsum.cli.options import Device, Encoding, Input, MaxDocumentBytes, ParserName, Roots, SummaryColumn, TextColumn
from discsum.cli.progress import counting, loading
from discsum.constants import AUTO, BEAMS, DECLARED, MAX_DOCUMENT_BYTES, SHIPPED_PARSER
from discsum.data.inputs import Item
from discsum.devices import check_device
from discsum.errors import InputError

if TYPE_CHECKING:
    from discsum.abstractive.summarizer import AbstractiveSummarizer

# The value of `time --mode` that times encoders; the others time decoders.
ENCODER = "encoder"

app = command_app(help="Measure sequence-to-sequence models, corpora and trees.", no_args_is_help=True)


@app.command()
def attention(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="INPUT", help="A text file or a tree.")],
    model: Model,
    output: Out = "analysis",
    layer: Annotated[int, typer.Option(min=1, help="Decoder layer, from 1.")] = 1,
    selector: Annotated[
        str, typer.Option(autocompletion=selectors, help="Selector of the sentences that each step reads.")
    ] = ALL,
    r: Annotated[int | None, typer.Option("--r", min=1, help="Number of selected sentences.")] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="Maximum number of tokens of the summary.")] = 60,
    roots: Roots = "join",
    input: Input = AUTO,
    encoding: Encoding = DECLARED,
    max_document_bytes: MaxDocumentBytes = MAX_DOCUMENT_BYTES,
    text_column: TextColumn = None,
    parser: ParserName = SHIPPED_PARSER,
    device: Device = "cpu",
) -> None:
    """Plot attention to sentences and words during generation.

    Figures 5 to 8 of Manakul and Gales 2021; figure 3 of Ling and Rush 2017, attention to chunks, for a coarse-to-fine
    model.

    Example: discsum analyze attention article.txt --model hf:facebook/bart-large-cnn --layer 6 -o analysis
    """
    check_model(model)
    with as_usage():
        check_name(selector)
        check_device(device)
    items = list(islice(CheckedSource([text], encoding, text_column, roots, input, max_document_bytes).items(), 2))
    if len(items) != 1:
        raise InputError(f"{text}: expected one text, got {'none' if not items else 'several'}")
    item = items[0]
    if not isinstance(item, Item):
        raise InputError(str(item))
    if family_of(model) == "coarse_to_fine":
        check_unused(context, context.params.keys() - {"layer", "selector", "r"}, "with a coarse-to-fine model")
        draw_chunks(item, model, output, max_tokens, parser, device)
        return
    with loading("the model"):
        from discsum.abstractive.analysis.attention_maps import attention_maps
        from discsum.abstractive.analysis.pictures import heatmap

        summarizer = load_model(model, selector, r, device)
    _check_layers([layer], summarizer)
    document = parsed_document(item, parser, device, summarizer)
    maps = attention_maps(summarizer, document, truncate=True, num_beams=BEAMS, max_new_tokens=max_tokens)
    path = write_numbers(output, f"attention-layer-{layer}", maps.to_dict(layer))
    title = f"{summarizer.name}, layer {layer}, heads averaged"
    if len(maps.sentences) < len(document.sentences):
        title += f"; the first {len(maps.sentences)} of {len(document.sentences)} sentences, the rest is truncated"
    labels = ("generated token", "sentence of the text")
    pictures = heatmap(maps.by_sentence[layer - 1].T, maps.sentences, maps.written, labels, title, path)
    words, labels = path.with_name(f"{path.stem}-words.json"), ("generated token", "token of the text")
    pictures += heatmap(maps.words[layer - 1].T, maps.read, maps.written, labels, title, words)
    typer.echo("\n".join(map(str, pictures)))


@app.command()
def sparsity(
    table: Table,
    model: Annotated[list[str], typer.Option(help="Folder of a model, or hf:NAME from the hub; may be repeated.")],
    output: Out = "analysis",
    documents: Documents = 100,
    most: Annotated[int, typer.Option(min=1, help="Maximum number of sentences on the horizontal axis.")] = 30,
    layer: Annotated[
        list[int] | None, typer.Option(min=1, help="A decoder layer to plot; may be repeated. Default: all.")
    ] = None,
    text_column: TextColumn = None,
    summary_column: SummaryColumn = None,
    parser: ParserName = SHIPPED_PARSER,
    device: Device = "cpu",
) -> None:
    """Plot the share of attention on the top sentences, by layer.

    Figure 1 of Manakul and Gales 2021.

    Example: discsum analyze sparsity news.jsonl --model hf:facebook/bart-large-cnn -o analysis
    """
    for name in model:
        check_model(name)
    with as_usage():
        check_device(device)
    from discsum.data.pairs import PairSource

    run = Run()
    pairs = read_table(PairSource(table, text_column, summary_column), documents, run)
    with loading("the parser"):
        from discsum.abstractive.analysis.pictures import curves
        from discsum.abstractive.analysis.sentences_read import retained_mass
        from discsum.parsers.loading import load_parser
        from discsum.parsers.parsing import ensure_parsed

        engine = load_parser(parser, device)
    references = [pair.references[0] for pair in pairs]
    parsed = [item.document for item in ensure_parsed(pairs, lambda: engine)]
    lines: dict[str, list[float]] = {}
    for name in model:
        with loading(name):
            summarizer = load_model(name, device=device)
        _check_layers(layer or [], summarizer)
        summarizer.warn_truncated(summarizer.lengths(parsed, truncate=True))
        with counting(f"read by {name}", len(pairs)) as counter:
            mass = retained_mass(summarizer, zip(parsed, references, strict=True), most, counter)
        for number, curve in enumerate(mass, start=1):
            if number in (layer or [number]):
                lines[f"{f'{name}, ' if len(model) > 1 else ''}layer {number}"] = curve.tolist()
    path = write_numbers(output, "sparsity", {"models": model, "documents": len(pairs), "curves": lines})
    labels = ("sentences read, r", "share of attention retained")
    title = f"{', '.join(model)}: {len(pairs)} documents"
    typer.echo("\n".join(map(str, curves(lines, range(1, most + 1), labels, title, path))))
    run.finish()


app.command()(rouge)


@app.command()
def time(
    context: typer.Context,
    model: Model,
    output: Out = "analysis",
    outputs: Annotated[
        list[int] | None,
        typer.Option(
            "--output-tokens",
            min=1,
            help="An output length M in tokens; given three times or more, or four times with one of --input-tokens. "
            "Default: 50, 100, ... 300.",
        ),
    ] = None,
    inputs: Annotated[
        list[int] | None,
        typer.Option(
            "--input-tokens",
            min=1,
            help="An input length N in tokens; given once, or three times or more; with --mode encoder any number of "
            "times. Default: 256, 512, 768 and 1024.",
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option(min=1, help="Number of passes; their mean is reported, with --mode encoder the fastest.")
    ] = 10,
    mode: Annotated[
        str,
        typer.Option(
            **choice("forward", "backward", "generate", ENCODER),
            help="What to time: passes of the decoder (backward: with gradients), generation, or a compressed encoder "
            "beside its own full attention.",
        ),
    ] = "forward",
    selector: Annotated[
        str,
        typer.Option(
            autocompletion=selectors, help="Selector of the sentences that each step reads, with --mode generate."
        ),
    ] = ALL,
    r: Annotated[int | None, typer.Option("--r", min=1, help="Number of selected sentences.")] = None,
    device: Device = "cpu",
) -> None:
    """Time decoding, or a compressed encoder, by length.

    Eq 1 and appendix B of Manakul and Gales 2021, without their encoder; with --mode encoder the encoder alone, after
    figure 5 of Yap et al.

    Example: discsum analyze time --model hf:facebook/bart-large-cnn --mode generate
    """
    check_model(model)
    with as_usage():
        check_name(selector)
        check_device(device)
    tokens = sorted(set(inputs or [256, 512, 768, 1024]))
    if mode == ENCODER:
        check_unused(context, context.params.keys() - {"outputs", "selector", "r"}, f"with --mode {ENCODER}")
        show_encoder_times(model, output, tokens, repeats, device)
        return
    lengths = sorted(set(outputs or [50, 100, 150, 200, 250, 300]))
    _check_lengths(lengths, tokens)
    with loading("the model"):
        from discsum.abstractive.analysis.decoding_time import decoder_times, fit_time
        from discsum.abstractive.analysis.pictures import curves

        summarizer = load_model(model, selector, r, device)
    for option, longest, most in (
        ("--output-tokens", max(lengths), summarizer.target_positions),
        ("--input-tokens", max(tokens), summarizer.positions),
    ):
        # The start token of a generated summary takes one position.
        limit = None if most is None else most - (mode == "generate" and option == "--output-tokens")
        if limit is not None and longest > limit:
            raise typer.BadParameter(
                f"{option}: expected at most {limit}, as {model} has {most} positions, got {longest} (--mode {mode})"
            )
    with counting("measured", len(lengths) * len(tokens)) as counter:
        samples = []
        for sample in decoder_times(summarizer.model, lengths, tokens, repeats, mode):
            samples.append(sample)
            counter(len(samples))
    fitted = fit_time(*([getattr(one, name) for one in samples] for name in ("output", "input", "seconds")))
    data = {
        "model": model,
        "mode": mode,
        "selector": selector,
        "r": r,
        "samples": [asdict(one) for one in samples],
        "fit": fitted.to_dict(),
    }
    path = write_numbers(output, "time", data)
    lines = {f"{count} input tokens": [one.seconds for one in samples if one.input == count] for count in tokens}
    pictures = curves(lines, lengths, ("output tokens", "seconds per pass"), f"{summarizer.name}, {mode}", path)
    typer.echo("\n".join(map(str, pictures)))
    typer.echo(
        f"R squared {fitted.r_squared:.4f}; M output tokens, N input tokens; seconds with their 95% interval, "
        "and relative to the constant term"
    )
    typer.echo(f"{'term':5}{'seconds':>12}{'low':>12}{'high':>12}{'relative':>12}")
    columns = (fitted.coefficients, fitted.low, fitted.high, fitted.relative.values())
    for term, *values in zip(fitted.terms, *columns, strict=True):
        typer.echo(f"{term:5}" + "".join(f"{value:12.3e}" for value in values))


app.command()(corpus)
app.command()(trees)


def _check_layers(layers: Sequence[int], summarizer: AbstractiveSummarizer) -> None:
    """Raise `BadParameter` for decoder layers, counted from 1, that a model does not have."""
    from discsum.abstractive.projections import decoder_layers

    count = len(decoder_layers(summarizer.model))
    if wrong := [str(layer) for layer in layers if layer > count]:
        raise typer.BadParameter(
            f"--layer: expected a layer from 1 to {count}, got {', '.join(wrong)} for {summarizer.name}"
        )


def _check_lengths(outputs: Sequence[int], inputs: Sequence[int]) -> None:
    """Raise `BadParameter` if there are too few different lengths to fit the times; called before torch is imported."""
    if len(outputs) < 3 or len(inputs) == 2 or len(outputs) * len(inputs) < 4:
        raise typer.BadParameter(
            "expected at least four values of --output-tokens with one of --input-tokens, or at least three of each, "
            f"got {len(outputs)} and {len(inputs)}"
        )
