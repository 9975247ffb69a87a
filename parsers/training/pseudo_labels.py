"""Pseudo-labels: training examples from texts without trees, labelled by teachers, and the order they are drawn in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save
from tokenizers import Tokenizer

from discsum.batches import batches
from discsum.errors import InputError
from discsum.files import replacing
from discsum.parsers.budgets import budget_of
from discsum.parsers.structure import Expected
from discsum.parsers.structure.chart import LIMIT
from discsum.parsers.subwords import Subwords, split_texts
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
    examples, done = list[Example](), 0
    for some in batches(texts, budget_of(teachers.parsers[0].network.device).texts):
        report(f"labelled {done}/{len(texts)}\r")
        done += len(some)
        words = [*split_texts(some, tokenizer)]
        # For each text, the predictions of the teachers until one finds no tree.
        found: list[list[Predictions]] = [[] for _ in some]
        for teacher in range(len(teachers.parsers)):
            for index, values in _predictions(teachers, teacher, some, words, found, cache).items():
                if len(values["nodes"]):
                    found[index].append(values)
        for text, own, predictions in zip(some, words, found, strict=True):
            if len(predictions) == len(teachers.parsers):
                mean = mean_predictions(predictions)
                expected = Expected(mean["left"], mean["right"])
                targets = Targets(mean["edu_starts"], mean["sentence_starts"], mean["nodes"], mean["labels"], expected)
                examples.append(Example(text[:40], None, own, mean["tags"], targets))
    if not examples:
        raise InputError(
            f"texts: expected at least one of 2 to {LIMIT} EDUs that teachers and student split into the same "
            f"subwords, found none among {len(texts)}"
        )
    report(f"teachers labelled {len(texts)} texts, {len(examples)} of them with a tree")
    return examples


def _predictions(
    teachers: Teachers,
    teacher: int,
    texts: Sequence[str],
    words: Sequence[Subwords],
    found: Sequence[Sequence[Predictions]],
    cache: Path,
) -> dict[int, Predictions]:
    """Return a teacher's predictions for each text for which all teachers before it found a tree, by index.

    They come from the cache, or are made together and kept there.
    """
    asked = [index for index in range(len(texts)) if len(found[index]) == teacher]
    paths = {index: cache / f"{teachers.key(teacher, texts[index], words[index])}.safetensors" for index in asked}
    known = {path: values for path in paths.values() if (values := _cached(path)) is not None}
    # Equal texts are labelled once.
    missing = {path: index for index, path in paths.items() if path not in known}
    indices = list(missing.values())
    if indices:
        firsts = [found[index][0] if teacher else None for index in indices]
        own = [texts[index] for index in indices], [words[index] for index in indices]
        for path, values in zip(missing, teachers.predict(teacher, *own, firsts), strict=True):
            with replacing(path) as partial:
                partial.write_bytes(save(values))
            known[path] = values
    return {index: known[path] for index, path in paths.items()}


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
        chosen.append(int(_shuffled(examples, seed, number)[index]))
    return chosen


@lru_cache(maxsize=2)
def _shuffled(examples: int, seed: int, number: int) -> NDArray[np.int64]:
    """Return a pass over the examples' indices; steps share it."""
    return np.random.default_rng([seed, 0, number]).permutation(examples)
