"""The parser: raw text to a document with sentences, EDUs and a discourse tree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor

from discsum.batches import ahead, batches, check_kind, check_several, named, packed
from discsum.constants import PARSER_KIND, SENTENCES, SHIPPED_PARSER
from discsum.devices import check_device, check_precision
from discsum.document import Document, Span, check_tiling
from discsum.errors import InputError, warn_caller
from discsum.hub import upload
from discsum.inference import inference
from discsum.parsers.budgets import budget_of
from discsum.parsers.network import ParserNetwork
from discsum.parsers.reading import EDGES, KEPT, STATES, Reading, collect_vectors, read
from discsum.parsers.segmenter import check_source, split_sentences
from discsum.parsers.subwords import Subwords, split_texts
from discsum.parsers.trees import Nodes, build_trees
from discsum.persistence import locate
from discsum.text_checks import ENGLISH, text_warnings
from discsum.tree import RSTTree

Spans = Sequence[Span]


@dataclass(frozen=True)
class Encoded:
    """A parsed document with its subwords and the vectors that the caller asked to keep.

    Attributes:
        document: The document.
        subwords: Its subwords.
        vectors: Vectors by name (see `discsum.parsers.reading`): contextual vectors of subwords `(subwords, width)`,
            means of sentences or EDUs `(units, width)`, states of EDUs `(edus, hidden)`.
    """

    document: Document
    subwords: Subwords
    vectors: Mapping[str, Tensor]


@dataclass(frozen=True)
class _Decoded:
    """The network's output for a text: its units, the kept vectors, and tree nodes if it has several EDUs."""

    reading: Reading
    vectors: Mapping[str, Tensor]
    nodes: Nodes | None


