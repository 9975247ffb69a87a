"""`discsum evaluate` of parsers on a treebank."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from discsum.baselines import BASELINES
from discsum.cli.command import as_usage
from discsum.cli.output_paths import check_writable
from discsum.cli.progress import loading
from discsum.constants import ORACLE
from discsum.data.made_folder import is_dataset_folder
from discsum.devices import check_device
from discsum.errors import InputError, warn_caller

if TYPE_CHECKING:
    from discsum.document import Document
    from discsum.metrics.significance import Comparison
    from discsum.parsers.training.gold_splits import GoldSplit
    from discsum.parsers.training.score_set import ScoreSet

# Printed names of the scores in `ScoreSet.parts`, and of the figures of each.
SCORES = {
    "edus": "EDU starts, raw text",
    "sentences": "sentence starts, raw text",
    "gold": "trees, gold EDUs and sentences",
    "raw_start": "trees, raw text, start-keyed",
    "raw_end": "trees, raw text, end-keyed",
}
FIGURES = {
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "span": "S",
    "nuclearity": "N",
    "relation": "R",
    "full": "F",
}
# What `ScoreSet.compared` returns: by name in `SCORES`, then in `FIGURES`.
Comparisons = dict[str, dict[str, "Comparison"]]


@dataclass(frozen=True)
class Measured:
    """The scores of a parser, or of a folder of trees, on documents of a treebank."""

    model: str
    documents: Sequence[Document]
    scores: ScoreSet

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield each document's counts."""
        for document, counts in zip(self.documents, self.scores.documents(), strict=True):
            yield {"id": document.id, "model": self.model, **counts}

    def compared(self, other: Measured) -> Comparisons:
        """Return `ScoreSet.compared`; nothing if the parsers cannot be compared, and warn why."""
        own, others = ([(one.id, one.text, one.sentences, one.edus) for one in of.documents] for of in (self, other))
        if own != others:
            reason = "they were measured on different documents, or on different gold sentences or EDUs"
        else:
            try:
                found = self.scores.compared(other.scores)
            except InputError as error:
                reason = str(error)
            else:
                trees = [figures for figures in found.values() if "span" in figures]
                if trees and not any("relation" in figures for figures in trees):
                    message = f"{self.model} is compared with {other.model} only in what does not depend on relations"
                    warn_caller(f"{message}: their relations have different classes (--classes)")
                return found
        warn_caller(f"{self.model} is not compared with {other.model}: {reason}")
        return {}


def show_parsers(
    models: Sequence[str],
    data: Path,
    split: str,
    rows: slice,
    rst: bool,
    style: str,
    device: str,
    against: Sequence[str] | None = None,
    output: str | None = None,
    recipe: str | None = None,
) -> None:
    """Print the scores of each parser, or folder of trees, on the documents `rows` of a split of a treebank.

    The scores are compared with those of the parsers `against`, by default of the first. The counts of each document
    are written to the file `output`. Relations are compared by the classes in a `recipe`, if one is given.
    """
    from discsum.experiments.report import few_documents, write_entries
    from discsum.parsers.training.gold_splits import read_split
    from discsum.parsers.training.predicted_trees import check_system
    from discsum.parsers.training.relation_checks import recipe_classes

    names = None if recipe is None else recipe_classes(recipe)
    if output is not None:
        check_writable(Path(output), folder=False)
    for model in models:
        if model in (*BASELINES, ORACLE):
            raise typer.BadParameter(f"expected parsers for the treebank {data}, got the summarizer {model}")
        if Path(model).is_dir() and is_dataset_folder(Path(model)):
            raise typer.BadParameter(f"expected parsers for the treebank {data}, got the dataset folder {model}")
        check_system(model)
    # On treebanks other than GUM, each parser is scored on the splits that it was trained with.
    splits = read_split(data, split, models)
    if sizes := [len(gold.documents) for gold in splits if not gold.documents[rows]]:
        raise InputError(
            f"{data}: expected documents of {split} between --first and --last, got none; {split} has {sizes[0]}"
        )
    with loading("the parser"), as_usage():
        check_device(device)
    measured = []
    for model, gold in zip(models, splits, strict=True):
        # In the same order for all parsers, whose lists of documents may differ in it.
        chosen = sorted(gold.documents[rows], key=lambda document: document.id)
        measured.append(Measured(model, chosen, _scores_of(model, gold, chosen, rst, device, names)))
        if style != "json":
            count = len(gold.documents)
            some = "" if len(chosen) == count else f", {len(chosen)} of {count} documents from {rows.start}"
            typer.echo(_heading(f"{model} on {data} {split}{some}", style))
            _print_scores(measured[-1].scores, style)
    if output is not None:
        write_entries(Path(output), [entry for one in measured for entry in one.entries()])
    others = [one for one in measured if one.model in (against or models[:1])]
    pairs = [(one, other, one.compared(other)) for one in measured for other in others if one is not other]
    if style == "json":
        figures = [
            {"model": one.model, "first": rows.start, "documents": len(one.documents), **one.scores.to_dict()}
            | {"against": [_entry(other, found) for own, other, found in pairs if own is one and found]}
            | {"warnings": few_documents(len(one.documents)) if pairs else []}
            for one in measured
        ]
        typer.echo(json.dumps({"data": str(data), "split": split, "models": figures}, indent=1))
    else:
        _print_differences([pair for pair in pairs if pair[2]], style)


