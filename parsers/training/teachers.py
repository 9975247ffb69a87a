"""What trained parsers together say of a text without a tree.

After knowledge distillation (Hinton et al. 2015) and silver trees for RST parsing (Kobayashi et al. 2021): the
pupil learns the teachers' mean probabilities of boundaries, of spans as children, and of labels.
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
from discsum.parsers.network import layout_of
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
        parsers: The parsers; thresholds are those of the first.
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

    def key(self, text: str, words: Subwords) -> str:
        """Return a name for what these teachers say of a text to a pupil who cuts it into `words`."""
        said = [[parser.fingerprint, parser.network.config.to_dict()] for parser in self.parsers]
        digest = hashlib.sha256(json.dumps([said, self.bf16]).encode())
        for part in (text.encode("utf-8", "surrogatepass"), words.starts.tobytes(), words.ends.tobytes()):
            digest.update(part)
        return digest.hexdigest()[:32]

    @torch.inference_mode()
    def read(self, text: str, words: Subwords) -> Values:
        """Return what they say of one text, probabilities in half precision.

        There are no nodes where there is nothing to learn: fewer than 2 EDUs or more than `LIMIT`, or a text that a
        teacher cuts into other subwords than the pupil.
        """
        if not len(words):
            return _NOTHING
        vectors, tags = [], []
        for teacher in self.parsers:
            own = split_subwords(text, teacher.tokenizer)
            if not (np.array_equal(own.starts, words.starts) and np.array_equal(own.ends, words.ends)):
                return _NOTHING
            with torch.autocast(teacher.network.device.type, dtype=torch.bfloat16, enabled=self.bf16):
                vectors.append(teacher.network.encoder([own])[0])
            tags.append(torch.softmax(teacher.network.tag(vectors[-1:], [own])[0].float(), dim=-1).cpu().numpy())
        mean: NDArray[np.float32] = np.stack(tags).mean(axis=0)
        config = self.parsers[0].network.config
        sentences = starts_from(mean[:, SENTENCE_START], words, config.sentence_threshold)
        edus = starts_from(mean[:, EDU_START] + mean[:, SENTENCE_START], words, config.edu_threshold, sentences)
        if not 2 <= len(edus) <= LIMIT:
            return _NOTHING
        boundaries: Values = {"tags": mean.astype(np.float16), "edu_starts": edus, "sentence_starts": sentences}
        return boundaries | self._trees(words, vectors, edus, sentences)

    def _trees(
        self,
        words: Subwords,
        vectors: Sequence[torch.Tensor],
        edus: NDArray[np.int64],
        sentences: NDArray[np.int64],
    ) -> Values:
        networks = [parser.network for parser in self.parsers]
        layouts = [layout_of(words, edus, sentences, network.device) for network in networks]
        states = [
            network.edus([vector], [layout])[0]
            for network, vector, layout in zip(networks, vectors, layouts, strict=True)
        ]
        views = [
            posterior_of(network.splits(state, layout.openings))
            for network, state, layout in zip(networks, states, layouts, strict=True)
        ]
        nodes = best_tree(np.stack([view.spans for view in views]).mean(axis=0))
        labels = [
            torch.softmax(
                network.labels(state, layout.openings, torch.from_numpy(nodes).to(network.device)).float(), dim=-1
            )
            for network, state, layout in zip(networks, states, layouts, strict=True)
        ]
        return {
            "nodes": nodes,
            "labels": torch.stack(labels).mean(dim=0).half().cpu().numpy(),
            "left": np.stack([view.left for view in views]).mean(axis=0).astype(np.float16),
            "right": np.stack([view.right for view in views]).mean(axis=0).astype(np.float16),
        }
