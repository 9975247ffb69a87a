"""`discsum analyze attention` of a coarse-to-fine model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from discsum.cli.analysis import parsed_document, write_numbers
from discsum.cli.progress import loading
from discsum.constants import BEAMS

if TYPE_CHECKING:
    from discsum.data.inputs import Item


def draw_chunks(item: Item, model: str, output: str, max_tokens: int, parser: str, device: str) -> None:
    """Write attention to chunks and words as JSON, and plot both; text beyond the model's input is truncated."""
    with loading("the model"):
        from discsum.abstractive.analysis.chunk_maps import chunk_maps
        from discsum.abstractive.analysis.pictures import heatmap
        from discsum.abstractive.summarizer import AbstractiveSummarizer

        summarizer = AbstractiveSummarizer.from_pretrained(model, device=device)
    document = parsed_document(item, parser, device, summarizer)
    maps = chunk_maps(summarizer, document, truncate=True, num_beams=BEAMS, max_new_tokens=max_tokens)
    path = write_numbers(output, "attention-chunks", maps.to_dict())
    settings = ", ".join(f"{name} {value}" for name, value in summarizer.family.settings().items())
    title = f"{summarizer.name}, {settings}; entropy {maps.entropies.mean():.2f}"
    chunks, labels = [text or "(padding)" for text in maps.chunks], ("generated token", "chunk of the text")
    pictures = heatmap(maps.coarse.T, chunks, maps.written, labels, title, path)
    words, labels = path.with_name(f"{path.stem}-words.json"), ("generated token", "token of the text")
    pictures += heatmap(maps.words.T, maps.read, maps.written, labels, title, words)
    typer.echo("\n".join(map(str, pictures)))
