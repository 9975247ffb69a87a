"""Predictions of several trained parsers for a text without a tree.

This follows knowledge distillation (Hinton et al. 2015) and silver trees for RST parsing (Kobayashi et al. 2021): the
student learns the teachers' mean probabilities of boundaries, of spans as children, and of labels. The first teacher
determines the EDUs and the nodes that are labelled. So each other teacher's predictions depend only on the first one's,
and can be cached separately.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from discsum.errors import InputError
from discsum.parsers.labels import Label
from discsum.parsers.parser import Parser
from discsum.parsers.pretrained import is_parser
from discsum.parsers.segmenter import EDU_START, SENTENCE_START, starts_from
from discsum.parsers.structure.chart import LIMIT, span_posterior
from discsum.parsers.structure.inside_outside import best_splits, best_tree
from discsum.parsers.subwords import Subwords, split_subwords

# Arrays by name: `edu_starts`, `sentence_starts`, `nodes`, `labels` as in `Targets`; `tags` as in `Example`; `left` and
# `right` as in `Expected`. Without a tree there are only empty `nodes`.
Predictions = dict[str, NDArray[Any]]
# Increase it whenever `Predictions` change, so that cached ones of earlier versions are not read.
FORMAT = 1
_NO_TREE: Predictions = {"nodes": np.zeros((0, 3), dtype=np.int64)}


@dataclass(frozen=True)
class Teachers:
    """Trained parsers of the design `chart` with the same labels; encoders run in bfloat16 with `bf16`."""

    parsers: tuple[Parser, ...]
    bf16: bool = True

    @classmethod
    def load(cls, names: Sequence[str], labels: Sequence[Label], device: str, bf16: bool) -> Teachers:
        """Return the parsers of these names: shipped ones, and folders of trained ones.

        Raises:
            InputError: One is missing, or has another design or other labels.
            WeightsError: A damaged folder.
        """
        missing = [name for name in names if not Path(name).is_dir() and not is_parser(name)]
        if missing:
            raise InputError(
                f"teachers: expected shipped parsers or folders of trained ones, found no {', '.join(missing)}"
            )
        parsers = tuple(Parser.from_pretrained(name, device=device) for name in names)
        for name, parser in zip(names, parsers, strict=True):
            if parser.network.config.design != "chart":
                raise InputError(f"{name}: expected a teacher of design chart, got {parser.network.config.design}")
            if parser.network.labels.labels != tuple(labels):
                raise InputError(
                    f"{name}: expected a teacher with the treebank's {len(labels)} labels, got "
                    f"one with {len(parser.network.labels.labels)} other labels; train it on the same treebank"
                )
        return cls(parsers, bf16)

    def key(self, teacher: int, text: str, words: Subwords) -> str:
        """Return the cache key of a teacher's predictions for a text that the student cuts into `words`."""
        # All teachers but the first predict over the first one's EDUs.
        parsers = [self.parsers[index] for index in sorted({0, teacher})]
        identity = [(parser.fingerprint, parser.network.config.to_dict()) for parser in parsers]
        digest = hashlib.sha256(json.dumps([FORMAT, identity, self.bf16]).encode())
        for part in (text.encode("utf-8", "surrogatepass"), words.starts.tobytes(), words.ends.tobytes()):
            digest.update(part)
        return digest.hexdigest()[:32]

    @torch.inference_mode()
    def predict(self, teacher: int, text: str, words: Subwords, first: Predictions | None = None) -> Predictions:
        """Return the predictions of the teacher with that index for one text, probabilities in half precision.

        There is no tree for fewer than 2 EDUs or more than `LIMIT`, or if teacher and student cut the text into
        different subwords.

        Args:
            teacher: Index of the teacher.
            text: The text.
            words: The student's subwords.
            first: The first teacher's predictions, for all other teachers.
        """
        parser = self.parsers[teacher]
        own = split_subwords(text, parser.tokenizer)
        if not len(words) or not (np.array_equal(own.starts, words.starts) and np.array_equal(own.ends, words.ends)):
            return _NO_TREE
        network = parser.network
        with torch.autocast(network.device.type, dtype=torch.bfloat16, enabled=self.bf16):
            vectors = network.encoder([own])
        tags = torch.softmax(network.tag(vectors, [own])[0].float(), dim=-1).cpu().numpy()
        if first is None:
            sentences = starts_from(tags[:, SENTENCE_START], words, network.config.sentence_threshold)
            starts = tags[:, EDU_START] + tags[:, SENTENCE_START]
            edus = starts_from(starts, words, network.config.edu_threshold, sentences)
        else:
            edus, sentences = first["edu_starts"], first["sentence_starts"]
        if not 2 <= len(edus) <= LIMIT:
            return _NO_TREE
        layout = network.layout(words, edus, sentences)
        state = network.edus(vectors, [layout])[0]
        view = span_posterior(network.splits(state, layout))
        nodes = best_tree(best_splits(view.spans[None])[0], len(edus)) if first is None else first["nodes"]
        logits = network.label(state, layout, network.edges(vectors[0], layout), nodes)[-1]
        return {
            "edu_starts": edus,
            "sentence_starts": sentences,
            "nodes": nodes,
            "tags": tags.astype(np.float16),
            "labels": torch.softmax(logits.float(), dim=-1).half().cpu().numpy(),
            "left": view.left.astype(np.float16),
            "right": view.right.astype(np.float16),
        }


def mean_predictions(predictions: Sequence[Predictions]) -> Predictions:
    """Return the first teacher's EDUs and nodes with the mean probabilities of all teachers."""
    # Expected counts are quadratic in the EDUs: they stay in half precision.
    kinds = {"tags": np.float32, "labels": np.float32, "left": np.float16, "right": np.float16}
    means: Predictions = {
        name: np.mean([found[name] for found in predictions], axis=0, dtype=np.float32).astype(kind)
        for name, kind in kinds.items()
    }
    return predictions[0] | means
