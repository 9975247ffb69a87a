"""Documents that teachers speak for: texts without trees as examples, each asked about once, taken in turns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from discsum.errors import InputError
from discsum.files import replacing
from discsum.parsers.structure import Expected
from discsum.parsers.structure.chart import LIMIT
from discsum.parsers.subwords import Subwords, split_subwords
from discsum.parsers.training.examples import Example, Targets
from discsum.parsers.training.teachers import Teachers, Values, mean_of

PARAGRAPH = 30
_ENDS = re.compile(r"\n|(?<=[.!?]) ")


def pseudo_label(
    texts: Sequence[str],
    teachers: Teachers,
    tokenizer: Tokenizer,
    cache: Path,
    report: Callable[[str], None] = lambda line: None,
) -> list[Example]:
    """Return an example for each text that teachers find a tree for, in order.

    Args:
        texts: Texts to learn from.
        teachers: Who reads them.
        tokenizer: The pupil's.
        cache: Folder in which each teacher's answers are kept, named by all that made them; runs may share it.
        report: Takes lines of progress.

    Raises:
        InputError: No text is left to learn from.
    """
    cache.mkdir(parents=True, exist_ok=True)
    examples = []
    for number, text in enumerate(texts):
        report(f"labelled {number}/{len(texts)}\r")
        words = split_subwords(text, tokenizer)
        answers: list[Values] = []
        for place in range(len(teachers.parsers)):
            path = cache / f"{teachers.key(place, text, words)}.safetensors"
            values = _kept(path)
            if values is None:
                values = teachers.read(place, text, words, answers[0] if answers else None)
                with replacing(path) as partial:
                    save_file(values, partial)
            if not len(values["nodes"]):
                break
            answers.append(values)
        if len(answers) == len(teachers.parsers):
            examples.append(_example(text, words, mean_of(answers)))
    if not examples:
        raise InputError(
            f"texts: expected texts of 2 to {LIMIT} EDUs that teachers and pupil cut into the same subwords, "
            f"got {len(texts)} others"
        )
    report(f"teachers read {len(texts)} texts, {len(examples)} of them with a tree to learn")
    return examples


def with_paragraphs(text: str) -> str:
    """Return the text with blank lines between paragraphs, as treebanks have them.

    Where there are none, lines that hold several sentences, `PARAGRAPH` words and more on average, are paragraphs.
    """
    lines = text.split("\n")
    if "\n\n" in text or len(lines) == 1 or len(text.split()) < PARAGRAPH * len(lines):
        return text
    return "\n\n".join(lines)


def shortened(text: str, longest: int) -> str:
    """Return the text, or its lines and sentences within the first `longest` characters, or those characters."""
    if len(text) <= longest:
        return text
    ends = [match.start() for match in _ENDS.finditer(text, 1, longest)]
    return text[: ends[-1] if ends else longest]


def _kept(path: Path) -> Values | None:
    """Return what the file holds; none where there is no whole file."""
    try:
        return load_file(path) if path.is_file() else None
    except SafetensorError:
        return None


def _example(text: str, words: Subwords, values: Values) -> Example:
    targets = Targets(
        values["edu_starts"],
        values["sentence_starts"],
        values["nodes"],
        values["labels"],
        Expected(values["left"], values["right"]),
    )
    return Example(text[:40], None, words, values["tags"], targets)


def in_turns(examples: int, first: int, count: int, seed: int) -> list[int]:
    """Return `count` of so many examples, from place `first` of an endless row: all in turn, in a new order each turn.

    There are none of no examples.
    """
    chosen = []
    for place in range(first, first + count if examples else first):
        turn, index = divmod(place, examples)
        # The zero keeps these orders apart from those of the gold documents, which are drawn by pass.
        chosen.append(int(np.random.default_rng([seed, 0, turn]).permutation(examples)[index]))
    return chosen
