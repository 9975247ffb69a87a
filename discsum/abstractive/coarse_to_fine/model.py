"""The coarse-to-fine summarizer as a model of transformers."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForSeq2SeqLM, GenerationMixin, PreTrainedModel
from transformers.utils.generic import ModelOutput, can_return_tuple

from discsum.abstractive.coarse_to_fine.attention import StepAttention
from discsum.abstractive.coarse_to_fine.cache import RecurrentCache
from discsum.abstractive.coarse_to_fine.choices import C2F, STANDARD
from discsum.abstractive.coarse_to_fine.config import CoarseToFineConfig
from discsum.abstractive.coarse_to_fine.decoder import AttentiveDecoder
from discsum.abstractive.coarse_to_fine.encoder import ChunkEncoder, EncodedChunks
from discsum.abstractive.coarse_to_fine.memory import Record
from discsum.abstractive.family import IGNORED, shifted_right
from discsum.errors import InputError

# Name of the cache argument of `generate`, which depends on the version of transformers.
_ARGUMENTS = inspect.signature(GenerationMixin.prepare_inputs_for_generation).parameters
CACHE = "cache" if "cache" in _ARGUMENTS else "past_key_values"


@dataclass
class CoarseToFineOutput(ModelOutput):
    """Result of a forward pass.

    Attributes:
        loss: Mean cross-entropy per token of `labels`, in nats. For `c2f` it has no gradient for the choice of chunks.
        logits: `(rows, steps, vocabulary)`.
        cache: State of the decoder.
        coarse_attentions: `(rows, steps, chunks)` attention to chunks before any choice; for `standard` the sum of
            attention to the words of each.
        word_attentions: `(rows, steps, tokens)` attention to the tokens of the text; rows sum to 1, or to less where
            padding of a shape is attended to.
        padding_attentions: `(rows, steps)` attention to padding, the rest.
        choices: `(rows, steps, k)` chunks that were read.
        log_choices: `(rows, steps)` logarithm of their probability; see `StepAttention`.
    """

    loss: Tensor | None = None
    logits: Tensor | None = None
    cache: RecurrentCache | None = None
    encoder_last_hidden_state: Tensor | None = None
    decoder_attentions: Any = None
    cross_attentions: Any = None
    decoder_hidden_states: Any = None
    coarse_attentions: Tensor | None = None
    word_attentions: Tensor | None = None
    padding_attentions: Tensor | None = None
    choices: Tensor | None = None
    log_choices: Tensor | None = None


class CoarseToFineForConditionalGeneration(PreTrainedModel, GenerationMixin):  # type: ignore[no-untyped-call]
    """An LSTM encoder and decoder whose attention is `standard`, `hier` or `c2f` (Ling and Rush 2017).

    The `loss` of a `c2f` model does not train its choice of chunks: `discsum train` adds the gradient of the policy.
    """

    config_class = CoarseToFineConfig
    base_model_prefix = "model"
    main_input_name = "input_ids"
    # The cache cannot restore an earlier state, which assisted generation needs.
    _is_stateful = True

    def __init__(self, config: CoarseToFineConfig) -> None:
        """Make a model with random weights."""
        super().__init__(config)
        self.encoder = ChunkEncoder(config)
        self.decoder = AttentiveDecoder(config)
        self.dropout = nn.Dropout(config.dropout)
        self.generator = nn.Linear(config.hidden_size, config.vocab_size)
        self.post_init()  # type: ignore[no-untyped-call]

    def _init_weights(self, module: nn.Module) -> None:
        for parameter in module.parameters(recurse=False):
            nn.init.uniform_(parameter, -self.config.init_range, self.config.init_range)

    def get_encoder(self, *args: Any, **kwargs: Any) -> ChunkEncoder:
        """Return the encoder."""
        return self.encoder

    def get_decoder(self, *args: Any, **kwargs: Any) -> AttentiveDecoder:
        """Return the decoder."""
        return self.decoder

    def get_input_embeddings(self) -> nn.Embedding:
        """Return the embeddings of the text's words."""
        return self.encoder.embeddings

    def get_output_embeddings(self) -> nn.Linear:
        """Return the map from contexts to words."""
        return self.generator

    def prepare_decoder_input_ids_from_labels(self, labels: Tensor) -> Tensor:
        """Return `(rows, steps)`: the labels shifted right, after the start token."""
        return shifted_right(labels, self.config)

    @can_return_tuple  # type: ignore[untyped-decorator]
    def forward(
        self,
        input_ids: Tensor | None = None,
        chunk_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        encoder_outputs: EncodedChunks | None = None,
        cache: RecurrentCache | None = None,
        past_key_values: RecurrentCache | None = None,
        use_cache: bool | None = None,
        soft: bool | None = None,
        choices: Tensor | None = None,
        record: Record | None = None,
        output_attentions: bool | None = None,
    ) -> CoarseToFineOutput:
        """Return logits, and the loss where there are labels; as a tuple with `return_dict=False`.

        Args:
            input_ids: `(documents, tokens)` words of the texts.
            chunk_ids: `(documents, tokens)` chunk of each token, -1 for padding; by default rows of the shape.
            attention_mask: `(documents, tokens)` 0 for padding.
            labels: `(documents, steps)` tokens to write, `IGNORED` where they do not count.
            decoder_input_ids: `(rows, steps)` tokens written so far; by default those before the labels.
            encoder_outputs: Result of the encoder, instead of `input_ids`.
            cache: State after the tokens that precede `decoder_input_ids`.
            past_key_values: The same, under its name in some versions of transformers.
            use_cache: Whether to return the state.
            soft: Whether all chunks are read; by default for every variant but `c2f`.
            choices: `(rows, steps, k)` chunks that `c2f` reads instead of choosing them.
            record: Receives the memory of the texts' words.
            output_attentions: Whether to return attentions.

        Raises:
            InputError: No text, neither labels nor `decoder_input_ids`, or a text that `ChunkEncoder` rejects.
        """
        soft = self.config.variant != C2F if soft is None else soft or self.config.variant != C2F
        if encoder_outputs is None:
            if input_ids is None:
                raise InputError("expected input_ids or encoder_outputs, got neither")
            encoder_outputs = self.encoder(input_ids, attention_mask, chunk_ids, record, whole=soft)
        if decoder_input_ids is None:
            if labels is None:
                raise InputError("expected labels or decoder_input_ids, got neither")
            decoder_input_ids = self.prepare_decoder_input_ids_from_labels(labels)
        state = cache or past_key_values or RecurrentCache()
        vectors, memory = encoder_outputs.last_hidden_state, encoder_outputs.memory
        contexts, attentions = self.decoder(decoder_input_ids, vectors, memory, state, soft=soft, choices=choices)
        logits = self.generator(self.dropout(contexts))
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)
        cached = use_cache if use_cache is not None else self.config.use_cache
        # Passed in one call, because their order is the order of the output's parts.
        return CoarseToFineOutput(
            loss=loss,
            logits=logits,
            cache=state if cached else None,
            encoder_last_hidden_state=vectors,
            **(self._attentions(encoder_outputs, attentions) if output_attentions else {}),
            choices=torch.stack([one.chunks for one in attentions], dim=1),
            log_choices=torch.stack([one.log_choice for one in attentions], dim=1),
        )

    def _attentions(self, encoded: EncodedChunks, attentions: Sequence[StepAttention]) -> dict[str, Tensor]:
        """Return the attentions of `CoarseToFineOutput` by name."""
        memory = encoded.memory
        assert memory is not None and encoded.chunk_ids is not None
        documents, chunks, length = memory.grid.words.shape
        # (rows, steps, chunks, length): a chunk that was sampled twice has the sum of both.
        grid = torch.stack(
            [
                one.words.new_zeros(len(one.words), chunks, length).scatter_add(
                    1, one.chunks[..., None].expand(one.words.shape), one.words
                )
                for one in attentions
            ],
            dim=1,
        )
        copies = len(grid) // documents
        places = memory.grid.places.repeat_interleave(copies, dim=0)
        inside = (places >= 0)[:, None].expand(-1, grid.shape[1], -1)
        index = places.clamp(min=0)[:, None].expand(-1, grid.shape[1], -1)
        words = grid.flatten(2).gather(2, index) * inside
        coarse = torch.stack([one.coarse for one in attentions], dim=1)
        if self.config.variant == STANDARD and self.config.shape is not None:
            # Rows of words, with their padding.
            coarse = grid.view(*grid.shape[:2], *self.config.shape).sum(dim=3)
        elif self.config.variant == STANDARD:
            # Summed over the words of each chunk; the last column is padding. `generate` repeats rows for beams.
            owners = encoded.chunk_ids.repeat_interleave(len(grid) // len(encoded.chunk_ids), dim=0)
            count = int(owners.max()) + 1
            sums = words.new_zeros(*words.shape[:2], count + 1)
            columns = (owners % (count + 1))[:, None].expand(words.shape)
            coarse = sums.scatter_add(2, columns, words)[..., :-1]
        return {"coarse_attentions": coarse, "word_attentions": words, "padding_attentions": 1.0 - words.sum(dim=2)}

    def prepare_inputs_for_generation(self, input_ids: Tensor, **kwargs: Any) -> dict[str, Any]:
        """Return the arguments of the next step, with the tokens that follow those of the cache."""
        state = kwargs.get(CACHE)
        seen = 0 if state is None else state.get_seq_length()
        names = (CACHE, "encoder_outputs", "use_cache", "output_attentions", "soft")
        given = {name: kwargs[name] for name in names if kwargs.get(name) is not None}
        return given | {"decoder_input_ids": input_ids[:, seen:]}

    def _prepare_cache_for_generation(  # type: ignore[override]
        self, generation_config: Any, model_kwargs: dict[str, Any], *args: Any, **kwargs: Any
    ) -> None:
        if generation_config.use_cache is not False and model_kwargs.get(CACHE) is None:
            model_kwargs[CACHE] = RecurrentCache()


AutoConfig.register(CoarseToFineConfig.model_type, CoarseToFineConfig, exist_ok=True)
AutoModelForSeq2SeqLM.register(CoarseToFineConfig, CoarseToFineForConditionalGeneration, exist_ok=True)
