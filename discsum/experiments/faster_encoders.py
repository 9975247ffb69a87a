"""Tables 2 and 3 of Yap et al.: accuracy, perplexity, training and generation speed, ROUGE recall, precision and F1."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from discsum.abstractive.family import IGNORED
from discsum.abstractive.folder import is_sequence_to_sequence
from discsum.abstractive.generation import Generation
from discsum.abstractive.recipe import SHORTEST
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.abstractive.training.encoding import TextBatch, encode_whole
from discsum.data.pairs import Pair
from discsum.document import Document
from discsum.errors import InputError
from discsum.experiments.blocks import parser_name
from discsum.experiments.measured_table import Figures, MeasuredTable, all_differences, percent_of, summaries_of
from discsum.experiments.report import HEADINGS
from discsum.metrics.rouge import METRICS, rouge, signature
from discsum.parsers.parser import Parser
from discsum.parsers.parsing import ensure_parsed, split_lines
from discsum.signature import Signature
from discsum.training.task import Step

# Recall, precision and F1, in the order of the paper's table.
MEASURES = ("r", "p", "f")


@dataclass(frozen=True)
class EncoderRow:
    """Figures of a model.

    Attributes:
        model: Name of the model.
        accuracy: Share of the reference's tokens that are the most probable given the tokens before, in percent.
        perplexity: Perplexity per token of the references.
        training: Reference tokens per second in training, one document at a time: the family's loss and its gradients,
            without an optimiser step.
        writing: Generated tokens per second, one document at a time.
        rouge: ROUGE in percent, by metric and by `MEASURES`.
    """

    model: str
    accuracy: float
    perplexity: float
    training: float
    writing: float
    rouge: dict[str, dict[str, float]]


@dataclass(frozen=True)
class EncoderTable(MeasuredTable):
    """The rows of several models; the ROUGE in `differences` is F1."""

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
    """Return the table of abstractive models; documents are truncated to a model's positions.

    Args:
        models: Folders of sequence-to-sequence models.
        pairs: Texts with references; accuracy and perplexity use the first reference of each text.
        parser: Returns the parser, which parses the texts and splits summaries into sentences.
        generation: Settings of the search.
        report: Receives the number of finished summaries.
        device: Device of the models.

    Raises:
        InputError: No documents, a document without a reference, a model that is not sequence-to-sequence, or texts or
            settings that a model does not accept. All are raised before anything is measured.
    """
    if not pairs:
        raise InputError("expected texts with reference summaries, got none")
    for pair in pairs:
        if not pair.references or not pair.references[0].split():
            raise InputError(f"{pair.id}: expected a reference summary, got an empty one")
    for name in models:
        if not is_sequence_to_sequence(name):
            raise InputError(f"{name}: expected the folder of a sequence-to-sequence model for this table")
    documents = [item.document for item in ensure_parsed(pairs, parser)]
    generation = replace(generation, truncate=True)
    signatures: list[Signature] = []
    for name in models:
        # Loaded again for measuring: all models may not fit into memory together.
        summarizer = AbstractiveSummarizer.from_pretrained(name, device=device)
        summarizer.lengths(documents, **generation.options)
        settings = generation.signature.with_(**summarizer.family.settings(), parser=parser_name(parser()))
        signatures.append(signature(*MEASURES) + settings)
    rows: list[EncoderRow] = []
    compared: list[Figures] = []
    summaries: list[dict[str, Any]] = []
    for name in models:
        summarizer = AbstractiveSummarizer.from_pretrained(name, device=device)
        targets = [summarizer.family.target(pair.references[0]) for pair in pairs]
        # Warm up, because a model's first passes are slower.
        _teacher_forced(summarizer, documents[:1], targets[:1])
        summarizer.summarize(documents[:1], **generation.options)
        learned = _teacher_forced(summarizer, documents, targets)
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
        summaries += summaries_of(name, pairs, written, scores["f"], compared[-1])
    return EncoderTable(len(pairs), rows, signatures, all_differences(models, compared), summaries)


class _TeacherForced(NamedTuple):
    """Accuracy in percent; nats per token and number of tokens of each target; training speed in tokens per second."""

    accuracy: float
    nats: NDArray[np.float64]
    tokens: NDArray[np.int64]
    speed: float


def _teacher_forced(
    summarizer: AbstractiveSummarizer, documents: Sequence[Document], targets: Sequence[str]
) -> _TeacherForced:
    family, model = summarizer.family, summarizer.model
    batches = [encode_whole(family, *both) for both in zip(documents, targets, strict=True)]
    tokens = [int((batch.inputs["labels"] != IGNORED).sum()) for batch in batches]
    recipe = _recipe(summarizer, max(tokens))
    right, seconds = 0.0, 0.0
    nats: list[float] = []
    for place, (encoded, count) in enumerate(zip(batches, tokens, strict=True)):
        batch = encoded.to(model.device)
        entropy, accuracy = _scores(model, batch)
        right += count * accuracy
        nats.append(entropy)
        model.train()
        started = time.perf_counter()
        # As at the end of a run, after any epochs of pretraining.
        family.begin_step(recipe, Step(place, float(recipe.epochs), 1.0))
        loss = family.loss(recipe, batch.inputs, batch.extra, 1.0, torch.zeros(1))["loss"]
        torch.autograd.backward(loss)
        if model.device.type == "cuda":
            torch.cuda.synchronize()
        seconds += time.perf_counter() - started
        model.zero_grad()
        model.eval()
    return _TeacherForced(100.0 * right / sum(tokens), np.array(nats), np.array(tokens), sum(tokens) / seconds)


def _recipe(summarizer: AbstractiveSummarizer, tokens: int) -> Any:
    """Return a recipe with the defaults of a model's family, for targets of at most `tokens` tokens."""
    fields = {"train": [{"path": "train"}], "validation": [{"path": "validation"}], "model": summarizer.name}
    return summarizer.family.recipe_type.from_dict({**fields, "target_tokens": max(SHORTEST, tokens)})


# Not `inference_mode`: a layout keeps tensors that the training step of the same batch needs.
@torch.no_grad()
def _scores(model: Any, batch: TextBatch) -> tuple[float, float]:
    """Return the mean cross-entropy per label in nats, and the share of labels that are the most probable token."""
    # Given labels, a model would compute its own loss.
    given = {name: value for name, value in batch.inputs.items() if name != "labels"}
    labels = batch.inputs["labels"]
    counted = labels != IGNORED
    logits, labels = model(**given, **batch.extra, use_cache=False).logits.float()[counted], labels[counted]
    entropy = torch.nn.functional.cross_entropy(logits, labels)
    return float(entropy), float((logits.argmax(dim=1) == labels).float().mean())
