"""The trained extractive summarizer: unit vectors and prior matrix in, scores and a summary out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from huggingface_hub import ModelHubMixin, snapshot_download
from numpy.typing import NDArray
from torch import Tensor

from discsum.batches import batches
from discsum.constants import HUB
from discsum.document import Document
from discsum.encoder.inputs import batched, unit_inputs
from discsum.encoder.synthesizer import Synthesizer
from discsum.errors import InputError
from discsum.scoring import extract
from discsum.selection import Policy, usual_policy
from discsum.summarizer.folder import SummarizerConfig, SummarizerParts, load_encoder, read_summarizer, write_summarizer
from discsum.summary import Summary

if TYPE_CHECKING:
    from discsum.parsers.parser import Encoded, Parser
    from discsum.parsers.unit_encoders import UnitEncoder

SHIPPED = {"sentence": "discsum-news-sentence", "edu": "discsum-news-edu"}


class ExtractiveSummarizer(ModelHubMixin, library_name="discsum", license="apache-2.0", tags=["rst", "extractive"]):
    """Scores and selects the units of documents; see `ExtractiveSummarizer.from_pretrained`."""

    needs_tree = True

    def __init__(
        self,
        network: Synthesizer,
        config: SummarizerConfig,
        parser: Parser,
        trained: Mapping[str, Tensor] | None = None,
        card: str = "",
    ) -> None:
        """Wrap a network with the parser that its inputs come from.

        Args:
            network: Scores units.
            config: What it reads.
            parser: Makes trees.
            trained: Layers of its encoder that training changed, by their names.
            card: The model card.
        """
        self.network = network.eval()
        self.config, self.parser, self.card = config, parser, card
        self._trained = trained or {}

    @cached_property
    def encoder(self) -> UnitEncoder:
        """What makes vectors, loaded when it is needed first: documents of a dataset folder come with theirs.

        Raises:
            WeightsError: Another encoder than the one that the model was trained with.
        """
        return load_encoder(self.config, self.parser, self._trained)

    @property
    def name(self) -> str:
        """The name that its summaries carry."""
        return self.config.name

    @classmethod
    def from_pretrained(  # type: ignore[override]
        cls, name_or_path: str | Path | None = None, *, unit: str = "sentence", **hub: Any
    ) -> ExtractiveSummarizer:
        """Return the shipped summarizer for `unit`, the one of that name or folder, or `hf:NAME` from the hub.

        Args:
            name_or_path: By default the shipped summarizer.
            unit: Which of the shipped ones.
            hub: Options of `ModelHubMixin.from_pretrained` for models of the hub, as `revision`.

        Raises:
            InputError: Another unit than `sentence` or `edu`.
            WeightsError: A folder that is missing, damaged, or of another kind of model, or whose parser is another.
        """
        if unit not in SHIPPED:
            raise InputError(f"expected unit {' or '.join(SHIPPED)}, got {unit!r}")
        if str(name_or_path).startswith(HUB):
            found: ExtractiveSummarizer = super().from_pretrained(str(name_or_path).removeprefix(HUB), **hub)
            return found
        parts = read_summarizer(name_or_path if name_or_path is not None else SHIPPED[unit])
        return cls(parts.network, parts.config, parts.parser, parts.trained, parts.card)

    @classmethod
    def _from_pretrained(cls, *, model_id: str, **options: Any) -> ExtractiveSummarizer:
        """Return the model of a folder or of the hub; `ModelHubMixin` calls this."""
        names = ("revision", "cache_dir", "force_download", "local_files_only", "token")
        chosen = {name: options[name] for name in names if name in options}
        folder = model_id if Path(model_id).is_dir() else snapshot_download(model_id, **chosen)
        return cls.from_pretrained(folder)

    def save_pretrained(self, folder: str | Path, card: str | None = None, **hub: Any) -> None:  # type: ignore[override]
        """Write configuration, float16 weights and model card to `folder`; parser and encoder are named, not copied.

        `push_to_hub` calls it with more options, which concern configurations that are not written here.
        """
        text = self.card if card is None else card
        write_summarizer(SummarizerParts(self.network, self.config, self.parser, self._trained, text), Path(folder))

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
        return usual_policy(self.config.unit, self.config.units if units is None else units)

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
            logits = self.network(batched([section]).to(self.network.device), section.first)
            parts.append(torch.sigmoid(logits[0]).double().cpu().numpy())
        return np.concatenate(parts)
