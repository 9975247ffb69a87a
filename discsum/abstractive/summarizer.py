"""The abstractive summarizer, which generates summaries with a model of any family."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from discsum.abstractive.families import DEFAULT, family_class, family_of
from discsum.abstractive.family import Family
from discsum.abstractive.penalties import Penalties
from discsum.abstractive.search_settings import chosen_setting
from discsum.batches import batches, check_several, named
from discsum.devices import device_name
from discsum.document import Document
from discsum.errors import InputError, warn_caller

if TYPE_CHECKING:
    from transformers import BatchEncoding

# Maximum number of tokens of a summary by a model without a default: that of transformers.
DEFAULT_TOKENS = 20


@dataclass(frozen=True)
class AbstractiveSummary:
    """A generated summary.

    Attributes:
        tokens: Number of the document's tokens that the model read.
        truncated: Whether the document has more tokens.
        ids: Token ids of the summary, with its start and end tokens.
        details: The family's details; empty for a document without text. Sparse models: `selector`; `r`, the number of
            sentences that it selects at each step, None for all; `sentences`, the number of the document's sentences
            within the model's positions; and `read`, how many of them each step read, which is all where that is faster
            than selecting. Coarse-to-fine models: `variant`; `chunks`, the number of chunks with words; and `encoded`,
            how many of them were encoded, until the last summary of the batch was written. Compressed models:
            `encoder`, its variant.
    """

    document: Document
    text: str
    model: str
    tokens: int
    truncated: bool
    ids: tuple[int, ...]
    details: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def is_whole(self) -> bool:
        """Whether the model was told to select `r` of more than `r` sentences, but read all, which was faster."""
        r, sentences, read = (self.details.get(name) for name in ("r", "sentences", "read"))
        return r is not None and bool(r < sentences == read)

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    def to_json(self) -> dict[str, Any]:
        """Return the object of `discsum abstract --json`."""
        start = {"id": self.document.id, "summary": self.text, "model": self.model}
        return start | self.details | {"tokens": self.tokens, "truncated": self.truncated}


class AbstractiveSummarizer:
    """Summarizes documents whose sentences are known; see `AbstractiveSummarizer.from_pretrained`."""

    def __init__(self, family: Family[Any]) -> None:
        """Wrap a model of a family."""
        self.family = family
        self.model, self.tokenizer, self.name = family.model, family.tokenizer, family.name

    @classmethod
    def from_pretrained(
        cls, name_or_path: str | Path, *, device: str | torch.device = "cpu", **options: Any
    ) -> AbstractiveSummarizer:
        """Load a sequence-to-sequence model with its tokenizer from a folder, or `hf:NAME` from the hub.

        `config.json` says which family the model belongs to. Options are those of the family's `load`: `selector`, `r`,
        `beta`, ... for `SparseFamily`, which is the family of plain models of transformers.

        Raises:
            WeightsError: No such model, or one without safetensors weights.
            InputError: A model or options that the family cannot use, or an unavailable device.
        """
        from discsum.abstractive.sparse.folder import read_config

        name = str(name_or_path)
        family = family_of(name)
        if family != DEFAULT and read_config(name) is not None:
            raise InputError(
                f"{name}: expected a model of the family {family} with its original cross-attention, got a "
                "sparse one; load it with discsum.abstractive.sparse.from_pretrained, or densify and save it again"
            )
        found = family_class(family)
        return cls(found.load(name, device=device_name(device), **options))

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the model, its tokenizer and its family's files to a folder that `from_pretrained` reads."""
        self.family.save(Path(folder))

    @property
    def selector(self) -> Any:
        """The `SparseConfig` of a sparse model; None for other families."""
        return getattr(self.family, "selector", None)

    @property
    def positions(self) -> int | None:
        """Maximum number of input tokens; None where the model's configuration sets no limit."""
        return self.family.positions

    @property
    def target_positions(self) -> int | None:
        """Maximum number of output tokens; None where the model's configuration sets no limit."""
        return self.family.target_positions

    def summarize(self, document: Document, *, id: str | int = "", **options: Any) -> AbstractiveSummary:
        """Generate the summary of a document; options and errors as in `summarize_many`."""
        return next(self.summarize_many([document], ids=[id], **options))

    def summarize_many(
        self,
        documents: Iterable[Document],
        *,
        ids: Iterable[str | int] | None = None,
        batch_size: int = 8,
        truncate: bool = False,
        penalties: Penalties | None = None,
        **generation: Any,
    ) -> Iterator[AbstractiveSummary]:
        """Yield the summary of each document, in order, generated in batches, with options of `generate`.

        With `truncate`, documents are truncated to the model's positions. A model with a `beta` needs documents with
        trees. `penalties` change the scores of the search. The summary of a document without text is empty.

        Raises:
            TypeError: A text instead of a document.
            InputError: More or fewer `ids` than documents, a document without sentences or without the tree that the
                model needs, one that is too long, several summaries for a document, or penalties that the search
                cannot have. Wrong options are refused at once, wrong documents when their batch is reached.
            ValueError: Other options that `generate` of transformers refuses.
        """
        check_several(documents, "documents")
        # Refuses wrong options now, not when the first summary is asked for.
        self.lengths([], penalties=penalties, **generation)
        pairs = named(documents, ids, (Document,), "; parse texts with discsum.parse")
        groups = batches((document.with_id(name) if name else document for document, name in pairs), batch_size)
        return (one for group in groups for one in self._batch(group, truncate, penalties, generation))

    def _batch(
        self,
        documents: Sequence[Document],
        truncate: bool,
        penalties: Penalties | None,
        generation: dict[str, Any],
    ) -> list[AbstractiveSummary]:
        """Return the summaries of documents, generated as one batch."""
        told = [document for document in documents if document.text.strip()]
        lengths = self.lengths(told, truncate=truncate, penalties=penalties, **generation)
        written = iter(self._written(told, lengths, truncate, penalties or Penalties(), generation) if told else ())
        start = (self.model.generation_config.decoder_start_token_id or 0,)
        return [
            next(written) if document.text.strip() else AbstractiveSummary(document, "", self.name, 0, False, start)
            for document in documents
        ]

    def lengths(
        self,
        documents: Sequence[Document],
        *,
        truncate: bool = False,
        penalties: Penalties | None = None,
        **generation: Any,
    ) -> list[int]:
        """Return the number of tokens of each document, after checking documents and options for `summarize_many`.

        Raises:
            InputError: As in `summarize_many`, except for missing trees.
        """
        self._check_lengths(generation)
        returned = chosen_setting(self.model, generation, "num_return_sequences")
        if returned not in (None, 1):
            raise InputError(f"num_return_sequences: expected 1, a summary for each document, got {returned}")
        (penalties or Penalties()).check(self.model, generation)
        texts = self.family.texts(documents)
        lengths = [len(ids) for ids in self.tokenizer(texts)["input_ids"]] if texts else []
        limit = self.positions
        for document, length in zip(documents, lengths, strict=True):
            if limit is not None and length > limit and not truncate:
                raise InputError(
                    f"{document.label}: expected at most {limit} tokens, the maximum that {self.name} "
                    f"can read, got {length}; truncate it with --truncate (Python: truncate=True), or use a model with "
                    "more positions"
                )
        return lengths

    def warn_truncated(self, lengths: Sequence[int]) -> None:
        """Warn how many documents, of these `lengths` in tokens, are longer than the model's input and so truncated."""
        limit = self.positions
        longer = sum(limit is not None and length > limit for length in lengths)
        if longer:
            share = f"{longer} of {len(lengths)} texts"
            warn_caller(f"{self.name}: truncated {share} to {limit} tokens, its longest input")

    def encoded(self, documents: Sequence[Document], *, truncate: bool) -> tuple[BatchEncoding, dict[str, Any]]:
        """Return the encoding of documents with text, and the model's arguments for them on its device.

        The arguments are `input_ids`, `attention_mask` and those of `Family.inputs`. With `truncate`, documents are
        truncated to the model's positions.

        Raises:
            InputError: A tokenizer of a larger model, or a document without the sentences or the tree that the model
                needs.
        """
        encoding: BatchEncoding = self.tokenizer(
            self.family.texts(documents),
            return_tensors="pt",
            padding=True,
            truncation=truncate,
            max_length=self.positions if truncate else None,
        )
        largest, words = int(encoding["input_ids"].max()), self.model.get_input_embeddings().num_embeddings
        if largest >= words:
            raise InputError(
                f"{self.name}: expected a tokenizer for a model with {words} subwords, got the index {largest}"
            )
        inputs = {name: encoding[name].to(self.model.device) for name in ("input_ids", "attention_mask")}
        return encoding, inputs | self.family.inputs(documents, encoding)

    def _written(
        self,
        documents: Sequence[Document],
        lengths: Sequence[int],
        truncate: bool,
        penalties: Penalties,
        generation: dict[str, Any],
    ) -> list[AbstractiveSummary]:
        """Return the summaries of documents with text, whose token counts are `lengths`."""
        encoding, inputs = self.encoded(documents, truncate=truncate)
        searched = penalties.applied(self.model, self.tokenizer, self._limited(generation))
        with torch.inference_mode(), searched as options:
            generated = self.model.generate(**inputs, **options)
        written = self.family.decode(generated, documents, encoding)
        ids = [self._without_padding(row) for row in generated.tolist()]
        columns = zip(documents, written, lengths, encoding["attention_mask"].sum(dim=1).tolist(), strict=True)
        return [
            AbstractiveSummary(document, text.strip(), self.name, read, length > read, own, details)
            for (document, text, length, read), own, details in zip(
                columns, ids, self.family.details(inputs), strict=True
            )
        ]

    def _without_padding(self, row: list[int]) -> tuple[int, ...]:
        """Return a row up to its first end token, without trailing padding.

        The start token is always kept, because it may be an end or a padding token.
        """
        ends = self.model.generation_config.eos_token_id
        ends, pad = ends if isinstance(ends, list) else [ends], self.model.config.pad_token_id
        end = next((place for place, token in enumerate(row) if place and token in ends), len(row) - 1)
        return tuple(row[: max(place for place in range(end + 1) if not place or row[place] != pad) + 1])

    def _default_length(self, generation: dict[str, Any]) -> int | None:
        """Return the model's own maximum length with the start token; None if neither it nor the options have one."""
        given = {name: value for name, value in generation.items() if name != "max_new_tokens"}
        tokens, length = (chosen_setting(self.model, given, name) for name in ("max_new_tokens", "max_length"))
        return length if tokens is None else int(tokens) + 1

    def _limited(self, generation: dict[str, Any]) -> dict[str, Any]:
        """Return the options with a limit of `DEFAULT_TOKENS` if neither they nor the model have one; warn then."""
        if generation.get("max_new_tokens") is not None or self._default_length(generation) is not None:
            return generation
        warn_caller(
            f"{self.name}: expected max_new_tokens (--max-tokens), as the model has no default length; summaries end "
            f"after {DEFAULT_TOKENS} tokens"
        )
        return generation | {"max_new_tokens": DEFAULT_TOKENS}

    def _check_lengths(self, generation: dict[str, Any]) -> None:
        most, least = generation.get("max_new_tokens"), generation.get("min_new_tokens")
        # The start token takes one position.
        limit = None if self.target_positions is None else self.target_positions - 1
        default = self._default_length(generation) or DEFAULT_TOKENS + 1
        if most is None and least is not None and least >= default:
            raise InputError(
                f"min_new_tokens (--min-tokens): expected fewer than {default}, where {self.name} stops by default, "
                f"got {least}; set max_new_tokens (--max-tokens) too"
            )
        if limit is not None and max(most or 0, least or 0) > limit:
            raise InputError(
                f"max_new_tokens, min_new_tokens (--max-tokens, --min-tokens): expected at most {limit}, the "
                f"maximum that {self.name} can write, got {max(most or 0, least or 0)}"
            )
        if most is not None and least is not None and least > most:
            raise InputError(
                f"min_new_tokens (--min-tokens): expected at most max_new_tokens (--max-tokens) {most}, got {least}"
            )
