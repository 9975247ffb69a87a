"""What trained parsers together say of a text without a tree.

After knowledge distillation (Hinton et al. 2015) and silver trees for RST parsing (Kobayashi et al. 2021): the
pupil learns the teachers' mean probabilities of boundaries, of spans as children, and of labels. The first teacher
says where EDUs are and between which the labels stand, so that each of the others can be asked alone.
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
from discsum.parsers.segmenter import EDU_START, SENTENCE_START, starts_from
from discsum.parsers.structure.chart import LIMIT, posterior_of
from discsum.parsers.structure.inside_outside import best_tree
from discsum.parsers.subwords import Subwords, split_subwords

Values = dict[str, NDArray[Any]]
_NOTHING: Values = {"nodes": np.zeros((0, 3), dtype=np.int64)}


@dataclass(frozen=True)
class Teachers:
    """Trained parsers of the design `chart` that agree on labels.

    Attributes:
        parsers: The parsers, the first of which cuts the texts into EDUs.
        bf16: Whether their encoders read in bfloat16.
    """

    parsers: tuple[Parser, ...]
    bf16: bool = True

    @classmethod
    def load(cls, folders: Sequence[str], labels: Sequence[Label], device: str, bf16: bool) -> Teachers:
        """Return the parsers in `folders`.

        Raises:
            InputError: Folders that are missing, or hold a parser of another design or with other labels.
            WeightsError: A damaged folder.
        """
        missing = [folder for folder in folders if not Path(folder).is_dir()]
        if missing:
            raise InputError(f"teachers: expected folders of trained parsers, found no {', '.join(missing)}")
        parsers = tuple(Parser.from_pretrained(folder, device=device) for folder in folders)
        for folder, parser in zip(folders, parsers, strict=True):
            if parser.network.config.design != "chart":
                raise InputError(f"{folder}: expected a teacher of design chart, got {parser.network.config.design}")
            if parser.network.labels.labels != tuple(labels):
                raise InputError(
                    f"{folder}: expected a teacher with the treebank's {len(labels)} labels, got "
                    f"{len(parser.network.labels.labels)} others; train it on the same treebank"
                )
        return cls(parsers, bf16)

    def key(self, place: int, text: str, words: Subwords) -> str:
        """Return a name for what the teacher in that place says of a text to a pupil who cuts it into `words`."""
        # All but the first say it of the first one's units.
        asked = [self.parsers[index] for index in sorted({0, place})]
        said = [(parser.fingerprint, parser.network.config.to_dict()) for parser in asked]
        digest = hashlib.sha256(json.dumps([said, self.bf16]).encode())
        for part in (text.encode("utf-8", "surrogatepass"), words.starts.tobytes(), words.ends.tobytes()):
            digest.update(part)
        return digest.hexdigest()[:32]

    @torch.inference_mode()
    def read(self, place: int, text: str, words: Subwords, first: Values | None = None) -> Values:
        """Return what the teacher in that place says of one text, probabilities in half precision.

        There are no nodes where there is nothing to learn: fewer than 2 EDUs or more than `LIMIT`, or a text that the
        teacher cuts into other subwords than the pupil.

        Args:
            place: Which teacher.
            text: The text.
            words: The pupil's subwords.
            first: What the first teacher says of it, for the others.
        """
        parser = self.parsers[place]
        own = split_subwords(text, parser.tokenizer)
        if not len(words) or not (np.array_equal(own.starts, words.starts) and np.array_equal(own.ends, words.ends)):
            return _NOTHING
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
            return _NOTHING
        layout = network.layout(words, edus, sentences)
        state = network.edus(vectors, [layout])[0]
        view = posterior_of(network.splits(state, layout))
        nodes = best_tree(view.spans) if first is None else first["nodes"]
        logits = network.labels(state, layout.openings, torch.from_numpy(nodes).to(network.device))
        return {
            "edu_starts": edus,
            "sentence_starts": sentences,
            "nodes": nodes,
            "tags": tags.astype(np.float16),
            "labels": torch.softmax(logits.float(), dim=-1).half().cpu().numpy(),
            "left": view.left.astype(np.float16),
            "right": view.right.astype(np.float16),
        }


def mean_of(answers: Sequence[Values]) -> Values:
    """Return what several teachers say together: the first one's units and nodes, and mean probabilities."""
    # Expectations are quadratic in the EDUs: they stay in half precision.
    kinds = {"tags": np.float32, "labels": np.float32, "left": np.float16, "right": np.float16}
    means: Values = {
        name: np.mean([answer[name] for answer in answers], axis=0, dtype=np.float32).astype(kind)
        for name, kind in kinds.items()
    }
    return {**answers[0], **means}
