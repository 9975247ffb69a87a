"""Tables 2 and 3 of Yap et al.: accuracy, perplexity, training and generation speed, ROUGE recall, precision and F1."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from discsum.abstractive.folder import is_sequence_to_sequence
from discsum.abstractive.generation import Generation
from discsum.abstractive.recipe import SHORTEST
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.abstractive.training.encoding import TextBatch
from discsum.data.pairs import Pair
from discsum.devices import wait_for
from discsum.errors import InputError
from discsum.experiments.blocks import given_trees, parser_name
from discsum.experiments.measured_table import Figures, MeasuredTable, all_differences, percent_of, summaries_of
from discsum.experiments.report import HEADINGS
from discsum.experiments.teacher_forcing import encoded_pairs, likelihood
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
        summarizer.warn_truncated(summarizer.lengths(documents, **generation.options))
        settings = generation.signature.with_(**summarizer.family.settings(), parser=parser_name(parser()))
        settings = settings.with_(**given_trees(pairs))
        signatures.append(signature(*MEASURES) + settings)
    rows: list[EncoderRow] = []
    compared: list[Figures] = []
    summaries: list[dict[str, Any]] = []
    for name in models:
        summarizer = AbstractiveSummarizer.from_pretrained(name, device=device)
        targets = [summarizer.family.target(pair.references[0]) for pair in pairs]
        batches = encoded_pairs(summarizer, documents, targets)
        learned = likelihood(summarizer.model, batches)
        counts = learned.tokens.tolist()
        # Warm up, because a model's first passes are slower.
        _training_speed(summarizer, batches[:1], counts[:1])
        summarizer.summarize(documents[0], **generation.options)
        training = _training_speed(summarizer, batches, counts)
        started, written, tokens = time.perf_counter(), [], 0
        for place, document in enumerate(documents):
            summary = summarizer.summarize(document, **generation.options)
            written.append(summary.text)
            # Without the start token.
            tokens += len(summary.ids) - 1
            report(len(rows) * len(documents) + place + 1)
        writing = tokens / (time.perf_counter() - started)
        lines = split_lines(written, parser())
        scores = {measure: rouge(lines, [pair.references for pair in pairs], measure=measure) for measure in MEASURES}
        compared.append(Figures(percent_of(scores["f"]), learned, summarizer.family.vocabulary))
        by_metric = {
            metric: {measure: 100.0 * one.mean[metric] for measure, one in scores.items()} for metric in METRICS
        }
        accuracy = 100.0 * float(np.average(learned.accuracy, weights=learned.tokens))
        rows.append(EncoderRow(name, accuracy, learned.perplexity, training, writing, by_metric))
        summaries += summaries_of(name, pairs, written, scores["f"], compared[-1])
    return EncoderTable(len(pairs), rows, signatures, all_differences(models, compared), summaries)


def _training_speed(summarizer: AbstractiveSummarizer, batches: Sequence[TextBatch], tokens: Sequence[int]) -> float:
    """Return the target tokens per second in training, from batches of one document and their `tokens`."""
    family, model = summarizer.family, summarizer.model
    recipe, seconds = _recipe(summarizer, max(tokens)), 0.0
    model.train()
    for place, encoded in enumerate(batches):
        batch = encoded.to(model.device)
        started = time.perf_counter()
        # As at the end of a run, after any epochs of pretraining.
        family.begin_step(recipe, Step(place, float(recipe.epochs), 1.0))
        loss = family.loss(recipe, batch.inputs, batch.extra, 1.0, torch.zeros(1))["loss"]
        torch.autograd.backward(loss)
        wait_for(model.device)
        seconds += time.perf_counter() - started
        model.zero_grad()
    model.eval()
    return sum(tokens) / seconds


def _recipe(summarizer: AbstractiveSummarizer, tokens: int) -> Any:
    """Return a recipe with the defaults of a model's family, for targets of at most `tokens` tokens."""
    fields = {"train": [{"path": "train"}], "validation": [{"path": "validation"}], "model": summarizer.name}
    return summarizer.family.recipe_type.from_dict({**fields, "target_tokens": max(SHORTEST, tokens)})
