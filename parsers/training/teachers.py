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
from torch import Tensor

from discsum.constants import HUB
from discsum.errors import InputError
from discsum.parsers.edu_vectors import EDULayout
from discsum.parsers.folder import is_parser
from discsum.parsers.labels import Label
from discsum.parsers.network import ParserNetwork
from discsum.parsers.parser import Parser
from discsum.parsers.segmenter import EDU_START, SENTENCE_START, known_borders, predicted_starts
from discsum.parsers.structure import joined_nodes
from discsum.parsers.structure.chart import LIMIT, decode, span_posteriors
from discsum.parsers.subwords import Subwords, split_texts

# Arrays by name: `edu_starts`, `sentence_starts`, `nodes`, `labels` as in `Targets`; `tags` as in `Example`; `left` and
# `right` as in `Expected`. Without a tree there are only empty `nodes`.
Predictions = dict[str, NDArray[Any]]
# Increase it whenever `Predictions` change, so that cached ones of earlier versions are not read.
FORMAT = 5
_NO_TREE: Predictions = {"nodes": np.zeros((0, 3), dtype=np.int64)}


@dataclass(frozen=True)
class Teachers:
    """Trained parsers of the design `chart` with the same labels; encoders run in bfloat16 with `bf16`."""

    parsers: tuple[Parser, ...]
    bf16: bool = True

    @classmethod
    def load(cls, names: Sequence[str], labels: Sequence[Label], device: str, bf16: bool) -> Teachers:
        """Return the parsers of these names: shipped ones, folders of trained ones, and `hf:NAME`.

        Raises:
            InputError: One is missing, or has another design or other labels.
            WeightsError: A damaged folder.
        """
        missing = [name for name in names if not (Path(name).is_dir() or name.startswith(HUB) or is_parser(name))]
        if missing:
            raise InputError(
                "teachers: expected shipped parsers, folders of trained ones, or hf:NAME, "
                f"found no {', '.join(missing)}"
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
    def predict(
        self, teacher: int, texts: Sequence[str], words: Sequence[Subwords], firsts: Sequence[Predictions | None]
    ) -> list[Predictions]:
        """Return the predictions of the teacher with that index for each text, probabilities in half precision.

        There is no tree for fewer than 2 EDUs or more than `LIMIT`, or if teacher and student cut the text into
        different subwords.

        Args:
            teacher: Index of the teacher.
            texts: The texts.
            words: The student's subwords of each.
            firsts: The first teacher's predictions for each; None if this is the first teacher.
        """
        network, found = self.parsers[teacher].network, [_NO_TREE] * len(texts)
        # With the teacher's vocabulary.
        split = [*split_texts(texts, self.parsers[teacher].tokenizer)]
        same = [index for index, own in enumerate(split) if len(own) and _same_spans(own, words[index])]
        if not same:
            return found
        own_words = [split[index] for index in same]
        with torch.autocast(network.device.type, dtype=torch.bfloat16, enabled=self.bf16):
            encoded = network.encoder(own_words)
        vectors = dict(zip(same, encoded, strict=True))
        for index, tags in zip(same, _tag_probabilities(network, encoded, own_words), strict=True):
            units = firsts[index] or _units(network, tags, words[index], texts[index])
            if 2 <= len(units["edu_starts"]) <= LIMIT:
                found[index] = units | {"tags": tags.astype(np.float16)}
        trees = [index for index in same if "tags" in found[index]]
        if trees:
            layouts = [
                network.layout(split[index], found[index]["edu_starts"], found[index]["sentence_starts"])
                for index in trees
            ]
            nodes = [found[index].get("nodes") for index in trees]
            of_trees = _tree_predictions(network, [vectors[index] for index in trees], layouts, nodes)
            for index, values in zip(trees, of_trees, strict=True):
                found[index] |= values
        return found


def _same_spans(one: Subwords, other: Subwords) -> bool:
    return np.array_equal(one.starts, other.starts) and np.array_equal(one.ends, other.ends)


def _tag_probabilities(
    network: ParserNetwork, vectors: Sequence[Tensor], words: Sequence[Subwords]
) -> list[NDArray[np.float32]]:
    """Return the tag probabilities of each text, `(subwords, 3)`."""
    logits = network.tag(vectors, words)
    tags = torch.softmax(torch.cat(logits).float(), dim=-1).cpu().numpy()
    return np.split(tags, np.cumsum([len(own) for own in logits])[:-1])


def _tree_predictions(
    network: ParserNetwork,
    vectors: Sequence[Tensor],
    layouts: Sequence[EDULayout],
    nodes: Sequence[NDArray[np.int64] | None],
) -> list[Predictions]:
    """Return the `nodes`, `labels`, `left` and `right` of each text; nodes that are None are those of its parse."""
    states, layout, edges = network.read_edus(vectors, layouts)
    counts, found = [len(own.starts) for own in layouts], list[Predictions]()
    scores = network.splits(states, layout, counts)
    known = [given for given in nodes if given is not None]
    if len(known) < len(nodes):
        known = [one.nodes if given is None else given for given, one in zip(nodes, decode(scores), strict=True)]
    for own_nodes, view in zip(known, span_posteriors(scores), strict=True):
        expected = {"left": view.left.astype(np.float16), "right": view.right.astype(np.float16)}
        found.append({"nodes": own_nodes} | expected)
    of_nodes = network.label(states, layout, edges, joined_nodes([own["nodes"] for own in found], counts))[-1]
    labels = torch.softmax(of_nodes.float(), dim=-1).half().cpu().numpy()
    for own, part in zip(found, np.split(labels, np.cumsum([len(own["nodes"]) for own in found])[:-1]), strict=True):
        own["labels"] = part
    return found


def _units(network: ParserNetwork, tags: NDArray[np.float32], words: Subwords, text: str) -> Predictions:
    """Return where EDUs and sentences of a text begin, from tag probabilities `(subwords, 3)`."""
    of_edus = tags[:, EDU_START] + tags[:, SENTENCE_START]
    known, words = known_borders(text, words)
    edus, sentences = predicted_starts(of_edus, tags[:, SENTENCE_START], words, network.thresholds, known)
    return {"edu_starts": edus, "sentence_starts": sentences}


def mean_predictions(predictions: Sequence[Predictions]) -> Predictions:
    """Return the first teacher's EDUs and nodes with the mean probabilities of all teachers."""
    # Expected counts are quadratic in the EDUs: they stay in half precision.
    kinds = {"tags": np.float32, "labels": np.float32, "left": np.float16, "right": np.float16}
    means: Predictions = {
        name: np.mean([found[name] for found in predictions], axis=0, dtype=np.float32).astype(kind)
        for name, kind in kinds.items()
    }
    return predictions[0] | means
