"""Scores of predicted trees and segmentations: original Parseval, RST-Parseval and segmentation F1.

Original Parseval (Morey et al. 2018) counts the n-1 internal nodes of a tree over n EDUs, each with the
nuclearity and relation of its children, micro-averaged over documents. RST-Parseval (Marcu 2000) counts
all constituents but the root, leaves included, each with its own role; its scores are higher.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, compress, zip_longest
from typing import Any, Literal, get_args

from discsum.document import EDU, Document, Span
from discsum.errors import InputError
from discsum.relation_classes import RelationClasses
from discsum.signature import Signature

Key = Literal["start", "end"]
Constituent = tuple[int, int, str, str]
METRICS = ("span", "nuclearity", "relation", "full")
# Brackets and quotation marks as parsers of the Penn Treebank write them, in RST-DT's trees too.
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_ESCAPES = _BRACKETS | {"``": '"', "''": '"', "`": "'"}
_ESCAPE = re.compile("|".join(_ESCAPES))
# Characters that an error shows of texts that differ, on each side.
CHARACTERS = 20


@dataclass(frozen=True)
class Counts:
    """Constituents in gold, in the prediction, and in both."""

    gold: int = 0
    predicted: int = 0
    right: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Return the counts of both together."""
        return Counts(self.gold + other.gold, self.predicted + other.predicted, self.right + other.right)

    @property
    def f1(self) -> float:
        """F1 in percent; 100 if gold and prediction are both empty."""
        total = self.gold + self.predicted
        return 200.0 * self.right / total if total else 100.0


def total(counts: Iterable[Counts]) -> Counts:
    """Return the counts of several documents together."""
    return sum(counts, Counts())


@dataclass(frozen=True)
class ParsevalScores:
    """Span, nuclearity, relation and full F1 in percent, micro-averaged.

    Attributes:
        signature: The settings of the measurement.
        counts: The counts of each document, by the name of the figure.
    """

    span: float
    nuclearity: float
    relation: float
    full: float
    signature: Signature
    counts: Mapping[str, tuple[Counts, ...]] = field(default_factory=dict, repr=False)


def parseval(
    gold: Sequence[Document],
    predicted: Sequence[Document],
    *,
    key: Key = "start",
    rst: bool = False,
    classes: RelationClasses | None = None,
    from_text: bool = False,
    guessed: bool = False,
) -> ParsevalScores:
    """Return the scores of predicted against gold trees of the same texts.

    The texts may differ in white space, and in brackets and quotation marks that are written as in the Penn Treebank.

    Args:
        gold: Documents with trees.
        predicted: The same texts with predicted trees, over gold or predicted EDUs.
        key: What identifies a constituent: the start (`start`) or the end (`end`) of its first EDU, together with the
            end of its last. Most published figures use `end`. The two differ only if predicted EDUs differ from gold.
        rst: Whether to compute RST-Parseval instead of original Parseval.
        classes: Classes by which relations are compared. By default `RelationClasses.of` the gold relations: of GUM the
            part before the hyphen, of most other treebanks each relation itself.
        from_text: Whether EDUs and sentences were predicted, for the signature; those that differ from gold always
            were.
        guessed: Whether any of the gold sentences are guessed from punctuation, for the signature.

    Raises:
        InputError: An unknown key, no documents, different texts, or a gold document of several EDUs without a tree. A
            predicted one without a tree costs recall.
    """
    if key not in get_args(Key):
        raise InputError(f"key: expected {' or '.join(get_args(Key))}, got {key!r}")
    pairs = _pairs(gold, predicted)
    if classes is None:
        trees = (truth.tree for truth, _ in pairs)
        classes = RelationClasses.of({node.relation for tree in trees if tree for node in tree.nodes}, {})
    counts: dict[str, list[Counts]] = {metric: [] for metric in METRICS}
    edus = "predicted" if from_text else "gold"
    sentences = "predicted" if from_text else "guessed" if guessed else "gold"
    for truth, guess in pairs:
        if truth.tree is None and len(truth.edus) > 1:
            raise InputError(f"{truth.label}: expected a gold tree over {len(truth.edus)} EDUs, got none")
        if [(edu.start, edu.end) for edu in truth.edus] != [(edu.start, edu.end) for edu in guess.edus]:
            edus = "predicted"
        if truth.sentences != guess.sentences:
            sentences = "predicted"
        found, wanted = (_constituents(document, key, rst, classes) for document in (guess, truth))
        for metric in METRICS:
            counts[metric].append(_counts(_project(wanted, metric), _project(found, metric)))
    method = "rst-parseval" if rst else "parseval"
    measured = {"average": "micro", "relations": classes.kind, "same_unit": "counted", "docs": len(pairs)}
    units = {"edus": edus, "sentences": sentences}
    signature = Signature.of(method=method, **units, key=(f"{key}-of-first", "end-of-last"), **measured)
    figures = {metric: total(own).f1 for metric, own in counts.items()}
    return ParsevalScores(**figures, signature=signature, counts={metric: tuple(own) for metric, own in counts.items()})


def _project(constituents: Iterable[Constituent], metric: str) -> Counter[tuple[object, ...]]:
    with_nuclearity, with_relation = metric in ("nuclearity", "full"), metric in ("relation", "full")
    return Counter(
        (first, last, nuclearity if with_nuclearity else "", relation if with_relation else "")
        for first, last, nuclearity, relation in constituents
    )


def _counts(gold: Counter[Any], predicted: Counter[Any]) -> Counts:
    return Counts(gold.total(), predicted.total(), (gold & predicted).total())


