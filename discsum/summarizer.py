"""The trained extractive summarizer: unit vectors and prior matrix in, scores and a summary out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.batches import batches
from discsum.choices import SHIPPED_PARSER
from discsum.document import Document
from discsum.encoder.inputs import batched, unit_inputs
from discsum.encoder.synthesizer import Synthesizer, SynthesizerConfig
from discsum.encoder.units import CONTEXTUAL
from discsum.errors import InputError, WeightsError
from discsum.extract import extract
from discsum.persistence import CONFIG, read_model, shipped, write_model
from discsum.selection import Budget, Policy
from discsum.summary import Summary

if TYPE_CHECKING:
    from discsum.parsers.parser import Encoded, Parser
    from discsum.parsers.unit_encoders import UnitEncoder

KIND = "discsum-extractive"
# What the names of trained layers begin with in a saved model.
ENCODER = "encoder."
SHIPPED = {"sentence": "discsum-news-sentence", "edu": "discsum-news-edu"}


@dataclass(frozen=True)
class SummarizerConfig:
    """What a summarizer reads and how it was trained to be used.

    Attributes:
        name: The model's name.
        unit: `sentence` or `edu`.
        vectors: `contextual`, pooled from the parser's encoding of the whole text; `isolated`, the first token's state
            of each unit encoded on its own by the parser's encoder; or the name or folder of a Hugging Face encoder
            that does so (Xiao et al. 2020, section 3).
        revision: Commit of that Hugging Face encoder, where it has one.
        encoder_layers: How many of the encoder's last layers were trained and are part of the model.
        parser: Name or folder of the parser; in a saved model relative to its folder.
        units: Units a summary has unless told otherwise.
        fingerprint: That parser's, set when the model is saved; with another parser its scores would mean nothing.
    """

    name: str
    unit: str = "sentence"
    vectors: str = CONTEXTUAL
    revision: str = ""
    encoder_layers: int = 0
    parser: str = SHIPPED_PARSER
    units: int = 3
    fingerprint: str = ""


class ExtractiveSummarizer:
    """Scores and selects the units of documents; see `ExtractiveSummarizer.from_pretrained`."""

    needs_tree = True

    def __init__(
        self, network: Synthesizer, config: SummarizerConfig, parser: Parser, encoder: UnitEncoder | None = None
    ) -> None:
        """Wrap a network with the parser and the encoder that its inputs come from.

        Args:
            network: Scores units.
            config: What it reads.
            parser: Makes trees.
            encoder: Makes vectors; by default what the configuration names.
        """
        import discsum

        self.network = network.eval()
        self.parser = parser
        self.encoder = encoder or discsum.unit_encoder(config.vectors, parser, config.encoder_layers)
        self.config = replace(config, revision=self.encoder.revision)

    @property
    def name(self) -> str:
        """The name that its summaries carry."""
        return self.config.name

    @classmethod
    def from_pretrained(cls, name_or_path: str | Path | None = None, *, unit: str = "sentence") -> ExtractiveSummarizer:
        """Return the shipped summarizer for `unit`, or the one of that name or folder.

        Raises:
            InputError: Another unit than `sentence` or `edu`.
            WeightsError: A folder that is missing, damaged, or of another kind of model, or whose parser is another.
        """
        import discsum

        if unit not in SHIPPED:
            raise InputError(f"expected unit {' or '.join(SHIPPED)}, got {unit!r}")
        model = read_model(name_or_path if name_or_path is not None else SHIPPED[unit], KIND)
        try:
            config = SummarizerConfig(**model.config["summarizer"])
            network = Synthesizer(SynthesizerConfig(**model.config["synthesizer"]))
            trained = {
                name.removeprefix(ENCODER): model.tensors.pop(name)
                for name in list(model.tensors)
                if name.startswith(ENCODER)
            }
            network.load_state_dict(model.tensors)
        except (KeyError, TypeError, InputError, RuntimeError) as error:
            raise WeightsError(
                f"{model.path / CONFIG}: expected the configuration of a {KIND} and its weights, "
                f"got {type(error).__name__}: {error}"
            ) from error
        beside = model.path / config.parser
        config = replace(config, parser=str(beside) if (beside / CONFIG).is_file() else config.parser)
        parser = discsum.Parser.from_pretrained(config.parser)
        if parser.fingerprint != config.fingerprint:
            raise WeightsError(
                f"{model.path}: expected the parser {config.parser} with fingerprint {config.fingerprint}, which the "
                f"model was trained on, got {parser.fingerprint}; train the model again"
            )
        summarizer = cls(network, config, parser)
        try:
            summarizer.encoder.trained.load_state_dict(trained)
        except RuntimeError as error:
            raise WeightsError(f"{model.path}: expected the last layers of {config.vectors}, got {error}") from error
        if config.revision and summarizer.encoder.revision != config.revision:
            raise WeightsError(
                f"{model.path}: expected the encoder {config.vectors} at revision {config.revision}, got "
                f"{summarizer.encoder.revision or 'one without'}; train the model again"
            )
        return summarizer

    def save_pretrained(self, folder: str | Path, card: str = "") -> None:
        """Write configuration, float16 weights and model card to `folder`; the parser is named, not copied."""
        name = self.config.parser
        place = name if name in shipped() else os.path.relpath(name, folder)
        saved = replace(self.config, parser=place, fingerprint=self.parser.fingerprint)
        config: dict[str, Any] = {
            "name": self.config.name,
            "summarizer": asdict(saved),
            "synthesizer": self.network.config.to_dict(),
        }
        trained = {f"{ENCODER}{name}": value for name, value in self.encoder.trained.state_dict().items()}
        write_model(Path(folder), KIND, config, self.network.state_dict() | trained, card)

    def summarize(self, text: str, *, units: int | None = None, policy: Policy | None = None, id: str = "") -> Summary:
        """Return the summary of a text; `policy` sets everything, `units` only the length."""
        return next(self.summarize_many([text], policy=policy or self.policy(units), ids=[id]))

    def summarize_many(
        self,
        texts: Iterable[str],
        *,
        policy: Policy | None = None,
        batch_size: int = 8,
        ids: Iterable[str] | None = None,
        tidy: bool = False,
    ) -> Iterator[Summary]:
        """Yield the summary of each text, in order, `batch_size` texts encoded together."""
        names = iter(ids) if ids is not None else None
        for batch in batches(texts, batch_size):
            batch_ids = list(islice(names, len(batch))) if names is not None else None
            encoded = self.parser.encode(batch, ids=batch_ids)
            for item, scores in zip(encoded, self.scores(encoded), strict=True):
                yield extract(item.document, self, policy or self.policy(), scores=scores, tidy=tidy)

    def policy(self, units: int | None = None) -> Policy:
        """Return the policy that the model was chosen by, with `units` units if given.

        EDUs bring along those of their sentence that they depend on, as in the paper.
        """
        unit = self.config.unit
        return Policy(Budget(units=self.config.units if units is None else units), unit, dependencies=unit == "edu")

    def score(self, document: Document, unit: str) -> NDArray[np.float64]:
        """Return the confidence `(units,)` that each unit belongs to the summary; the document keeps its tree."""
        if unit != self.config.unit:
            raise InputError(f"{self.name}: expected unit {self.config.unit!r}, got {unit!r}; name another model")
        return self.scores([self.parser.encode_document(document)])[0]

    def scores(self, encoded: Sequence[Encoded]) -> list[NDArray[np.float64]]:
        """Return the confidences `(units,)` of documents that the model's own parser encoded."""
        unit = self.config.unit
        return [self.confidences(item.document, self.encoder.of(item, unit)) for item in encoded]

    @torch.inference_mode()
    def confidences(self, document: Document, vectors: Tensor) -> NDArray[np.float64]:
        """Return the confidences `(units,)` of a document whose unit vectors are known, `max_units` at a time."""
        parts = [np.zeros(0)]
        for section in unit_inputs(document, self.config.unit, vectors, self.network.config):
            logits = self.network(batched([section]), section.first)
            parts.append(torch.sigmoid(logits[0]).double().cpu().numpy())
        return np.concatenate(parts)