class Parser:
    """Segments and parses texts of any length; see `Parser.from_pretrained`."""

    def __init__(
        self,
        network: ParserNetwork,
        tokenizer: Tokenizer,
        name: str,
        fingerprint: str = "",
        language: str = ENGLISH,
        card: str = "",
        splits: bytes = b"",
    ) -> None:
        """Wrap a network.

        Args:
            network: The network.
            tokenizer: The tokenizer of its encoder.
            name: The parser's name, which documents record.
            fingerprint: Identifies the content of its folder.
            language: ISO 639-1 code of the language, empty if unknown; texts in another one get a warning.
            card: Its model card.
            splits: Content of `treebank.json` in its folder.
        """
        self.network, self.tokenizer, self.name, self.splits = network.eval(), tokenizer, name, splits
        self.fingerprint, self.language, self.card = fingerprint, language, card

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | Path = SHIPPED_PARSER,
        *,
        device: str | torch.device = "cpu",
        precision: str = "fp32",
        **hub: Any,
    ) -> Parser:
        """Return the shipped parser, one in a folder that training or `save_pretrained` wrote, or one on the hub.

        Args:
            name_or_path: Name of a shipped parser, a folder, or `hf:NAME` on the hub.
            device: Device to compute on: `cpu`, `cuda`, ...
            precision: Numeric precision of its encoder: `fp32`, `bf16` or `fp16`. Everything else stays in float32.
            hub: Options of `huggingface_hub.snapshot_download` for parsers on the hub, such as `revision`.

        Raises:
            TypeError: Neither a name nor a path, or options of the hub for a parser that is not there.
            InputError: A device that is not available, or cannot compute in that precision.
            WeightsError: A folder that is missing or damaged.
        """
        from discsum.parsers.folder import load

        # Running sums are in double precision, which Apple's GPUs do not have.
        device = check_device(device, doubles=True)
        check_precision(precision, device)
        loaded = load(locate(name_or_path, PARSER_KIND, **hub))
        loaded.network.encoder.precision = precision
        own = (loaded.name, loaded.fingerprint, loaded.language, loaded.card, loaded.splits)
        return cls(loaded.network.to(device), loaded.tokenizer, *own)

    @property
    def device(self) -> torch.device:
        """The device that it computes on."""
        return self.network.device

    def __repr__(self) -> str:
        """Return its name, size and device."""
        count = sum(one.numel() for one in self.network.parameters())
        return f"Parser(name={self.name!r}, {count:,} parameters, device={str(self.device)!r})"

    def save_pretrained(self, folder: str | Path, card: str | None = None, **hub: Any) -> None:
        """Write configuration, float16 weights, tokenizer, splits and model card, by default its own, to `folder`.

        Further options, which `push_to_hub` passes, are ignored.
        """
        from discsum.parsers.folder import save

        card = self.card if card is None else card
        save(self.network, self.tokenizer, self.name, Path(folder), card, self.language, self.splits)

    def push_to_hub(self, repo_id: str, **options: Any) -> str:
        """Upload the parser's folder to a repository such as `me/parser`, and return the address of the commit.

        The options are those of `ModelHubMixin.push_to_hub`, such as `private`, `branch` and `token`.
        """
        return upload(self, repo_id, **options)

    def parse(
        self, text: str, *, sentences: str | Spans = "model", edus: Spans | None = None, id: str | int = ""
    ) -> Document:
        """Return the document of `text`; errors as in `encode`.

        Args:
            text: Any string; offsets in the result count its characters.
            sentences: Where sentences come from: `model`, `nltk`, `newline`, or spans.
            edus: Known EDU spans, which must tile the text.
            id: The document's name.
        """
        return self.encode([text], sentences=sentences, edus=None if edus is None else [edus], ids=[id])[0].document

    def parse_many(
        self,
        texts: Iterable[str],
        *,
        batch_size: int = 8,
        sentences: str = "model",
        ids: Iterable[str | int] | None = None,
    ) -> Iterator[Document]:
        """Return an iterator over the document of each text, in order, `batch_size` texts encoded together.

        Raises:
            InputError: A `batch_size` below 1, or an unknown source of sentences, at once; others, as `encode`, later.
        """
        check_source(sentences)
        groups = batches(named(texts, ids), batch_size)
        return (document for group in groups for document in self._documents(group, sentences))

    def _documents(self, group: Sequence[tuple[str, str]], sentences: str) -> Iterator[Document]:
        texts, names = zip(*group, strict=True)
        return (encoded.document for encoded in self.encode(texts, sentences=sentences, ids=names))

    def encode(
        self,
        texts: Sequence[str],
        *,
        sentences: str | Spans = "model",
        edus: Sequence[Spans] | None = None,
        ids: Sequence[str | int] | None = None,
        keep: Collection[str] = (),
    ) -> list[Encoded]:
        """Return the document of each text, in order, with vectors.

        Args:
            texts: The texts.
            sentences: Where sentences come from; spans only if there is one text.
            edus: Known EDU spans of each text.
            ids: Names of the documents.
            keep: Names of the vectors to keep: `sentence`, `edu`, `states`, `subwords`.

        Raises:
            TypeError: A single text, a text or name of another type, or units that are not spans.
            InputError: Units that do not tile the text, sentence spans for several texts, an unknown source of
                sentences or vector, more or fewer `edus` or `ids` than texts, or torch's default dtype is not float32.
            MissingExtraError: NLTK's model of sentences is not installed.
        """
        keep = _checked_names(keep)
        check_several(texts)
        texts, edus = [*texts], edus if edus is None or isinstance(edus, str) else [*edus]
        names = [name for _, name in named(texts, ids)]
        budget = budget_of(self.device)
        groups = _grouped(self._begun(texts, sentences, edus, {*keep, STATES}), budget.documents)
        # While a GPU computes, the next texts are split into subwords, and documents of the previous ones are built.
        overlapping = ahead if budget.overlap else iter
        decoded = overlapping(self._decoded(group, keep) for group in overlapping(groups))
        every = zip(texts, names, chain.from_iterable(decoded), strict=True)
        return [self._built(text, id, one) for text, id, one in every]

    @inference
    def segment(
        self, texts: Sequence[str], *, sentences: str = "model", ids: Sequence[str | int] | None = None
    ) -> list[Document]:
        """Return documents with sentences and EDUs, but without a tree; arguments and errors as in `encode`."""
        check_several(texts)
        texts = [*texts]
        found: list[Reading] = []
        for readings in _grouped(self._begun(texts, sentences, None, ()), budget_of(self.device).documents):
            read(self.network, self.network.encoder, readings)
            found += readings
        return [self._document(text, id, one) for (text, id), one in zip(named(texts, ids), found, strict=True)]

    @inference
    def vectors(self, documents: Sequence[Document], keep: Collection[str]) -> list[Encoded]:
        """Return the documents unchanged, with their vectors; `keep` and errors as in `encode`, no tree is built."""
        keep = _checked_names(keep)
        check_several(documents, "documents")
        documents = [*documents]
        for document in documents:
            check_kind("documents", document, (Document,), "; parse the texts first")
        found: list[tuple[Subwords, Mapping[str, Tensor]]] = []
        words = split_texts([document.text for document in documents], self.tokenizer)
        begun = (
            Reading(self.network, document.text, own, document.sentences, document.edus, keep)
            for document, own in zip(documents, words, strict=True)
        )
        for readings in _grouped(begun, budget_of(self.device).documents):
            read(self.network, self.network.encoder, readings)
            vectors = collect_vectors(self.network, readings, keep)
            found += [(reading.words, own) for reading, own in zip(readings, vectors, strict=True)]
        return [Encoded(document, *own) for document, own in zip(documents, found, strict=True)]

    def _begun(
        self, texts: Sequence[str], sentences: str | Spans, edus: Sequence[Spans] | None, keep: Collection[str]
    ) -> Iterator[Reading]:
        """Yield a reading for each text, split into subwords; nothing is encoded yet."""
        _check_given(texts, sentences, edus)
        together = batches(texts, budget_of(self.device).texts)
        split = chain.from_iterable(split_texts(some, self.tokenizer) for some in together)
        for text, words, given in zip(texts, split, edus if edus is not None else [None] * len(texts), strict=True):
            known = sentences if not isinstance(sentences, str) else None
            if isinstance(sentences, str) and sentences != "model":
                known = split_sentences(text, sentences)
            if len(words):
                _check(text, known, given)
            yield Reading(self.network, text, words, known, given, keep)

    def _document(self, text: str, id: str, reading: Reading, tree: RSTTree | None = None) -> Document:
        """Return the document of a finished reading."""
        return self.with_text_warnings(
            Document.from_spans(text, reading.sentences.spans, reading.edus.spans, tree, id, self.name)
        )

    def with_text_warnings(self, document: Document) -> Document:
        """Return the document with warnings about a doubtful text added, and issue these warnings."""
        found = text_warnings(document.text, self.language)
        for doubt in found:
            warn_caller(f"{document.label}: {doubt}")
        new = [doubt for doubt in found if doubt not in document.warnings]
        return replace(document, warnings=(*document.warnings, *new)) if new else document

    @inference
    def _decoded(self, readings: Sequence[Reading], keep: Collection[str]) -> list[_Decoded]:
        """Run the network on texts: all work on the device."""
        network = self.network
        read(network, network.encoder, readings)
        edges = [reading.pop_vectors(EDGES) for reading in readings] if network.config.label_edges else []
        vectors = collect_vectors(network, readings, {*keep, STATES})
        states = [own[STATES] if STATES in keep else own.pop(STATES) for own in vectors]
        several = [index for index, own in enumerate(states) if len(own) > 1]
        nodes: list[Nodes | None] = [None] * len(readings)
        if several:
            own = [readings[index] for index in several], [states[index] for index in several]
            built = build_trees(network, *own, [edges[index] for index in several] if edges else [])
            for index, found in zip(several, built, strict=True):
                nodes[index] = found
        return [_Decoded(*of) for of in zip(readings, vectors, nodes, strict=True)]

    def _built(self, text: str, id: str, decoded: _Decoded) -> Encoded:
        reading, nodes = decoded.reading, decoded.nodes
        single = RSTTree(1) if reading.edus.spans else None
        tree = single if nodes is None else nodes.tree(self.network.labels.labels)
        return Encoded(self._document(text, id, reading, tree), reading.words, decoded.vectors)


