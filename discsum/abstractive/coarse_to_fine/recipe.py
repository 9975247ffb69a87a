"""Recipes of coarse-to-fine models."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from msgspec import Meta

from discsum.abstractive.coarse_to_fine.choices import C2F, COARSE, VARIANTS, check_chunks, shape_of
from discsum.abstractive.coarse_to_fine.config import CoarseToFineConfig
from discsum.abstractive.coarse_to_fine.objective import Reinforce
from discsum.abstractive.recipe import LOWERCASE, SHORTEST, WORDS, AbstractiveRecipe, Vocabulary
from discsum.errors import InputError
from discsum.recipes.fields import Checked, Count, Dropout, Natural, Positive, Share, about, one_of


@dataclass(frozen=True)
class Network(Checked):
    """Kind of attention and sizes, as of `CoarseToFineConfig`.

    What is left out is as in the model that training starts from, and in a new one as in `CoarseToFineConfig`.
    """

    variant: Annotated[
        str | None, one_of(VARIANTS, "Attention: to all words, to chunks and words, to chosen chunks.")
    ] = None
    chunks: Annotated[str | None, about("Rows of words as `10x40`, or `sentences`, or `subtrees` of the tree.")] = None
    coarse: Annotated[str | None, one_of(COARSE, "Encoder of a chunk's vector: convolution, or sum of embeddings.")] = (
        None
    )
    positions: Annotated[bool | None, about("Whether a chunk's place is embedded (+POS).")] = None
    samples: Annotated[Count | None, about("Chunks that are sampled at each step (+MULTI).")] = None
    attend_padding: Annotated[
        bool | None, about("Whether attention falls on padding; by default in rows of words alone.")
    ] = None
    sentence_ends: Annotated[bool | None, about("Whether an end token follows each sentence.")] = None
    subtree_words: Annotated[Count | None, about("Words of the largest subtree that is a chunk.")] = None
    max_chunks: Annotated[Count | None, about("Places with an embedding of their own, without rows of words.")] = None
    embedding_size: Annotated[Count | None, about("Size of a word's embedding.")] = None
    hidden_size: Annotated[Count | None, about("Size of the states of both LSTMs.")] = None
    layers: Annotated[Count | None, about("Layers of each LSTM.")] = None
    filters: Annotated[Count | None, about("Filters of the convolution.")] = None
    filter_width: Annotated[Count | None, about("Words that a filter reads.")] = None
    position_size: Annotated[Count | None, about("Size of the embedding of a place.")] = None
    dropout: Annotated[Dropout | None, about("Dropout between layers and before words are generated.")] = None
    init_range: Annotated[Positive | None, about("Initial weights are uniform from minus to plus this.")] = None

    def problems(self) -> list[str]:
        """Return what is wrong with the chunks."""
        try:
            check_chunks(self.chunks or CoarseToFineConfig.chunks, self.attend_padding)
        except InputError as error:
            return [str(error)]
        return []

    @property
    def settings(self) -> dict[str, Any]:
        """Those arguments of `CoarseToFineConfig` that are given."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class CoarseToFineRecipe(AbstractiveRecipe):
    """Settings of a training run of a coarse-to-fine model (Ling and Rush 2017)."""

    family: str = "coarse_to_fine"
    source_tokens: int = 400
    target_tokens: Annotated[int, Meta(ge=SHORTEST)] = 100
    target_lines: int | None = 1
    network: Annotated[Network, about("Kind and sizes of the model.")] = field(default_factory=Network)
    vocabulary: Annotated[Vocabulary, about("Most frequent words of the training texts; the rest is unknown.")] = WORDS
    lowercase: Annotated[bool, about("Whether words are lowercased.")] = LOWERCASE
    vectors: Annotated[
        str | None, about("File of word vectors (text format of word2vec) that embeddings begin with; none for random.")
    ] = None
    frozen_embeddings: Annotated[
        bool | None, about("Whether the encoder's embeddings stay as they begin; by default with `bow` alone.")
    ] = None
    coarse_learning_rate: Annotated[
        Positive | None, about("Peak learning rate of the coarse encoder; by default that of the rest.")
    ] = None
    reinforce: Annotated[Reinforce, about("Rewards of chosen chunks.")] = field(default_factory=Reinforce)
    pretrain: Annotated[Natural, about("First epochs, in which c2f reads all chunks (+PRETRAIN).")] = 0
    alternate: Annotated[Share, about("Share of steps in which c2f reads all chunks (+ALTERNATE).")] = 0.0

    def problems(self) -> list[str]:
        """Return what is wrong with the fields."""
        found = super().problems()
        if self.task != "summarize":
            found.append(f"task: expected summarize for the family {self.family}, got {self.task!r}")
        found += self.soft_steps_of(self.network.variant or C2F)
        if self.model is not None:
            return found + (["vectors: expected none for a model, which has its own"] if self.vectors else [])
        shape = None if self.network.problems() else shape_of(self.network.chunks or CoarseToFineConfig.chunks)
        if shape is not None and self.source_tokens > shape[0] * shape[1]:
            found.append(
                f"source_tokens: expected at most the words of network.chunks {shape[0]}x{shape[1]}, "
                f"{shape[0] * shape[1]}, got {self.source_tokens}"
            )
        return found

    def soft_steps_of(self, variant: str) -> list[str]:
        """Return what is wrong with steps in which all chunks are read, of a variant that reads them always."""
        if variant == C2F or not (self.pretrain or self.alternate):
            return []
        return [f"pretrain, alternate: expected 0 for the variant {variant}, which reads all chunks"]
