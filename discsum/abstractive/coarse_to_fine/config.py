"""Configuration of coarse-to-fine models."""

from __future__ import annotations

from typing import Any

from transformers import PretrainedConfig

from discsum.abstractive.coarse_to_fine.choices import C2F, COARSE, CONV, VARIANTS, check_chunks, shape_of
from discsum.errors import InputError


class CoarseToFineConfig(PretrainedConfig):  # type: ignore[no-untyped-call]
    """Sizes and kinds of attention of a model; the defaults are those of Ling and Rush 2017, sections 5.2 to 5.4.

    Attributes:
        vocab_size: Words of the vocabulary.
        variant: `standard` attention over all words as one sequence (section 4.1), hierarchical attention `hier` over
            chunks and then words (4.2), or `c2f`, which reads only chosen chunks (4.3).
        chunks: Rows, and words per row, such as `10x40`; or `sentences`; or `subtrees` of the discourse tree.
        coarse: Encoder of a chunk's coarse vector: `conv`, or `bow`, the sum of separate word embeddings.
        positions: Whether an embedding of the chunk's position is appended to its vector (+POS).
        samples: Number of chunks that `c2f` reads at each step (+MULTI). In training they are sampled with replacement;
            otherwise they are those with the highest attention, weighted by it.
        attend_padding: Whether attention also falls on padding, whose states are 0; by default only if chunks have a
            shape, as in the paper.
        sentence_ends: Whether an end token follows each sentence of the text.
        subtree_words: Maximum number of words of a subtree chunk, including punctuation marks and end tokens.
        max_chunks: Number of position embeddings where `chunks` is not a shape; later chunks share the last one.
        embedding_size: Size of a word's embedding.
        hidden_size: Size of the states of the LSTMs, and of contexts.
        layers: Layers of the encoder's LSTM, and of the decoder's.
        filters: Filters of the convolution.
        filter_width: Width of a filter in words.
        position_size: Size of a position embedding.
        dropout: Dropout between layers and before the output layer.
        init_range: Initial weights are uniform between `-init_range` and `init_range`.

    Raises:
        InputError: An unknown kind of attention or of chunks, fewer than one sample, or attention to padding without a
            shape.
    """

    model_type = "coarse_to_fine"

    vocab_size: int = 50_000
    variant: str = C2F
    chunks: str = "10x40"
    coarse: str = CONV
    positions: bool = False
    samples: int = 1
    attend_padding: bool | None = None
    sentence_ends: bool = True
    subtree_words: int = 40
    max_chunks: int = 64
    embedding_size: int = 300
    hidden_size: int = 500
    layers: int = 2
    filters: int = 600
    filter_width: int = 6
    position_size: int = 25
    dropout: float = 0.3
    init_range: float = 0.1
    pad_token_id: int | None = 0
    bos_token_id: int | None = 1
    eos_token_id: int | None = 2
    decoder_start_token_id: int | None = 1
    is_encoder_decoder: bool = True
    use_cache: bool = True
    tie_word_embeddings: bool = False
    # Name of the field: `discsum.abstractive.families.FIELD`.
    discsum_family: str = "coarse_to_fine"

    def __post_init__(self, **kwargs: Any) -> None:
        """Check the kinds of attention."""
        super().__post_init__(**kwargs)  # type: ignore[no-untyped-call]
        for name, choices in (("variant", VARIANTS), ("coarse", COARSE)):
            if getattr(self, name) not in choices:
                raise InputError(f"{name}: expected one of {', '.join(choices)}, got {getattr(self, name)!r}")
        if self.samples < 1:
            raise InputError(f"samples: expected at least 1 chunk, got {self.samples}")
        check_chunks(self.chunks, self.attend_padding)

    @property
    def shape(self) -> tuple[int, int] | None:
        """Rows, and words per row; None where chunks are sentences or subtrees."""
        return shape_of(self.chunks)

    @property
    def max_words(self) -> int | None:
        """Maximum number of words read from a text; None without a shape."""
        return None if self.shape is None else self.shape[0] * self.shape[1]

    @property
    def reads_padding(self) -> bool:
        """Whether attention falls on padding."""
        return self.shape is not None if self.attend_padding is None else self.attend_padding

    @property
    def coarse_size(self) -> int:
        """Size of a chunk's coarse vector."""
        size = self.filters if self.coarse == CONV else self.embedding_size
        return size + self.position_size if self.positions else size