def _constituents(document: Document, key: Key, rst: bool, classes: RelationClasses) -> list[Constituent]:
    edus = document.edus

    def span(first: int, last: int) -> tuple[int, int]:
        return (edus[first].start if key == "start" else edus[first].end), edus[last].end

    constituents: list[Constituent] = []
    nodes = document.tree.nodes if document.tree else ()
    scored = {relation: classes.scored(relation) for relation in {node.relation for node in nodes}}
    for node in nodes:
        relation = scored[node.relation]
        if not rst:
            constituents.append((*span(node.first, node.last), node.nuclearity, relation))
            continue
        children = ((node.first, node.split), (node.split + 1, node.last))
        for role, (first, last) in zip(node.nuclearity, children, strict=True):
            # The nucleus of a mononuclear relation carries no relation of its own.
            label = relation if role == "S" or node.nuclearity == "NN" else "span"
            constituents.append((*span(first, last), role, label))
    return constituents


def _pairs(gold: Iterable[Document], predicted: Iterable[Document]) -> list[tuple[Document, Document]]:
    """Return gold and predicted documents over the same texts; if white space differs, both without it."""
    gold, predicted = (_documents(name, given) for name, given in (("gold", gold), ("predicted", predicted)))
    if not gold:
        raise InputError("expected documents to measure on, got none")
    if len(gold) != len(predicted):
        raise InputError(f"expected a prediction for each gold document, got {len(predicted)} for {len(gold)}")
    return [
        (truth, guess) if truth.text == guess.text else _over_one_text(truth, guess)
        for truth, guess in zip(gold, predicted, strict=True)
    ]


def _documents(name: str, given: Iterable[Document]) -> list[Document]:
    found = [*given] if isinstance(given, Iterable) else None
    if found is None or (wrong := [one for one in found if not isinstance(one, Document)]):
        kind, remedy = type(given if found is None else wrong[0]).__name__, ""
        if isinstance(given, Mapping) or hasattr(given, "documents"):
            kind = type(given).__name__
            remedy = "; pass the documents in it, such as read_folder(path).documents.values()"
        raise TypeError(f"{name}: expected several documents, got {kind}{remedy}")
    return found


def _over_one_text(gold: Document, predicted: Document) -> tuple[Document, Document]:
    truth, guess = _without_spaces(gold), _without_spaces(predicted)
    if truth.text != guess.text:
        truth, guess = _without_spaces(gold, escapes=False), _without_spaces(predicted, escapes=False)
    if truth.text != guess.text:
        same = next(place for place, (a, b) in enumerate(zip_longest(truth.text, guess.text)) if a != b)
        wanted, found = (one.text[same : same + CHARACTERS] or "the end" for one in (truth, guess))
        raise InputError(
            f"{gold.label}: expected a prediction over the same text as the gold tree, apart from white space and "
            f"marks such as -LRB-; after {truth.text[max(0, same - CHARACTERS) : same]!r} the gold text has "
            f"{wanted!r}, the other {found!r}"
        )
    return truth, guess


def _without_spaces(document: Document, *, escapes: bool = True) -> Document:
    """Return the document over its text without white space; unless `escapes`, with one character for each of them."""
    characters = list(document.text)
    kept = [not character.isspace() for character in characters]
    for found in () if escapes else _ESCAPE.finditer(document.text):
        characters[found.start()] = _ESCAPES[found[0]]
        kept[found.start() + 1 : found.end()] = [False] * (len(found[0]) - 1)
    before = [0, *accumulate(kept)]
    sentences = tuple(Span(before[span.start], before[span.end]) for span in document.sentences)
    edus = tuple(EDU(before[edu.start], before[edu.end], edu.sentence) for edu in document.edus)
    return replace(document, text="".join(compress(characters, kept)), sentences=sentences, edus=edus)


@dataclass(frozen=True)
class SegmentationScores:
    """Precision, recall and F1 in percent of unit starts inside the document, micro-averaged.

    Attributes:
        signature: The settings of the measurement.
        counts: The counts of each document, under the name `f1`.
    """

    precision: float
    recall: float
    f1: float
    signature: Signature
    counts: Mapping[str, tuple[Counts, ...]] = field(default_factory=dict, repr=False)


def segmentation(
    gold: Sequence[Document], predicted: Sequence[Document], unit: str = "edu", *, guessed: bool = False
) -> SegmentationScores:
    """Return the scores of predicted unit starts, compared exactly, without the first unit of each document.

    Args:
        gold: Documents with gold units.
        predicted: The same texts with predicted units; they may differ as in `parseval`.
        unit: `edu` or `sentence`.
        guessed: Whether any of the gold units are guessed from punctuation, for the signature.

    Raises:
        InputError: No documents, or different texts.
    """
    counts = []
    for truth, guess in _pairs(gold, predicted):
        wanted, found = (Counter({span.start for span in document.units(unit)[1:]}) for document in (truth, guess))
        counts.append(_counts(wanted, found))
    whole = total(counts)
    # As F1, both are 100 only if gold and prediction are both empty.
    empty = 0.0 if whole.gold or whole.predicted else 100.0
    precision = 100.0 * whole.right / whole.predicted if whole.predicted else empty
    recall = 100.0 * whole.right / whole.gold if whole.gold else empty
    measured = {"starts": ("inside", "exact"), "average": "micro", "docs": len(counts)}
    origin = {"gold": "guessed"} if guessed else {}
    signature = Signature.of(method="segmentation", unit=unit, **origin, **measured)
    return SegmentationScores(precision, recall, whole.f1, signature, {"f1": tuple(counts)})
