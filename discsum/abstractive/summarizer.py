"""The abstractive summarizer: raw texts through the parser and a sparse Hugging Face model to summaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError

from discsum.abstractive.folder import (
    SelectorConfig,
    TrainedSelector,
    load_selector,
    trained_selector,
    write_sparse,
)
from discsum.abstractive.sparse.conversion import set_beta, sparsify
from discsum.abstractive.sparse.layout import SentenceLayout
from discsum.abstractive.sparse.selectors import ALL, check_options, sentence_encoders
from discsum.constants import HUB
from discsum.document import Document
from discsum.errors import InputError, WeightsError
from discsum.files import replaced

if TYPE_CHECKING:
    from transformers import BatchEncoding

# Models on the hub that the paper starts from.
KNOWN = ("facebook/bart-large-cnn", "facebook/bart-large-xsum")
# Positions of the decoder and of the encoder have other names in every family.
POSITIONS = ("max_encoder_position_embeddings", "max_position_embeddings")
TARGET_POSITIONS = ("max_decoder_position_embeddings", "max_position_embeddings")


@dataclass(frozen=True)
class AbstractiveSummary:
    """A summary in words of its own.

    Attributes:
        document: What was summarized.
        text: The summary.
        model: Name of the model.
        selector: Which sentences each step read.
        r: How many; none for all of them.
        sentences: How many sentences of the document the model could read.
        read: How many of them each step read: all, where that is faster than selecting.
        tokens: Tokens of the document that the model could read.
        cut: Whether the document had more.
        ids: The summary's tokens as the model wrote them, from the one that it begins with to the one that ends it.
    """

    document: Document
    text: str
    model: str
    selector: str
    r: int | None
    sentences: int
    read: int
    tokens: int
    cut: bool
    ids: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the object of `discsum abstract --json`."""
        return {
            "id": self.document.id,
            "summary": self.text,
            "model": self.model,
            "selector": self.selector,
            "r": self.r,
            "sentences": self.sentences,
            "read": self.read,
            "tokens": self.tokens,
            "cut": self.cut,
        }


