"""Tables 2 and 3 of Yap et al.: accuracy, perplexity, speed in training and writing, ROUGE recall, precision and F1."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.abstractive.family import IGNORED
from discsum.abstractive.folder import is_sequence_to_sequence
from discsum.abstractive.generation import Generation
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.abstractive.training.encoding import encode
from discsum.data.pairs import Pair
from discsum.document import Document
from discsum.errors import InputError
from discsum.experiments.measured_table import Figures, MeasuredTable, all_differences, percent_of
from discsum.experiments.report import HEADINGS
from discsum.metrics.rouge import METRICS, rouge, signature
from discsum.parsers.parser import Parser
from discsum.parsers.parsing import ensure_parsed, split_lines

# Recall, precision and F1, as the paper's table has them.
MEASURES = ("r", "p", "f")


@dataclass(frozen=True)
class EncoderRow:
    """Figures of a model, over the same documents.

    Attributes:
        model: Its name.
        accuracy: Share of the reference's tokens that are the most probable ones, given those before, in percent.
        perplexity: Of a token of the reference.
        training: Tokens of references a second, in passes with gradients over one document at a time.
        writing: Tokens of summaries a second, one document at a time.
        rouge: Percentages by metric and by `MEASURES`.
    """

    model: str
    accuracy: float
    perplexity: float
    training: float
    writing: float
    rouge: dict[str, dict[str, float]]


@dataclass(frozen=True)
class EncoderTable(MeasuredTable):
    """The rows of several models, the ROUGE of `differences` being F1."""

    rows: Sequence[EncoderRow]

    def cells(self) -> list[list[str]]:
        """Return the columns of the paper."""
        names = [f"{HEADINGS[metric]} {measure.upper()}" for metric in METRICS for measure in MEASURES]
        cells = [["model", "accuracy", "PPL", "train tok/s", "write tok/s", *names]]
        for row in self.rows:
            scores = [f"{row.rouge[metric][measure]:.2f}" for metric in METRICS for measure in MEASURES]
            speeds = (f"{row.training:.1f}", f"{row.writing:.1f}")
            cells.append([row.model, f"{row.accuracy:.2f}", f"{row.perplexity:.2f}", *speeds, *scores])
        return cells


def measure_encoders(
    models: Sequence[str],
    pairs: Sequence[Pair],
    parser: Callable[[], Parser],
    generation: Generation,
    report: Callable[[int], None] = lambda done: None,
    device: str = "cpu",
) -> EncoderTable:
    """Return the table of abstractive models; documents are cut where a model's positions end.

    Args:
        models: Folders of sequence-to-sequence models.
        pairs: Texts with references, the first of which is the one for accuracy and perplexity.
        parser: Returns the parser of the texts, and of the summaries' sentences.
        generation: Settings of the search.
        report: Receives the number of summaries done.
        device: Device of the models.

    Raises:
        InputError: No documents, one without a reference, or a model that writes no summaries.
    """
    if not pairs:
        raise InputError("expected texts with reference summaries, got none")
    for pair in pairs:
        if not pair.references or not pair.references[0].split():
            raise InputError(f"{pair.id}: expected a reference summary, got an empty one")
    documents = [item.document for item in ensure_parsed(pairs, parser)]
    generation = replace(generation, truncate=True)
    rows: list[EncoderRow] = []
    compared: list[Figures] = []
    for name in models:
        if not is_sequence_to_sequence(name):
            raise InputError(f"{name}: expected the folder of a sequence-to-sequence model for this table")
        summarizer = AbstractiveSummarizer.from_pretrained(name, device=device)
        targets = [summarizer.family.target(pair.references[0]) for pair in pairs]
        # Untimed: a model's first passes are slower.
        _learned(summarizer, documents[:1], targets[:1])
        summarizer.summarize(documents[:1], **generation.options)
        learned = _learned(summarizer, documents, targets)
        started, written, tokens = time.perf_counter(), [], 0
        for place, document in enumerate(documents):
            (summary,) = summarizer.summarize([document], **generation.options)
            written.append(summary.text)
            # Without the start token.
            tokens += len(summary.ids) - 1
            report(len(rows) * len(documents) + place + 1)
        writing = tokens / (time.perf_counter() - started)
        lines = split_lines(written, parser())
        scores = {measure: rouge(lines, [pair.references for pair in pairs], measure=measure) for measure in MEASURES}
        vocabulary = summarizer.family.vocabulary
        compared.append(Figures(percent_of(scores["f"]), learned.nats, learned.tokens, vocabulary))
        by_metric = {
            metric: {measure: 100.0 * one.mean[metric] for measure, one in scores.items()} for metric in METRICS
        }
        perplexity = compared[-1].perplexity
        assert perplexity is not None
        rows.append(EncoderRow(name, learned.accuracy, perplexity, learned.speed, writing, by_metric))
    settings = signature(*MEASURES) + generation.signature
    return EncoderTable(len(pairs), rows, settings, all_differences(models, compared))


class _Learned(NamedTuple):
    """Accuracy in percent; nats a token and tokens of each target; tokens a second of passes with gradients."""

    accuracy: float
    nats: NDArray[np.float64]
    tokens: NDArray[np.int64]
    speed: float


def _learned(summarizer: AbstractiveSummarizer, documents: Sequence[Document], targets: Sequence[str]) -> _Learned:
    model = summarizer.model
    right, seconds = 0.0, 0.0
    nats: list[float] = []
    tokens: list[int] = []
    for document, target in zip(documents, targets, strict=True):
        # Limits of the model, or more than there is.
        source = summarizer.positions or sum(map(len, summarizer.family.texts([document]))) + 2
        batch = encode(summarizer.family, [document], [target], source, summarizer.target_positions or len(target) + 2)
        inputs = batch.to(model.device)
        # Models would take losses of their own from labels.
        given = inputs.inputs | inputs.extra | {"use_cache": False}
        labels = given.pop("labels")
        count = int((labels != IGNORED).sum())

        def losses(labels: Tensor = labels, given: dict[str, Any] = given) -> dict[str, Tensor]:
            counted = labels != IGNORED
            logits, labels = model(**given).logits.float()[counted], labels[counted]
            entropy = torch.nn.functional.cross_entropy(logits, labels)
            return {"cross_entropy": entropy, "accuracy": (logits.argmax(dim=1) == labels).float().mean()}

        with torch.inference_mode():
            found = losses()
        right += count * float(found["accuracy"])
        nats.append(float(found["cross_entropy"]))
        tokens.append(count)
        model.train()
        started = time.perf_counter()
        torch.autograd.backward(losses()["cross_entropy"])
        if model.device.type == "cuda":
            torch.cuda.synchronize()
        seconds += time.perf_counter() - started
        model.zero_grad()
        model.eval()
    return _Learned(100.0 * right / sum(tokens), np.array(nats), np.array(tokens), sum(tokens) / seconds)
