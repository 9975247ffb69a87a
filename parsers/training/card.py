"""The model card of a trained parser, written from its run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from discsum.parsers.training.recipe import ParserRecipe

_DATA = """\
Trained on the train split of GUM (Georgetown University Multilayer corpus, Zeldes 2017), chosen on its dev split; the
test split was not used. GUM's annotations are CC BY 4.0; its texts come under the licence of their
source, mostly CC BY or CC BY-SA, some CC BY-NC-SA. No text of the corpus is part of this model.
"""


_TEACHERS = """\
Beside gold trees it learned what teachers, parsers trained before, said of texts without trees. No text of theirs is
part of this model.

- teachers: {teachers}
- texts, at most {longest} characters of each: {texts}
"""


def parser_card(name: str, recipe: ParserRecipe, log: Sequence[Mapping[str, Any]], notes: str) -> str:
    """Return the card: what the model is, its data and licences, its recipe, its figures epoch by epoch."""
    best = max(log, key=lambda entry: entry["summary"])
    epochs = "\n".join(f"| {entry['epoch']} | {entry['dev']} | {entry['losses']} |" for entry in log)
    data = _DATA
    if recipe.teachers:
        texts = ", ".join(map(str, recipe.texts))
        data += _TEACHERS.format(teachers=", ".join(recipe.teachers), longest=recipe.longest, texts=texts)
    if recipe.start:
        data += f"\nIt began with the layers that fit of another parser, {recipe.start}.\n"
    settings = yaml.safe_dump(recipe.to_dict(), sort_keys=False)
    return f"""\
---
license: apache-2.0
language: en
tags: [rst, discourse-parsing, discourse-segmentation]
base_model: {recipe.encoder}
---
# {name}

Sentences, elementary discourse units and an RST tree from raw English text; use it with
`discsum parse --parser FOLDER`. Weights are the running average at epoch {best["epoch"]}, stored as float16.

## Data

{data}
The encoder it goes back to, {recipe.encoder}, is under its own licence.

## Figures on GUM dev

Segmentation F1 of EDUs and sentences from raw text; original Parseval S/N/R/F with gold EDUs, and from raw text
with spans named by the start and by the end of their first EDU.

| epoch | dev | losses: tags, splits, labels |
|---|---|---|
{epochs}

{notes}
## Recipe

```yaml
{settings}```
"""
