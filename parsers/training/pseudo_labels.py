"""Pseudo-labels: training examples from texts without trees, labelled by teachers, and the order they are drawn in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save
from tokenizers import Tokenizer

from discsum.errors import InputError
from discsum.files import replacing
from discsum.parsers.structure import Expected
from discsum.parsers.structure.chart import LIMIT
from discsum.parsers.subwords import split_subwords
from discsum.parsers.training.examples import Example, Targets
from discsum.parsers.training.teachers import Predictions, Teachers, mean_predictions

# Words per line, on average, from which lines count as paragraphs.
PARAGRAPH = 30
_ENDS = re.compile(r"\n|(?<=[.!?]) ")


def pseudo_label(
    texts: Sequence[str],
    teachers: Teachers,
    tokenizer: Tokenizer,
    cache: Path,
    report: Callable[[str], None] = lambda line: None,
) -> list[Example]:
    """Return an example for each text for which the teachers predict a tree, in order.

    Args:
        texts: Texts without trees.
        teachers: Parsers that label the texts.
        tokenizer: The student's tokenizer.
        cache: Folder of each teacher's predictions, one file per teacher and text; runs may share it.
        report: Called with lines of progress.

    Raises:
        InputError: No text can be labelled.
    """
    cache.mkdir(parents=True, exist_ok=True)
    examples = []
    for number, text in enumerate(texts):
        report(f"labelled {number}/{len(texts)}\r")
        words = split_subwords(text, tokenizer)
        found: list[Predictions] = []
        for teacher in range(len(teachers.parsers)):
            path = cache / f"{teachers.key(teacher, text, words)}.safetensors"
            values = _cached(path)
            if values is None:
                values = teachers.predict(teacher, text, words, found[0] if found else None)
                with replacing(path) as partial:
                    partial.write_bytes(save(values))
            if not len(values["nodes"]):
                break
            found.append(values)
        if len(found) == len(teachers.parsers):
            mean = mean_predictions(found)
            expected = Expected(mean["left"], mean["right"])
            targets = Targets(mean["edu_starts"], mean["sentence_starts"], mean["nodes"], mean["labels"], expected)
            examples.append(Example(text[:40], None, words, mean["tags"], targets))
    if not examples:
        raise InputError(
            f"texts: expected at least one of 2 to {LIMIT} EDUs that teachers and student split into the same "
            f"subwords, found none among {len(texts)}"
        )
    report(f"teachers labelled {len(texts)} texts, {len(examples)} of them with a tree")
    return examples


def separate_paragraphs(text: str) -> str:
    """Return the text with blank lines between paragraphs, as in treebanks.

    In a text without blank lines, lines of `PARAGRAPH` words or more on average are paragraphs.
    """
    lines = text.split("\n")
    if "\n\n" in text or len(lines) == 1 or len(text.split()) < PARAGRAPH * len(lines):
        return text
    return "\n\n".join(lines)


def truncate(text: str, longest: int) -> str:
    """Return at most `longest` characters of the text, cut at the end of a line or sentence where there is one."""
    if len(text) <= longest:
        return text
    ends = [match.start() for match in _ENDS.finditer(text, 1, longest)]
    return text[: ends[-1] if ends else longest]


def _cached(path: Path) -> Predictions | None:
    """Return the predictions in a file; None if it is missing or damaged."""
    try:
        return load_file(path) if path.is_file() else None
    except SafetensorError:
        return None


def shuffled_cycle(examples: int, first: int, count: int, seed: int) -> list[int]:
    """Return `count` items, from item `first` on, of an endless sequence of passes over the examples' indices.

    Each pass is shuffled. The result is empty if there are no examples.
    """
    chosen = []
    for position in range(first, first + count if examples else first):
        number, index = divmod(position, examples)
        chosen.append(int(np.random.default_rng([seed, 0, number]).permutation(examples)[index]))
    return chosen
