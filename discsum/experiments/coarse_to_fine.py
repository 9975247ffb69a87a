"""Tables 1 and 2 of Ling and Rush 2017: perplexity, ROUGE against the best highlight, attention to chunks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discsum.abstractive.analysis.chunk_maps import chunk_maps
from discsum.abstractive.families import family_of
from discsum.abstractive.folder import is_sequence_to_sequence
from discsum.abstractive.generation import Generation
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.data.pairs import Pair
from discsum.document import Document
from discsum.errors import InputError
from discsum.experiments.blocks import given_trees, parser_name
from discsum.experiments.measured_table import Figures, MeasuredTable, all_differences, percent_of, summaries_of
from discsum.experiments.report import HEADINGS
from discsum.experiments.teacher_forcing import encoded_pairs, likelihood
from discsum.metrics.rouge import METRICS, rouge, signature
from discsum.parsers.parser import Parser
from discsum.parsers.parsing import ensure_parsed, split_lines
from discsum.scoring import extract
from discsum.selection import default_policy
from discsum.signature import Signature
from discsum.summarizer.loading import load_scorer
from discsum.summarizer.options import check_scorer
from discsum.writing import count_words

FAMILY = "coarse_to_fine"


@dataclass(frozen=True)
class ChunkRow:
    """Figures of a system, as means over documents unless stated otherwise.

    An extractive system has None for perplexity, entropy, padding, encoded and chunks.

    Attributes:
        model: Name of the system.
        perplexity: Perplexity per token of the first highlights.
        rouge1: ROUGE-1 against the best highlight, in percent.
        rouge2: ROUGE-2, likewise.
        rougeLsum: ROUGE-Lsum, likewise.
        entropy: Entropy of the attention to chunks, in nats, as a mean over all generated tokens.
        padding: Share of the attention to words that falls on padding, as a mean over all generated tokens.
        encoded: Number of chunks encoded for a summary.
        chunks: Number of chunks with words.
        words: Number of words in a summary.
    """

    model: str
    perplexity: float | None
    rouge1: float
    rouge2: float
    rougeLsum: float  # noqa: N815 (as rouge-score calls it)
    entropy: float | None
    padding: float | None
    encoded: float | None
    chunks: float | None
    words: float


@dataclass(frozen=True)
class ChunkTable(MeasuredTable):
    """The rows of several systems; the ROUGE in `differences` is also against the best highlight."""

    rows: Sequence[ChunkRow]

    def cells(self) -> list[list[str]]:
        """Return the columns of the paper."""
        forms = {"perplexity": ".1f", **dict.fromkeys(METRICS, ".2f"), "entropy": ".2f"}
        forms |= {"padding": ".3f", **dict.fromkeys(("encoded", "chunks", "words"), ".1f")}
        cells = [["model", "PPL", *HEADINGS.values(), "entropy", "padding", "encoded", "chunks", "words"]]
        for row in self.rows:
            figures = ((getattr(row, name), form) for name, form in forms.items())
            cells.append([row.model, *("" if value is None else format(value, form) for value, form in figures)])
        return cells


def highlights(pair: Pair) -> list[str]:
    """Return the non-empty lines of a pair's references; each line counts as a separate reference."""
    return [line.strip() for reference in pair.references for line in reference.splitlines() if line.strip()]


