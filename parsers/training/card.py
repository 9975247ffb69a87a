"""The model card of a trained parser, written from its run."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import yaml

from discsum.constants import HUB
from discsum.parsers.training.evaluation import ParserScores, format_figures
from discsum.parsers.training.recipe import ParserRecipe
from discsum.parsers.training.splits import Treebank
from discsum.persistence import card_header
from discsum.text_checks import ENGLISH
from discsum.training.task import LogEntry

_GUM = """\
Trained on {train} documents of the train split of GUM (Georgetown University Multilayer corpus, Zeldes 2017), chosen on
its dev split; the test split was not used. GUM's annotations are CC BY 4.0. Of the texts, {licences}. These are the
licences of `LICENSE.txt` in GUM V11.1; where it states none, the terms of the sources are not known. No text of the
corpus is part of this model.

| genre | licence of the texts | documents trained on |
|---|---|---|
{genres}
"""
# From LICENSE.txt of GUM V11.1.
GUM_LICENCES = {
    "academic": "CC BY 4.0",
    "bio": "CC BY-SA 3.0",
    "court": "CC BY 4.0",
    "essay": "CC BY-NC-SA 4.0",
    "fiction": "CC BY-NC-SA 3.0",
    "interview": "CC BY 2.5",
    "letter": "CC BY-NC-SA 4.0",
    "news": "CC BY 2.5",
    "podcast": "CC BY-NC-SA 4.0",
    "voyage": "CC BY-SA 3.0",
    "whow": "CC BY-NC-SA 3.0",
}

_OTHER = """\
Trained on {train} documents of the treebank `{name}` ({edus} EDUs, {relations} relations), chosen on {dev} others, its
dev split; {test}. `treebank.json` names the documents of each split.
{sentences}"""
_GUESSED = "Sentences of {guessed} of its documents are guessed from final punctuation.\n"

_TEACHERS = """\
In addition to gold trees it was trained on texts without trees, pseudo-labelled by trained parsers. None of these
texts is part of this model.

- teachers: {teachers}
- texts, at most {longest} characters of each: {texts}
"""


def parser_card(
    name: str,
    recipe: ParserRecipe,
    treebank: Treebank,
    log: Sequence[LogEntry],
    best: LogEntry,
    notes: str,
) -> str:
    """Return the model card of one run: data and licences, recipe, and the figures of its log."""
    losses = " | ".join(log[0].parts)
    table = [f"| step | dev | {losses} |", "|---|---|" + "---|" * len(log[0].parts)]
    for entry in log:
        parts = " | ".join(f"{value:.3f}" for value in entry.parts.values())
        table.append(f"| {entry.steps} | {format_figures(entry.validation)} | {parts} |")
    kept = f"{_weights(recipe)} after step {best.steps}"
    return _card(name, recipe, treebank, kept, "\n".join(table), notes)


def mean_card(
    name: str,
    recipe: ParserRecipe,
    treebank: Treebank,
    runs: Sequence[tuple[str, ParserScores]],
    scores: ParserScores,
    notes: str,
) -> str:
    """Return the card of several runs' averaged weights: as `parser_card`, with the figures of each run and of all."""
    rows = [(run, list(found.figures.values())) for run, found in runs]
    columns = list(zip(*(values for _, values in rows), strict=True))
    rows.append(("*their mean*", [statistics.mean(column) for column in columns]))
    if len(runs) > 1:
        rows.append(("*their standard deviation*", [statistics.stdev(column) for column in columns]))
    rows.append(("**mean of their weights**", list(scores.figures.values())))
    table = ["| | EDUs | sentences | gold EDUs | raw text, start | raw text, end |", "|---|---|---|---|---|---|"]
    table += [f"| {label} | {_cells(values)} |" for label, values in rows]
    taken = f"each taken as {_weights(recipe)} at its best validation"
    kept = f"the mean of the weights of {len(runs)} runs with the same start, {taken}"
    return _card(name, recipe, treebank, kept, "\n".join(table), notes)


