"""The trained extractive summarizer: unit vectors and prior matrix in, scores and a summary out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from discsum.constants import SUMMARIZER_KIND
from discsum.devices import check_device
from discsum.document import Document
from discsum.encoder.inputs import batched, unit_inputs
from discsum.encoder.synthesizer import Synthesizer
from discsum.errors import InputError, WeightsError, warn_caller
from discsum.hub import upload
from discsum.inference import inference, own_defaults
from discsum.parsers.loading import load_parser
from discsum.parsers.parser import Parser
from discsum.parsers.unit_encoders import UnitEncoder
from discsum.persistence import ModelFolder, locate, read_card, read_model
from discsum.ranking import log_odds
from discsum.scoring import ParameterCount, ParsedDocument, Scores, UnitScorer
from discsum.selection import OPEN_RULES, Policy, default_policy
from discsum.summarizer.folder import SummarizerConfig, only_here, read_network, trained_layers, write_summarizer
from discsum.summarizer.options import SHIPPED, SelectionArguments, SummaryOptions, check_names, check_unit
from discsum.summarizer.pipeline import SummaryPipeline
from discsum.summary import Summary


class ExtractiveSummarizer(UnitScorer):
    """Scores and selects the units of documents; see `ExtractiveSummarizer.from_pretrained`."""

    parser: Parser
    needs_tree = True
    probabilities = True

    def __init__(
        self,
        network: Synthesizer,
        config: SummarizerConfig,
        parser: Parser,
        trained: Mapping[str, Tensor] | None = None,
        card: str = "",
    ) -> None:
        """Wrap a network and its parser; `trained` is the state dict of the encoder layers trained with it."""
        self.network = network.eval()
        self.config, self.parser, self.card = config, parser, card
        self.trained = trained or {}

    @cached_property
    def encoder(self) -> UnitEncoder:
        """The unit encoder, loaded on first use because documents from a dataset folder already have vectors.

        Raises:
            WeightsError: The encoder is not the one that the model was trained on, or has other layers.
        """
        config = self.config
        layers, window = config.encoder_layers, config.encoder_window
        encoder = UnitEncoder.load(config.vectors, self.parser, layers, config.revision, window=window)
        if encoder.fingerprint != config.encoder:
            raise WeightsError(
                f"{self.name}: expected the encoder {config.vectors} with digest {config.encoder or 'none'}, which the "
                f"model was trained on, got {encoder.fingerprint or 'none'}; train the model again"
            )
        try:
            encoder.trained.load_state_dict(dict(self.trained))
        except RuntimeError as error:
            raise WeightsError(f"{self.name}: expected the last layers of {config.vectors}, got {error}") from error
        return encoder

    @cached_property
    def sentence_model(self) -> ExtractiveSummarizer | None:
        """The summarizer of sentences whose scores those of EDUs are averaged with; None if there is none."""
        if not self.config.sentence_model:
            return None
        found = self._read(read_model(self.config.sentence_model, SUMMARIZER_KIND), lambda name: self.parser)
        if (found.unit, found.config.fingerprint) != ("sentence", self.parser.fingerprint):
            raise WeightsError(
                f"{self.name}: expected a summarizer of sentences on trees of {self.config.parser}, got {found.name}"
            )
        found.network.to(self.device)
        return found

    @property
    def name(self) -> str:
        """Name of the model in its summaries."""
        return self.config.name

    def __repr__(self) -> str:
        """Return its name, unit, parser and device."""
        shown = f"name={self.name!r}, unit={self.unit!r}, parser={self.parser.name!r}"
        return f"ExtractiveSummarizer({shown}, device={str(self.device)!r})"

    @property
    def device(self) -> torch.device:
        """The device that it computes on."""
        return self.network.device

    @property
    def unit(self) -> str:
        """The unit that the model scores."""
        return self.config.unit

    @property
    def open_rules(self) -> dict[str, bool | float]:
        """The selection rules that the model was validated with."""
        return {name: getattr(self.config, name) for name in OPEN_RULES}

    def default_units(self, unit: str) -> int:
        """Return the default number of units of a summary."""
        return self.config.units

    def parameter_count(self) -> ParameterCount:
        """Return the parameter counts of the network.

        `whole` includes the encoder layers trained with it, and the summarizer of sentences.
        """
        count = self.network.parameter_count()
        layers = sum(weight.numel() for weight in dict(self.trained).values())
        sentences = self.sentence_model.parameter_count().whole if self.sentence_model is not None else 0
        return replace(count, whole=count.whole + layers + sentences)

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | Path | None = None,
        *,
        unit: str | None = None,
        device: str | torch.device = "cpu",
        precision: str = "fp32",
        **hub: Any,
    ) -> ExtractiveSummarizer:
        """Load a summarizer by name, from a folder, or from the hub.

        Args:
            name_or_path: Name of a shipped summarizer, a folder, or `hf:NAME` on the hub; by default the shipped
                summarizer for `unit`.
            unit: Unit that the summarizer must score; without a name `sentence` by default.
            device: Device of the model and its parser.
            precision: Numeric precision of the parser's encoder, see `Parser.from_pretrained`.
            hub: Options of `huggingface_hub.snapshot_download` for models on the hub, such as `revision`.

        Raises:
            TypeError: Neither a name nor a path, or options of the hub for a model that is not there.
            InputError: A unit other than `sentence` or `edu`, or a device that is not available.
            WeightsError: A folder that is missing, damaged, or holds another kind of model; a model of the other unit;
                or a parser other than the one that the model was trained on.
        """
        device = check_device(device)
        if unit not in (None, *SHIPPED):
            raise InputError(f"expected unit {' or '.join(SHIPPED)}, got {unit!r}")
        name = name_or_path if name_or_path is not None else SHIPPED[unit or "sentence"]
        model = read_model(locate(name, SUMMARIZER_KIND, **hub), SUMMARIZER_KIND)
        found = cls._read(model, lambda name: load_parser(name, device, precision))
        check_unit(str(name_or_path), found.unit, unit)
        found.network.to(device)
        return found

    @classmethod
    def _read(cls, model: ModelFolder, parser: Callable[[str], Parser]) -> ExtractiveSummarizer:
        """Return the summarizer of a folder on the CPU; `parser` returns the parser of a name or folder."""
        with own_defaults():
            network, config = read_network(model)
        return cls(network, config, parser(config.parser), trained_layers(model), read_card(model.path))

    def save_pretrained(self, folder: str | Path, card: str | None = None, **hub: Any) -> None:
        """Write the configuration, float16 weights and model card to `folder`.

        The parser, the encoder and the summarizer of sentences are recorded by name, not copied. Further options, which
        `push_to_hub` passes, are ignored.
        """
        write_summarizer(self, Path(folder), self.card if card is None else card)

    def push_to_hub(self, repo_id: str, **options: Any) -> str:
        """Upload the model's folder and return the address of the commit; warn of parts that others cannot load.

        Args:
            repo_id: Name on the hub, such as `me/model`; the repository is created if it does not exist.
            options: Options of `ModelHubMixin.push_to_hub`, such as `private`, `branch` and `token`.
        """
        if folders := only_here(self.config):
            warn_caller(
                f"{repo_id}: expected a parser, an encoder and a summarizer of sentences that others can load, got the "
                f"folders {', '.join(folders)}; upload them first, and train the model with their names on the hub"
            )
        return upload(self, repo_id, **options)

    def summarize(self, text: str | Document, *, id: str | int = "", **options: Unpack[SelectionArguments]) -> Summary:
        """Return the summary of a text or document; a parsed document is not parsed again.

        Options and errors are those of `discsum.summarize`, without those of loading: `model`, `unit`, `parser`,
        `device` and `precision`.
        """
        return next(self.summarize_many([text], ids=[id], **options))

    def summarize_many(
        self,
        texts: Iterable[str | Document],
        *,
        ids: Iterable[str | int] | None = None,
        batch_size: int = 8,
        **options: Unpack[SelectionArguments],
    ) -> Iterator[Summary]:
        """Yield the summary of each text or document, in order, encoded in batches.

        Options and errors are those of `discsum.summarize_many`, without those of loading.
        """
        check_names(options, SelectionArguments)
        return SummaryPipeline.of(self, SummaryOptions(model=self, **options)).many(texts, ids, batch_size)

    def policy(self) -> Policy:
        """Return the policy that the model was validated with.

        Each EDU is selected together with the EDUs of its sentence that it depends on, as in the paper.
        """
        return self.complete(default_policy(self.config.unit, self.config.units))

    @property
    def vectors_key(self) -> tuple[str, ...] | None:
        """Identity of the vectors: parser, kind, encoder and unit; None if no dataset folder can have them.

        These are the vectors of trained layers, and of windows of another size than the default.
        """
        config = self.config
        if config.encoder_layers or config.encoder_window is not None:
            return None
        return self.parser.fingerprint, config.vectors, config.encoder, self.unit

    @property
    def reads(self) -> Collection[str]:
        """The vectors to keep when the parser encodes a text; empty if the model encodes texts itself."""
        own = self.encoder.needs(self.unit) if self.encoder.pools else ()
        return {*own, *(self.sentence_model.reads if self.sentence_model is not None else ())}

    def score(self, document: Document, unit: str) -> Scores:
        """Return the confidence `(units,)` that each unit belongs to the summary.

        The document keeps its tree; errors as in `scores`.
        """
        return self.scores([ParsedDocument(document)], unit)[0]

    @inference
    def scores(self, documents: Iterable[ParsedDocument], unit: str) -> list[Scores]:
        """Return the confidences `(units,)` of parsed documents, without building trees.

        Raises:
            InputError: The model scores the other unit, or a document has no tree.
        """
        documents = [*documents]
        for item in documents:
            if item.document.units(unit):
                item.document.require_tree(self.name)
        if unit != self.unit:
            raise InputError(f"{self.name}: expected unit {self.unit!r}, got {unit!r}; name another model")
        own = [self.confidences(item.document, self._vectors(item)) for item in documents]
        if self.sentence_model is None:
            return own
        whole = self.sentence_model.scores(documents, "sentence")
        every = zip(documents, own, whole, strict=True)
        return [self.averaged(item.document, edus, sentences) for item, edus, sentences in every]

    def averaged(self, document: Document, edus: Scores, sentences: Scores) -> Scores:
        """Return confidences `(edus,)` whose log-odds are averaged with those of the EDUs' sentences.

        Args:
            document: The document.
            edus: `(edus,)` probabilities of its EDUs.
            sentences: `(sentences,)` probabilities of its sentences.
        """
        share = self.config.sentence_share
        mean = (1 - share) * log_odds(edus) + share * log_odds(sentences)[document.edu_to_sentence]
        found: Scores = 1 / (1 + np.exp(-mean))
        return found

    def _vectors(self, item: ParsedDocument) -> Tensor:
        """Return the unit vectors `(units, width)` of a document, cached ones if there are any."""
        vectors: Tensor | None = item.vectors.get(self.vectors_key)
        if vectors is not None:
            return vectors
        return self.encoder.of(item, self.unit)

    @inference
    def confidences(self, document: Document, vectors: Tensor) -> Scores:
        """Return the confidences `(units,)` of a document from unit vectors `(units, width)`, section by section."""
        sections = [np.zeros(0)]
        for section in unit_inputs(document, self.config.unit, vectors, self.network.config):
            logits = self.network(batched([section]).to(self.device), section.first)
            sections.append(torch.sigmoid(logits[0]).double().cpu().numpy())
        return np.concatenate(sections)
