"""`discsum analyze time --mode encoder`: compare a compressed encoder with its full attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import typer

from discsum.cli.analysis import write_numbers
from discsum.cli.progress import counting, loading


def show_encoder_times(model: str, output: str, lengths: Sequence[int], repeats: int, device: str) -> None:
    """Print and plot the speed-up and the memory of a compressed encoder by rising text lengths in tokens."""
    with loading("the model"):
        from discsum.abstractive.analysis.encoding_time import encoder_times
        from discsum.abstractive.analysis.pictures import curves
        from discsum.abstractive.summarizer import AbstractiveSummarizer

        summarizer = AbstractiveSummarizer.from_pretrained(model, device=device)
    most = summarizer.positions
    if most is not None and lengths[-1] > most:
        raise typer.BadParameter(
            f"--input-tokens: expected at most {most}, the number of positions of {model}, got {lengths[-1]}"
        )
    with counting("measured", len(lengths)) as counter:
        samples = []
        for sample in encoder_times(summarizer.model, lengths, repeats):
            samples.append(sample)
            counter(len(samples))
    data = {"model": model, "samples": [asdict(one) | {"speed_up": one.speed_up} for one in samples]}
    path = write_numbers(output, "encoder-time", data)
    labels = ("tokens of the text", "times faster than full attention")
    pictures = curves({"encoder": [one.speed_up for one in samples]}, lengths, labels, summarizer.name, path)
    if all(one.mebibytes is not None for one in samples):
        both = {
            "compressed": [one.mebibytes or 0.0 for one in samples],
            "full attention": [one.stock_mebibytes or 0.0 for one in samples],
        }
        named = path.with_name("encoder-memory.json")
        pictures += curves(both, lengths, (labels[0], "MiB above the weights"), summarizer.name, named)
    typer.echo("\n".join(map(str, pictures)))
    measured = "" if samples[0].mebibytes is None else f"{'memory':>14} {'full memory':>14}"
    typer.echo(f"{'tokens':>7} {'compressed':>11} {'full':>11} {'faster':>6}{measured}")
    for one in samples:
        memory = "" if one.mebibytes is None else f"{one.mebibytes:10.1f} MiB {one.stock_mebibytes:10.1f} MiB"
        typer.echo(f"{one.tokens:7} {one.seconds:9.3f} s {one.stock_seconds:9.3f} s {one.speed_up:6.2f}{memory}")