def _scores_of(
    model: str,
    gold: GoldSplit,
    chosen: Sequence[Document],
    rst: bool,
    device: str,
    names: Mapping[str, str] | None,
) -> ScoreSet:
    """Return the scores of a parser, or of a folder of trees, on some documents of a split.

    Relations are compared by the classes `names`, if there are any, otherwise by those of the parser or treebank.
    """
    from discsum.parsers.training.predicted_trees import evaluate_trees, is_tree_folder, read_predictions
    from discsum.parsers.training.relation_checks import relations_of, warn_of_relations
    from discsum.relation_classes import RelationClasses

    guessed = any(document.id in gold.guessed for document in chosen)
    # By the relations of the whole split, so that the classes do not depend on the chosen documents.
    classes = RelationClasses.of(relations_of(gold.documents), names or {})
    if is_tree_folder(model):
        trees, unsure = read_predictions(Path(model), chosen)
        warn_of_relations(model, relations_of(trees), chosen, classes)
        return evaluate_trees(chosen, trees, rst=rst, guessed=guessed, unsure=unsure, classes=classes)
    # Late, because trees are scored without torch.
    with loading(model):
        from discsum.parsers.loading import load_parser
        from discsum.parsers.training.evaluation import evaluate_parser

        parser = load_parser(model, device)
    return evaluate_parser(parser, chosen, rst=rst, guessed=guessed, classes=classes if names else None)


def _heading(text: str, style: str) -> str:
    """Return a line above figures, in Markdown a paragraph."""
    return f"{text}\n" if style == "markdown" else text


def _entry(other: Measured, found: Comparisons) -> dict[str, Any]:
    """Return a comparison as JSON."""
    differences = {name: {figure: one.to_dict() for figure, one in row.items()} for name, row in found.items()}
    return {"model": other.model, **differences, "signature": _signature(found)}


def _signature(found: Comparisons) -> str:
    """Return the signature that all comparisons of two parsers share."""
    return str(next(iter(next(iter(found.values())).values())).signature)


def _print_scores(scores: ScoreSet, style: str) -> None:
    rows = {
        name: {figure: f"{value:.1f}" for figure in FIGURES if (value := getattr(one, figure, None)) is not None}
        for name, one in scores.parts.items()
    }
    _print_rows(rows, {name: str(one.signature) for name, one in scores.parts.items()}, style, 5)


def _print_differences(pairs: Sequence[tuple[Measured, Measured, Comparisons]], style: str) -> None:
    from discsum.experiments.report import few_documents, p_value

    for one, other, found in pairs:
        rows = {
            name: {figure: f"{pair.difference:+.1f} {p_value(pair.p_value)}" for figure, pair in row.items()}
            for name, row in found.items()
        }
        typer.echo(_heading(f"{one.model} - {other.model}, difference in F1 with p-value (paired bootstrap)", style))
        _print_rows(rows, {}, style, 13)
        typer.echo(f"    {_signature(found)}" if style == "table" else f"- `{_signature(found)}`\n")
        for warning in few_documents(len(one.documents)):
            typer.echo(warning if style == "table" else f"{warning}\n")


def _print_rows(rows: dict[str, dict[str, str]], signatures: dict[str, str], style: str, width: int) -> None:
    """Print rows of figures and the signatures of those that have one; in Markdown a table for each set of figures."""
    if style == "markdown":
        from discsum.experiments.report import aligned

        for columns in dict.fromkeys(tuple(row) for row in rows.values()):
            cells = [[SCORES[name], *row.values()] for name, row in rows.items() if tuple(row) == columns]
            typer.echo(aligned([["", *(FIGURES[figure] for figure in columns)], *cells], style) + "\n")
        if signatures:
            lines = [f"- {SCORES[name]}: `{signature}`" for name, signature in signatures.items()]
            typer.echo("\n".join(lines) + "\n")
        return
    for name, row in rows.items():
        shown = "  ".join(f"{FIGURES[figure]} {value:>{width}}" for figure, value in row.items())
        typer.echo(f"{SCORES[name]:42} {shown}")
        if name in signatures:
            typer.echo(f"    {signatures[name]}")