def _weights(recipe: ParserRecipe) -> str:
    return "the running average" if recipe.average else "the weights"


def _cells(values: Sequence[float]) -> str:
    shown = [f"{value:.1f}" for value in values]
    return " | ".join([*shown[:2], *(" / ".join(shown[first : first + 4]) for first in (2, 6, 10))])


def _data(treebank: Treebank) -> str:
    """Return the card's text on the training data."""
    if treebank.is_gum:
        names = [document.id for document in treebank.train]
        return _GUM.format(train=len(names), licences=_licences(names), genres=_genres(names))
    nodes = [node for document in treebank.train if document.tree for node in document.tree.nodes]
    test = len(treebank.splits.names.get("test", ()))
    return _OTHER.format(
        name=treebank.name,
        train=len(treebank.train),
        dev=len(treebank.dev),
        edus=sum(len(document.edus) for document in treebank.train),
        relations=len({node.relation for node in nodes}),
        test=f"the {test} of the test split were not used" if test else "there is no test split",
        sentences=_GUESSED.format(guessed=treebank.guessed) if treebank.guessed else "",
    )


def _licences(names: Sequence[str]) -> str:
    """Return how many documents of GUM are open, for non-commercial use, and of no stated licence."""
    found = [GUM_LICENCES.get(_genre(name)[0], "") for name in names]
    restricted, unstated = sum("-NC" in licence for licence in found), found.count("")
    return (
        f"{len(found) - restricted - unstated} are CC BY or CC BY-SA, {restricted} CC BY-NC-SA (no commercial use), "
        f"and of {unstated} no licence is stated"
    )


def _genre(name: str) -> tuple[str, str]:
    """Return the genre of a document of GUM, which is named `GUM_GENRE_NAME`, and the rest of its name."""
    genre, _, rest = name.removeprefix("GUM_").partition("_")
    return genre, rest


def _genres(names: Sequence[str]) -> str:
    """Return a table row for each genre of GUM, with its licence and documents."""
    documents = dict[str, list[str]]()
    for name in sorted(names):
        genre, rest = _genre(name)
        documents.setdefault(genre, []).append(rest)
    return "\n".join(
        f"| {genre} | {GUM_LICENCES.get(genre, 'not in `LICENSE.txt`')} | {len(found)}: {', '.join(found)} |"
        for genre, found in documents.items()
    )


def _card(name: str, recipe: ParserRecipe, treebank: Treebank, kept: str, figures: str, notes: str) -> str:
    data, measured = _data(treebank), "GUM dev" if treebank.is_gum else "the dev split"
    license = recipe.license or ("apache-2.0" if treebank.is_gum else "")
    language = recipe.language or treebank.language
    english = "English " if language == ENGLISH else ""
    if recipe.teachers:
        texts = ", ".join(map(str, recipe.texts))
        data += _TEACHERS.format(teachers=", ".join(recipe.teachers), longest=recipe.longest, texts=texts)
    if recipe.start:
        data += f"\nLayers that match were initialised from another parser, {recipe.start}.\n"
    base = recipe.encoder.removeprefix(HUB)
    tags = ["rst", "discourse-parsing", "discourse-segmentation"]
    header = card_header(license=license, language=language, tags=tags, base_model=base)
    settings = yaml.safe_dump(recipe.to_dict(), sort_keys=False, allow_unicode=True)
    return f"""\
{header}# {name}

Finds the sentences, elementary discourse units (EDUs) and RST tree of raw {english}text. Use it with
`discsum parse --parser FOLDER`. The weights are {kept}, stored as float16.

## Data

{data}
The pretrained encoder, {base}, has its own licence.

## Figures on {measured}

The columns are the F1 of EDUs and of sentences from raw text, and the F1 of spans, nuclearity, relations and all three
(original Parseval): with gold EDUs and sentences, and from raw text with spans identified by the start and by the end
of their first EDU.

{figures}

{notes}
## Recipe

```yaml
{settings}```
"""
