"""Documents as a summarizer's training examples: parsed, encoded and labelled once, then kept on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from discsum.dependency import edu_heads, in_sentence_heads
from discsum.document import Document
from discsum.encoder.inputs import UnitInputs, batched, padded, read_prior, unit_inputs
from discsum.encoder.synthesizer import InputBatch, SynthesizerConfig
from discsum.files import replacing
from discsum.oracles import oracle_labels
from discsum.summarizer import SummarizerConfig
from discsum.training.pairs import Pair

if TYPE_CHECKING:
    from discsum.parsers.parser import Parser

BLOCK = 16
# Raised whenever vectors or features of the same document become others, so that no old block is read.
FORMAT = 2
TENSORS = ("vectors", "features")


@dataclass(frozen=True)
class Example:
    """A document that a summarizer learns from or is chosen by.

    Attributes:
        document: The parsed document.
        references: Its reference summaries.
        inputs: What the network reads of it.
        labels: `(units,)` 1 for the units of the oracle.
        weight: How often it is drawn, relative to others.
    """

    document: Document
    references: tuple[str, ...]
    inputs: UnitInputs
    labels: NDArray[np.int64]
    weight: float = 1.0


def make_examples(
    pairs: Sequence[Pair],
    parser: Parser,
    config: SummarizerConfig,
    network: SynthesizerConfig,
    oracle: tuple[str, int | None],
    cache: Path | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> Iterator[Example]:
    """Yield an example for each pair whose text has a unit.

    Args:
        pairs: Texts with references.
        parser: Makes trees and vectors.
        config: Unit and kind of vectors.
        network: Head and sizes; the examples carry what the head reads of a tree.
        oracle: Name of the oracle, and how many units it may take.
        cache: Folder in which blocks of examples are kept, named by everything that made them.
        report: Takes lines of progress.
    """
    for start in range(0, len(pairs), BLOCK):
        block = pairs[start : start + BLOCK]
        report(f"encoded {start}/{len(pairs)}\r")
        path = None
        if cache is not None:
            made_by = [FORMAT, parser.fingerprint, config.unit, config.vectors, network.max_units]
            content = [*made_by, [[pair.id, pair.text] for pair in block]]
            path = cache / f"{hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]}.safetensors"
        if path is not None and path.is_file():
            documents, inputs = _read_block(path, config.unit, network)
        else:
            encoded = parser.encode([pair.text for pair in block], ids=[pair.id for pair in block])
            documents = [item.document for item in encoded]
            # A document of more than one section is learned from its first.
            sections = [unit_inputs(item, config.unit, config.vectors, network, parser) for item in encoded]
            inputs = [next(iter(section), None) for section in sections]
            if path is not None:
                # Read back, so that a run with a new cache sees the same rounded numbers as the runs after it.
                _write_block(path, documents, inputs)
                documents, inputs = _read_block(path, config.unit, network)
        for pair, document, values in zip(block, documents, inputs, strict=True):
            if values is not None:
                spans = document.units(config.unit)[: len(values.vectors)]
                texts = [document.text[span.start : span.end] for span in spans]
                heads = section_heads(document, len(spans)) if config.unit == "edu" else None
                labels = oracle_labels(oracle[0], texts, pair.references, oracle[1], heads)
                yield Example(document, pair.references, values, np.asarray(labels, dtype=np.int64))


def section_heads(document: Document, edus: int) -> NDArray[np.int64]:
    """Return `(edus,)` the EDU each of the document's first EDUs depends on in its sentence, -1 for none of them."""
    assert document.tree is not None, "only parsed documents are learned from"
    heads = in_sentence_heads(edu_heads(document.tree), document.edu_to_sentence)[:edus]
    return np.where(heads < edus, heads, -1)


def _write_block(path: Path, documents: Sequence[Document], inputs: Sequence[UnitInputs | None]) -> None:
    tensors: dict[str, Tensor] = {}
    for index, values in enumerate(inputs):
        if values is not None:
            for name in TENSORS:
                tensors[f"{index}.{name}"] = getattr(values, name).half().contiguous()
    with replacing(path) as partial:
        save_file(tensors, partial, {"documents": json.dumps([document.to_json() for document in documents])})


def _read_block(path: Path, unit: str, network: SynthesizerConfig) -> tuple[list[Document], list[UnitInputs | None]]:
    with safe_open(path, framework="pt") as file:
        documents = [Document.from_json(data) for data in json.loads(file.metadata()["documents"])]
        there = set(file.keys())
        inputs: list[UnitInputs | None] = []
        for index, document in enumerate(documents):
            if f"{index}.vectors" not in there:
                inputs.append(None)
                continue
            vectors, features = (file.get_tensor(f"{index}.{name}").float() for name in TENSORS)
            prior = read_prior(document, unit, 0, len(vectors), network.head, network.for_head())
            inputs.append(UnitInputs(0, vectors, features, prior))
    return documents, inputs


def digest(examples: Sequence[Example]) -> str:
    """Return a name for what is to be learned from the examples, in their order."""
    found = hashlib.sha256()
    for example in examples:
        content = [example.document.text, example.references, example.labels.tolist(), example.weight]
        found.update(json.dumps(content).encode())
    return found.hexdigest()[:16]


@dataclass(frozen=True)
class Batch:
    """Padded examples.

    Attributes:
        inputs: What the network reads.
        labels: `(batch, units)` oracle labels, 0 where padded.
    """

    inputs: InputBatch
    labels: Tensor


def collate(examples: Sequence[Example]) -> Batch:
    """Return the examples as one padded batch."""
    labels = padded([torch.from_numpy(example.labels).float() for example in examples])
    return Batch(batched([example.inputs for example in examples]), labels)
