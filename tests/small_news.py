"""Small tables of texts with summaries that a model can learn."""

import json

import numpy as np
import yaml

from discsum.data.pairs import Pair

SENTENCES = [
    "The river rose in winter.",
    "The miller stopped the wheel because the water was high.",
    "The baker bought bread in the town.",
    "Nobody thought of the old bridge.",
    "When the rain stopped, the village sold the mill.",
    "She asked for flour, but the stones broke.",
]


def pairs(first, last):
    """Return texts whose third sentence, not counting the opening 'Text N.', is the reference."""
    found = []
    for seed in range(first, last):
        order = np.random.default_rng(seed).permutation(len(SENTENCES))
        chosen = [SENTENCES[index] for index in order]
        found.append(Pair(f"text-{seed}", f"Text {seed}. " + " ".join(chosen), (chosen[2],)))
    return found


def write_table(path, first, last):
    """Write a table of texts and return its path."""
    rows = [{"id": pair.id, "text": pair.text, "summary": pair.references[0]} for pair in pairs(first, last)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_recipe(folder, parser_folder, **fields):
    """Write a recipe that reads `train.jsonl` and `validation.jsonl` of a folder; return its path."""
    content = {
        "kind": "extractive",
        "name": "tiny-news",
        "data": str(folder),
        "parser": str(parser_folder),
        "train": [{"path": "train.jsonl"}],
        "validation": [{"path": "validation.jsonl"}],
    }
    path = folder / "tiny.yaml"
    path.write_text(yaml.safe_dump(content | fields))
    return path