class AbstractiveSummarizer:
    """Summarizes documents whose sentences are known; see `AbstractiveSummarizer.from_pretrained`."""

    def __init__(self, model: Any, tokenizer: Any, name: str, selector: SelectorConfig) -> None:
        """Wrap a model that `sparsify` changed, with its tokenizer; `selector` says how."""
        self.model, self.tokenizer, self.name = model.eval(), tokenizer, name
        self.selector = selector

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str,
        *,
        selector: str | None = None,
        r: int | None = None,
        beta: float | None = None,
        share_beams: bool = True,
        device: str = "cpu",
        untrained: bool = False,
        **options: Any,
    ) -> AbstractiveSummarizer:
        """Return a summarizer on a folder of a Hugging Face model, or `hf:NAME` from the hub.

        Args:
            name_or_path: A sequence-to-sequence model with its tokenizer.
            selector: Which sentences each step reads; by default those of the selector that the model was trained
                with, or all.
            r: How many; by default as many as the model was trained with.
            beta: Weight of the discourse prior; without it trees are not looked at, unless training had it.
            share_beams: Whether the beams of a document read the same sentences.
            device: Where it runs.
            untrained: Whether a selector that learns may begin anew, as for training.
            options: The selector's own.

        Raises:
            WeightsError: No such model, or none whose weights are safetensors.
            InputError: A model that cannot be made sparse, an unknown selector, or one that must be trained first.
        """
        from transformers import AutoModelForSeq2SeqLM

        # What a killed run left between two names is put in place here.
        own = trained_selector(name_or_path)
        tokenizer = load_tokenizer(name_or_path)
        config = _reading(name_or_path, own, SelectorConfig(selector or ALL, r, beta, share_beams, options), selector)
        if config.selector == ALL and config.r is not None:
            raise InputError(f"--r {config.r}: expected a selector that selects beside it, as mean_key, got {ALL}")
        check_options(config.selector, config.options)
        trained = own is not None and own.config.selector == config.selector
        if config.selector in sentence_encoders() and not (trained or untrained):
            raise InputError(
                f"{name_or_path}: expected a model that was trained with the selector {config.selector}, got none; "
                "train it (discsum train manakul2021/kl) or take a selector that needs no training, as mean_key"
            )
        try:
            # Never a pickle.
            model = AutoModelForSeq2SeqLM.from_pretrained(**_place(name_or_path), use_safetensors=True)
        except (OSError, ValueError, SafetensorError) as error:
            raise _no_model(name_or_path, str(error).splitlines()[0]) from error
        try:
            # Nothing can be computed on the device of no memory.
            model = model.to("none" if device == "meta" else device)
        except (AssertionError, RuntimeError) as error:
            raise InputError(f"--device: expected one that torch has here, as cpu, got {device!r}: {error}") from error
        settings = {"r": config.r, "selector": config.selector, "share_beams": share_beams, **config.options}
        if own is not None and trained:
            sparsify(model, beta=own.config.beta, **settings)
            load_selector(own.folder, model)
            if beta is not None:
                set_beta(model, beta)
        else:
            sparsify(model, beta=beta, **settings)
        return cls(model, tokenizer, name_or_path, config)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the model, its tokenizer and its selector to a folder; `from_pretrained` reads it."""
        write_sparse(Path(folder), self.model, self.tokenizer, self.selector)

    @property
    def positions(self) -> int | None:
        """Tokens that the model reads, at most; none where its configuration sets no limit."""
        config = self.model.config
        return next((int(getattr(config, name)) for name in POSITIONS if hasattr(config, name)), None)

    @property
    def target_positions(self) -> int | None:
        """Tokens that the model writes, at most; none where its configuration sets no limit."""
        config = self.model.config
        return next((int(getattr(config, name)) for name in TARGET_POSITIONS if hasattr(config, name)), None)

    def summarize(
        self, documents: Sequence[Document], *, truncate: bool = False, **generation: Any
    ) -> list[AbstractiveSummary]:
        """Return the documents' summaries, generated together.

        Args:
            documents: With sentences, and with trees where there is a `beta`.
            truncate: Whether a document is cut where the model's positions end.
            generation: Options of `transformers`' `generate`, as `num_beams`.

        Raises:
            InputError: A document without sentences or without the tree that is needed, or one that is too long.
        """
        self._check_lengths(generation)
        texts = [document.text for document in documents]
        whole = [len(ids) for ids in self.tokenizer(texts)["input_ids"]]
        limit = self.positions
        for document, tokens in zip(documents, whole, strict=True):
            if limit is not None and tokens > limit and not truncate:
                raise InputError(
                    f"{document.id or 'document'}: expected at most {limit} tokens, which is what {self.name} reads, "
                    f"got {tokens}; cut it with --truncate, or take a model with more positions"
                )
        encoding: BatchEncoding = self.tokenizer(
            texts, return_tensors="pt", padding=True, truncation=truncate, max_length=limit if truncate else None
        )
        layout = SentenceLayout.from_documents(documents, encoding)
        if self.selector.beta is not None:
            layout = layout.with_prior(documents)
        inputs = {name: encoding[name].to(self.model.device) for name in ("input_ids", "attention_mask")}
        with torch.inference_mode():
            found = self.model.generate(**inputs, layout=layout, **generation)
        lines = self.tokenizer.batch_decode(found, skip_special_tokens=True, clean_up_tokenization_spaces=True)
        pad = self.model.config.pad_token_id
        return [
            AbstractiveSummary(
                document=document,
                text=line.strip(),
                model=self.name,
                selector=self.selector.selector,
                r=self.model.sparse.r,
                sentences=len(spans),
                read=self.model.sparse.read(len(spans)),
                tokens=sum(end - start for start, end in spans),
                cut=tokens > sum(end - start for start, end in spans),
                ids=tuple(row[: max(place for place, token in enumerate(row) if place < 1 or token != pad) + 1]),
            )
            for document, line, spans, tokens, row in zip(
                documents, lines, layout.spans, whole, found.tolist(), strict=True
            )
        ]

    def _check_lengths(self, generation: dict[str, Any]) -> None:
        most, least = generation.get("max_new_tokens"), generation.get("min_new_tokens")
        # Writing begins with one token more.
        limit = None if self.target_positions is None else self.target_positions - 1
        own = self.model.generation_config.max_length
        if most is None and least is not None and own is not None and least >= own:
            raise InputError(
                f"--min-tokens: expected fewer than {own}, where {self.name} ends by itself, got {least}; "
                "give --max-tokens too"
            )
        if limit is not None and max(most or 0, least or 0) > limit:
            raise InputError(
                f"--max-tokens, --min-tokens: expected at most {limit}, which is what {self.name} writes, "
                f"got {max(most or 0, least or 0)}"
            )
        if most is not None and least is not None and least > most:
            raise InputError(f"--min-tokens: expected at most --max-tokens {most}, got {least}")


def load_tokenizer(name_or_path: str) -> Any:
    """Return the tokenizer of a sequence-to-sequence model in a folder, or of `hf:NAME` on the hub.

    Raises:
        WeightsError: No such model, or none with a tokenizer.
    """
    from transformers import AutoTokenizer

    place = _place(name_or_path)
    if place["local_files_only"]:
        replaced(Path(name_or_path))
        if not Path(name_or_path).is_dir():
            raise _no_model(name_or_path, "found no such folder")
    loader: Any = AutoTokenizer
    try:
        return loader.from_pretrained(**place)
    except (OSError, ValueError) as error:
        raise _no_model(name_or_path, str(error).splitlines()[0]) from error


def _place(name_or_path: str) -> dict[str, Any]:
    """Return where transformers finds a model; only what is named `hf:` is looked for on the hub."""
    hub = name_or_path.startswith(HUB)
    return {"pretrained_model_name_or_path": name_or_path.removeprefix(HUB), "local_files_only": not hub}


def _no_model(name: str, why: str) -> WeightsError:
    return WeightsError(
        f"{name}: expected the folder of a sequence-to-sequence model with its tokenizer, or hf:NAME of one on the "
        f"hub, as {', '.join(HUB + known for known in KNOWN)}; {why}"
    )


def _reading(name: str, own: TrainedSelector | None, asked: SelectorConfig, selector: str | None) -> SelectorConfig:
    """Return how a model is to read: as was asked, and where nothing was asked as it was trained.

    Raises:
        InputError: Other options than those that the selector was trained with.
    """
    if own is None or selector not in (None, own.config.selector):
        return asked
    if asked.options and asked.options != own.config.options:
        raise InputError(
            f"{name}: expected the options that its selector was trained with, {own.config.options}, "
            f"got {asked.options}"
        )
    r = asked.r if asked.r is not None else own.config.r
    beta = asked.beta if asked.beta is not None else own.config.beta
    return replace(own.config, r=r, beta=beta, share_beams=asked.share_beams)