def _grouped(readings: Iterable[Reading], most: int) -> Iterator[list[Reading]]:
    """Yield groups of readings in order, each with at most `most` subwords or of a single longer reading."""
    return packed(readings, lambda reading: len(reading.words), most)


def _checked_names(keep: Iterable[str]) -> set[str]:
    """Return names of vectors; raise `TypeError` or `InputError` for something else."""
    if isinstance(keep, str):
        raise TypeError(f"keep: expected several names, got one str {keep!r}")
    names = {*keep}
    if unknown := sorted(names - {*KEPT}):
        raise InputError(f"keep: expected some of {', '.join(KEPT)}, got {', '.join(map(repr, unknown))}")
    return names


def _check_given(texts: Sequence[str], sentences: str | Spans, edus: Sequence[Spans] | None) -> None:
    """Raise `TypeError` or `InputError` unless there are texts, with spans for each where units are given."""
    for text in texts:
        check_kind("text", text, (str,))
    if not isinstance(sentences, str):
        _check_spans("sentences", f"{', '.join(SENTENCES)} or spans", sentences)
        if len(texts) > 1:
            raise InputError(f"sentences: expected spans with one text only, got {len(texts)} texts")
    for own in (edus,) if isinstance(edus, str) else edus or ():
        if own is not None:
            _check_spans("edus", "spans, or None for the parser's EDUs", own)
    if edus is not None and len(edus) != len(texts):
        raise InputError(f"edus: expected spans for each of {len(texts)} texts, got {len(edus)}")


def _check_spans(name: str, expected: str, given: object) -> None:
    """Raise `TypeError` unless `given` are spans."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        wrong = [given]
    else:
        wrong = [span for span in given if not isinstance(span, Span)]
    if wrong:
        raise TypeError(f"{name}: expected {expected}, got {wrong[0]!r}")


def _check(text: str, sentences: Spans | None, edus: Spans | None) -> None:
    """Raise unless given spans tile the text."""
    if sentences is not None and edus is not None:
        Document.from_spans(text, sentences, edus)
    for spans, kind in ((sentences, "sentence"), (edus, "EDU")):
        if spans is not None:
            check_tiling(text, spans, kind)
