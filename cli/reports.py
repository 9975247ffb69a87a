"""`discsum extract --report`: a page for each summary, and for several a page that lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from discsum.cli.result_options import SHOWN_DIGITS
from discsum.cli.writer import Writer
from discsum.data.inputs import Item

if TYPE_CHECKING:
    from discsum.formats.html import Listed
    from discsum.summarizer.pipeline import SummaryPipeline
    from discsum.summary import Summary

OPTION = "--report"
INDEX = "index"


class Reports:
    """Writes pages to one file, or to a folder with a list of them."""

    def __init__(self, inputs: Sequence[str], path: str, *, single: bool, output: str | None, resume: bool) -> None:
        """Check the path of the pages, before anything is loaded.

        Raises:
            BadParameter: One file for several documents, a suffix other than `.html`, the file of `--output`, or
                `resume`, because the list would lack the pages of earlier runs.
            InputError: A path that cannot be written, or is an input.
        """
        suffix = Path(path).suffix
        if path == "-" or (single and suffix and suffix != ".html"):
            raise typer.BadParameter(f"expected an .html file or a folder, got {path!r}", param_hint=OPTION)
        if not single and suffix == ".html":
            message = f"several documents need a folder: --report {Path(path).with_suffix('')}"
            raise typer.BadParameter(message, param_hint=OPTION)
        if output is not None and Path(output) == Path(path) and suffix:
            raise typer.BadParameter(f"expected a file other than --output {output}", param_hint=OPTION)
        if resume:
            raise typer.BadParameter("cannot be combined with --resume", param_hint=OPTION)
        self._writer = Writer(inputs, path, ".html", one_file=single, option=OPTION, reserved="" if single else INDEX)
        self._listed: list[Listed] | None = None if single else []
        self._settings: list[tuple[str, str]] = []
        self._parser = self._fingerprint = ""

    def describe(self, pipeline: SummaryPipeline) -> None:
        """Set what pages show besides the model: the options' signature, and the fingerprint of the parser."""
        options: dict[str, bool | str] = {"tidy": True} if pipeline.tidy else {}
        if pipeline.sentences != "model":
            options["sentences"] = pipeline.sentences
        parser = pipeline.scorer.parser
        self._settings = [("options", str(pipeline.policy.signature.with_(**options)))]
        self._parser, self._fingerprint = getattr(parser, "name", ""), getattr(parser, "fingerprint", "")[:SHOWN_DIGITS]

    def write(self, item: Item, summary: Summary) -> None:
        """Write the page of a summary."""
        from discsum.formats.html import Listed, page

        if not summary.document.id:
            summary = replace(summary, document=summary.document.with_id(item.id))
        # Documents that came with a tree were parsed by another parser, or by people.
        own = [("parser's fingerprint", self._fingerprint)] if summary.document.parser == self._parser else []
        name = self._writer.write(item, page(summary.document, summary, [*self._settings, *own]))
        if self._listed is not None:
            self._listed.append(Listed.of(name, summary))

    def __enter__(self) -> Reports:
        """Return the reports; the list of pages is written when the block ends."""
        self._writer.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        """Write the list of pages, even if documents failed and the block ends with `typer.Exit`."""
        from discsum.formats.html import index

        self._writer.__exit__(*error)
        if self._listed:
            self._writer.write_reserved(index(self._listed))
