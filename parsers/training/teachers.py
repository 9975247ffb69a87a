"""What trained parsers together say of texts without trees: targets for a smaller parser, or for the next one.

After knowledge distillation (Hinton et al. 2015) and silver trees for RST parsing (Kobayashi et al. 2021): the
pupil learns the teachers' mean probabilities of boundaries, of spans as children, and of labels.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from discsum.errors import InputError
from discsum.files import replacing
from discsum.parsers.labels import Label
from discsum.parsers.network import layout_of
from discsum.parsers.parser import Parser
from discsum.parsers.segmenter import EDU_START, SENTENCE_START, starts_from
from discsum.parsers.structure import Expected
from discsum.parsers.structure.chart import LIMIT, best_tree, expected
from discsum.parsers.subwords import Subwords, split_subwords
from discsum.parsers.training.examples import Example, Targets

_ENDS = re.compile(r"\n|(?<=[.!?]) ")
Values = dict[str, NDArray[np.generic]]


def taught(
    texts: Sequence[str],
    teachers: Sequence[Parser],
    tokenizer: Tokenizer,
    labels: Sequence[Label],
    cache: Path,
    report: Callable[[str], None] = lambda line: None,
) -> list[Example]:
    """Return an example for each text of 2 to `LIMIT` EDUs.

    Args:
        texts: Texts to learn from.
        teachers: Parsers of the design `chart` with the same labels, which cut texts into the same subwords.
        tokenizer: The pupil's.
        labels: The pupil's, equal to the teachers'.
        cache: Folder in which each text's targets are kept, named by the text and the teachers.
        report: Takes lines of progress.

    Raises:
        InputError: A teacher of another design, or with other labels or subwords.
    """
    for teacher in teachers:
        if teacher.network.config.design != "chart" or teacher.network.labels.labels != tuple(labels):
            raise InputError(f"{teacher.name}: expected a teacher of the design chart with the treebank's labels")
    cache.mkdir(parents=True, exist_ok=True)
    names = "".join(teacher.fingerprint for teacher in teachers)
    examples = []
    for number, text in enumerate(texts):
        report(f"taught {number}/{len(texts)}\r")
        path = cache / f"{hashlib.sha256((names + text).encode('utf-8', 'replace')).hexdigest()[:32]}.safetensors"
        words = split_subwords(text, tokenizer)
        if not path.is_file():
            with replacing(path) as partial:
                save_file(_read_together(text, words, teachers), partial)
        # Read back even when new, so that a run with a new cache sees the same rounded numbers as the runs after it.
        values = load_file(path)
        if len(values["nodes"]):
            examples.append(_example(text, words, values))
    return examples


def shortened(text: str, longest: int) -> str:
    """Return the text, or its lines and sentences within the first `longest` characters, or those characters."""
    if len(text) <= longest:
        return text
    ends = [match.start() for match in _ENDS.finditer(text, 0, longest)]
    return text[: ends[-1] if ends else longest]


@torch.inference_mode()
def _read_together(text: str, words: Subwords, teachers: Sequence[Parser]) -> Values:
    """Return what the teachers say of one text, rounded to half precision; no nodes where there is no tree to learn."""
    nothing = {"nodes": np.zeros((0, 3), dtype=np.int64)}
    if not len(words):
        return nothing
    vectors, tags = [], []
    for teacher in teachers:
        own = split_subwords(text, teacher.tokenizer)
        if not (np.array_equal(own.starts, words.starts) and np.array_equal(own.ends, words.ends)):
            raise InputError(f"{teacher.name}: expected a teacher that cuts texts into the same subwords as the pupil")
        with torch.autocast(teacher.network.device.type, dtype=torch.bfloat16):
            vectors.append(teacher.network.encoder([own])[0])
        tags.append(torch.softmax(teacher.network.tag(vectors[-1:], [own])[0], dim=-1).cpu().numpy())
    mean = np.mean(tags, axis=0, dtype=np.float32)
    config = teachers[0].network.config
    sentences = starts_from(mean[:, SENTENCE_START], words, config.sentence_threshold)
    edus = starts_from(mean[:, EDU_START] + mean[:, SENTENCE_START], words, config.edu_threshold, sentences)
    if not 2 <= len(edus) <= LIMIT:
        return nothing
    states, layouts = [], []
    for teacher, states_of_words in zip(teachers, vectors, strict=True):
        layouts.append(layout_of(words, edus, sentences, teacher.network.device))
        states.append(teacher.network.edus([states_of_words], layouts[-1:])[0])
    views = [
        expected(teacher.network.splits(state, layout.openings))
        for teacher, state, layout in zip(teachers, states, layouts, strict=True)
    ]
    left, right = np.mean([view.left for view in views], axis=0), np.mean([view.right for view in views], axis=0)
    nodes = best_tree(_spans(left, right))
    labels = [
        torch.softmax(
            teacher.network.labels(state, layout.openings, torch.from_numpy(nodes).to(teacher.network.device)), dim=-1
        )
        for teacher, state, layout in zip(teachers, states, layouts, strict=True)
    ]
    return {
        "tags": mean.astype(np.float16),
        "edu_starts": edus,
        "sentence_starts": sentences,
        "nodes": nodes,
        "labels": torch.stack(labels).mean(dim=0).half().cpu().numpy(),
        "left": left.astype(np.float16),
        "right": right.astype(np.float16),
    }


def _spans(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `[i, w]`: probability that `i..i+w` is a child of either side, or the whole."""
    spans = left.copy()
    edus = len(left)
    for width in range(edus):
        spans[: edus - width, width] += right[width:, width]
    spans[0, edus - 1] = 1.0
    return spans


def _example(text: str, words: Subwords, values: Values) -> Example:
    targets = Targets(
        values["edu_starts"].astype(np.int64),
        values["sentence_starts"].astype(np.int64),
        values["nodes"].astype(np.int64),
        values["labels"].astype(np.float32),
        Expected(values["left"], values["right"]),
    )
    return Example(text[:40], None, words, values["tags"].astype(np.float32), targets)