def measure_chunks(
    models: Sequence[str],
    pairs: Sequence[Pair],
    parser: Callable[[], Parser],
    generation: Generation,
    report: Callable[[int], None] = lambda done: None,
    device: str = "cpu",
) -> ChunkTable:
    """Return the table of coarse-to-fine models and extractive systems such as `lead` (the paper's FIRST) and `ilp`.

    Args:
        models: Folders of coarse-to-fine models, and names of baselines or extractive models.
        pairs: Texts with references.
        parser: Returns the parser, which parses the texts and splits summaries into sentences.
        generation: Settings of the search.
        report: Receives the number of finished summaries.
        device: Device of the models.

    Raises:
        InputError: No documents, a document without a highlight, a sequence-to-sequence model of another family, or
            texts or settings that a model does not accept. All are raised before anything is measured.
        WeightsError: No such system.
    """
    if not pairs:
        raise InputError("expected texts with reference summaries, got none")
    targets = [highlights(pair) for pair in pairs]
    for pair, own in zip(pairs, targets, strict=True):
        if not own:
            raise InputError(f"{pair.id}: expected a reference with a line of text, got none")
    writing = [name for name in models if _writes(name)]
    documents = [item.document for item in ensure_parsed(pairs, parser)]
    for name in writing:
        # Loaded again for measuring: all models may not fit into memory together.
        AbstractiveSummarizer.from_pretrained(name, device=device).lengths(documents, **generation.options)
    shared = signature().with_(reference="highlight")
    rows: list[ChunkRow] = []
    compared: list[Figures] = []
    signatures: list[Signature] = []
    summaries: list[dict[str, Any]] = []
    for name in models:
        learned, vocabulary = None, ""
        figures: dict[str, Any] = dict.fromkeys(("perplexity", "entropy", "padding", "encoded", "chunks"))
        if name in writing:
            summarizer = AbstractiveSummarizer.from_pretrained(name, device=device)
            batches = encoded_pairs(summarizer, documents, [own[0] for own in targets])
            learned = likelihood(summarizer.model, batches)
            figures["perplexity"] = learned.perplexity
            vocabulary = summarizer.family.vocabulary
            maps = [chunk_maps(summarizer, document, **generation.options) for document in documents]
            figures["entropy"] = float(np.mean(np.concatenate([one.entropies for one in maps])))
            figures["padding"] = float(np.mean(np.concatenate([one.padding for one in maps])))
            figures["encoded"] = float(np.mean([one.encoded for one in maps]))
            figures["chunks"] = float(np.mean([one.filled for one in maps]))
            written = [one.summary for one in maps]
            lines = split_lines(written, parser())
            settings = generation.signature.with_(**summarizer.family.settings())
        else:
            lines, settings = extracted(name, documents, device)
            written = lines
        report(len(documents) * (len(rows) + 1))
        scores = rouge(lines, targets)
        compared.append(Figures(percent_of(scores), learned, vocabulary))
        signatures.append(shared + settings.with_(parser=parser_name(parser()), **given_trees(pairs)))
        summaries += summaries_of(name, pairs, written, scores, compared[-1])
        means = {metric: 100.0 * value for metric, value in scores.mean.items()}
        words = float(np.mean([count_words(text) for text in written]))
        rows.append(ChunkRow(name, **figures, **means, words=words))
    return ChunkTable(len(pairs), rows, signatures, all_differences(models, compared), summaries)


def _writes(name: str) -> bool:
    """Return whether a name refers to a coarse-to-fine model, rather than to an extractive system.

    Raises:
        InputError: A sequence-to-sequence model of another family.
        WeightsError: No such system.
    """
    if not is_sequence_to_sequence(name):
        check_scorer(name, "sentence")
        return False
    if family_of(name) != FAMILY:
        raise InputError(f"{name}: expected a coarse-to-fine model, got one of the family {family_of(name)}")
    return True


def extracted(name: str, documents: Sequence[Document], device: str = "cpu") -> tuple[list[str], Signature]:
    """Return an extractive system's summary of each document, one sentence per line, and the signature of its policy.

    A summary is one sentence, as those of the models. A system that selects all units together, such as `ilp`, selects
    six EDUs instead: its summaries in the paper have several sentences too.
    """
    scorer = load_scorer(name, "sentence", device)
    policy = scorer.complete(default_policy("edu") if scorer.own_selection else default_policy("sentence", 1))
    lines = ["\n".join(extract(document, scorer, policy).lines) for document in documents]
    return lines, policy.signature.with_(**scorer.settings)
