"""`discsum analyze`: what a sequence-to-sequence model attends to, how sparsely, and in what time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discsum.choices import SHIPPED_PARSER
from discsum.cli.options import ParserName
from discsum.cli.progress import counting, quiet
from discsum.errors import InputError
from discsum.files import replacing

# Of `discsum.abstractive.selectors`, which is not to be imported for `--help`.
ALL = "all"

if TYPE_CHECKING:
    from discsum.abstractive.summarizer import AbstractiveSummarizer
    from discsum.training.pairs import Pair

app = typer.Typer(
    help="What a sequence-to-sequence model attends to, how sparsely, and in what time.", no_args_is_help=True
)

Model = Annotated[str, typer.Option(help="Folder of a BART, mBART, PEGASUS or LED model, or hf:NAME from the hub.")]
Out = Annotated[str, typer.Option("--output", "-o", help="Folder of the numbers (JSON) and pictures (PNG, SVG).")]
Documents = Annotated[int, typer.Option(min=1, help="How many documents of the table, at most.")]


def _load(model: str, selector: str | None = ALL, r: int | None = None) -> AbstractiveSummarizer:
    from discsum.abstractive.summarizer import AbstractiveSummarizer

    quiet()
    return AbstractiveSummarizer.from_pretrained(model, selector=selector, r=r)


def _write(folder: str, name: str, data: Any) -> Path:
    """Write the numbers; return their path, beside which the pictures go."""
    path = Path(folder) / f"{name}.json"
    with replacing(path) as partial:
        partial.write_text(json.dumps(data, ensure_ascii=False) + "\n", encoding="utf-8")
    typer.echo(str(path))
    return path


def _pairs(table: str, documents: int) -> list[Pair]:
    from itertools import islice

    from discsum.data.summaries import read_pairs
    from discsum.training.pairs import Pair

    found = list(islice((pair for pair in read_pairs(Path(table)) if isinstance(pair, Pair)), documents))
    if not found:
        raise InputError(f"{table}: expected texts with reference summaries, got none")
    return found


@app.command()
def attention(
    text: Annotated[str, typer.Argument(metavar="INPUT", help="A text file or a tree.")],
    model: Model,
    output: Out = "analysis",
    layer: Annotated[int, typer.Option(min=1, help="Layer of the decoder, from 1.")] = 1,
    selector: Annotated[str, typer.Option(help="Which sentences a step reads.")] = "all",
    r: Annotated[int | None, typer.Option("--r", min=1, help="How many of them.")] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens of the summary, at most.")] = 60,
    parser: ParserName = SHIPPED_PARSER,
) -> None:
    """Draw attention to sentences and to words while a summary is written (figures 5 to 8 of Manakul and Gales 2021).

    Example: discsum analyze attention article.txt --model hf:facebook/bart-large-cnn --layer 6 -o analysis
    """
    from discsum.abstractive.analysis.attention_maps import attention_maps
    from discsum.abstractive.analysis.pictures import heatmap
    from discsum.cli.models import load_parser
    from discsum.data.inputs import Item, read_inputs

    (item,) = read_inputs([text])
    if not isinstance(item, Item):
        raise InputError(str(item))
    summarizer = _load(model, selector, r)
    layers = len(summarizer.model.get_decoder().layers)
    if layer > layers:
        raise InputError(f"--layer: expected one of 1 to {layers}, got {layer}")
    document = item.document or load_parser(parser).parse(item.text, id=item.id)
    maps = attention_maps(summarizer, document, truncate=True, num_beams=4, max_new_tokens=max_tokens)
    path = _write(output, f"attention-layer-{layer}", maps.to_dict(layer - 1))
    title = f"{summarizer.name}, layer {layer}, heads averaged"
    pictures = heatmap(maps.by_sentence[layer - 1].T, maps.sentences, maps.written, title, path)
    words = path.with_name(f"{path.stem}-words.json")
    pictures += heatmap(maps.words[layer - 1].T, maps.read, maps.written, title, words)
    typer.echo("\n".join(map(str, pictures)))


@app.command()
def sparsity(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="A table of texts with summaries.")],
    model: Model,
    output: Out = "analysis",
    documents: Documents = 100,
    most: Annotated[int, typer.Option(min=1, help="Up to how many sentences.")] = 30,
    parser: ParserName = SHIPPED_PARSER,
) -> None:
    """Draw how much attention the best sentences hold, layer by layer (figure 1 of Manakul and Gales 2021).

    Example: discsum analyze sparsity news.jsonl --model hf:facebook/bart-large-cnn -o analysis
    """
    from discsum.abstractive.analysis.pictures import curves
    from discsum.abstractive.analysis.sparsity import retained_mass
    from discsum.cli.models import load_parser

    pairs = _pairs(table, documents)
    summarizer = _load(model)
    texts = [pair.text for pair in pairs]
    parsed = load_parser(parser).parse_many(texts, ids=[pair.id for pair in pairs])
    with counting("read", len(pairs)) as show:
        both = ((document, pair.references[0]) for document, pair in zip(parsed, pairs, strict=True))
        mass = retained_mass(summarizer, both, most, show)
    names = [f"layer {number}" for number in range(1, len(mass.curves) + 1)]
    lines = dict(zip(names, mass.curves, strict=True))
    data = {
        "model": model,
        "documents": len(pairs),
        "steps": mass.steps,
        "curves": {k: v.tolist() for k, v in lines.items()},
    }
    path = _write(output, "sparsity", data)
    labels = ("sentences read, r", "share of attention retained")
    title = f"{summarizer.name}, {len(pairs)} documents"
    typer.echo("\n".join(map(str, curves(lines, range(1, most + 1), labels, title, path))))


@app.command()
def rouge(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="A table of texts with summaries.")],
    system: Annotated[
        list[str],
        typer.Option(help="MODEL or MODEL,SELECTOR, once for each line of the picture; MODEL as for other commands."),
    ],
    output: Out = "analysis",
    read: Annotated[list[int] | None, typer.Option("--r", min=1, help="Sentences a step, once for each.")] = None,
    documents: Documents = 100,
    beams: Annotated[int, typer.Option(min=1, help="Beams of the search.")] = 4,
    min_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens of a summary, at least.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens of a summary, at most.")] = None,
    parser: ParserName = SHIPPED_PARSER,
) -> None:
    """Draw ROUGE, and the attention that is read, by how many sentences are read (figures 2 and 4 of the paper).

    Example: discsum analyze rouge news.jsonl --system runs/kl/best --system runs/kl/best,ideal --r 1 --r 2 --r 5
    """
    from discsum.abstractive.analysis.pictures import curves
    from discsum.abstractive.analysis.reading import read_some
    from discsum.cli.models import load_parser
    from discsum.rouge import signature

    pairs = _pairs(table, documents)
    texts, names = [pair.text for pair in pairs], [pair.id for pair in pairs]
    parsed = list(load_parser(parser).parse_many(texts, ids=names))
    references = [pair.references for pair in pairs]
    lengths = {"min_new_tokens": min_tokens, "max_new_tokens": max_tokens}
    options = {"num_beams": beams} | {name: value for name, value in lengths.items() if value is not None}
    amounts = sorted(set(read or [1, 2, 3, 5, 10]))
    found: dict[str, list[dict[str, Any]]] = {}
    for name in system:
        model, _, selector = name.partition(",")
        summarizer = _load(model, selector or None)
        whole = summarizer.selector.selector == ALL
        with counting(name, len(pairs) * (1 if whole else len(amounts))) as show:
            found[name] = []
            for place, r in enumerate([None] if whole else amounts):

                def shown(done: int, before: int = place * len(pairs)) -> None:
                    show(before + done)

                found[name].append(read_some(summarizer, parsed, references, r, shown, **options).to_dict())
    path = _write(output, "rouge", {"table": table, "signature": signature(), "systems": found})
    for metric, label in (("rouge1", "R-1"), ("mass", "share of attention read")):
        lines = {
            name: [entry[metric] for entry in entries] * (len(amounts) if len(entries) < len(amounts) else 1)
            for name, entries in found.items()
        }
        labels, place_ = ("sentences read, r", label), path.with_name(f"{path.stem}-{metric}.json")
        title = f"{len(pairs)} documents"
        typer.echo("\n".join(map(str, curves(lines, amounts, labels, title, place_, bottom=None))))
    for name, entries in found.items():
        for entry in entries:
            figures = "  ".join(f"{entry[metric]:6.2f}" for metric in ("rouge1", "rouge2", "rougeLsum"))
            typer.echo(f"{name:40} r={entry['r'] or 'all':<4} {figures}  attention read {entry['mass']:.3f}")
    typer.echo(f"signature: {signature()}")


@app.command(name="time")
def time_(
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
    summarizer = _load(model, selector, r)
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
    path = _write(output, "time", data)
    lines = {f"N = {count}": [one.seconds for one in samples if one.input == count] for count in tokens}
    pictures = curves(lines, lengths, ("output tokens, M", "seconds a pass"), summarizer.name, path)
    typer.echo("\n".join(map(str, pictures)))
    typer.echo(f"R squared {fitted.r_squared:.4f}")
    for term, value in fitted.relative.items():
        typer.echo(f"{term:5}{value:12.3e}")


@app.command()
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

    pairs = _pairs(table, documents)
    tokenizer = _load(model).tokenizer
    parsed = load_parser(parser).parse_many([pair.text for pair in pairs])
    counted = ((pair, len(document.sentences)) for pair, document in zip(pairs, parsed, strict=True))
    found = corpus_statistics(counted, tokenizer)
    _write(output, "corpus", {"table": table, "model": model, **found.to_dict()})
    figures = {"N": found.tokens, "N1": found.sentences, "M": found.summary_tokens, "N/M": found.ratio}
    typer.echo("  ".join([f"documents {found.documents}", *(f"{name} {value:.1f}" for name, value in figures.items())]))
