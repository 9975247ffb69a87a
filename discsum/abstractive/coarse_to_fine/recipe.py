"""Recipes of coarse-to-fine models."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from discsum.abstractive.coarse_to_fine.choices import (
    C2F,
    COARSE,
    HIER,
    STANDARD,
    SUBTREES,
    VARIANTS,
    check_chunks,
    shape_of,
)
from discsum.abstractive.coarse_to_fine.config import CoarseToFineConfig
from discsum.abstractive.coarse_to_fine.objective import Reinforce
from discsum.abstractive.recipe import LOWERCASE, WORDS, AbstractiveRecipe, Vocabulary
from discsum.errors import InputError
from discsum.recipes.fields import Checked, Count, Dropout, FilePath, Natural, Positive, Share, about, one_of


@dataclass(frozen=True)
class Network(Checked):
    """Kind of attention and sizes, as in `CoarseToFineConfig`.

    Fields left out are taken from the model that training starts from, or for a new model from `CoarseToFineConfig`.
    """

    variant: Annotated[
        str | None, one_of(VARIANTS, "Attention to all words, to chunks and their words, or only to chosen chunks.")
    ] = None
    chunks: Annotated[str | None, about("Rows of words such as `10x40`, `sentences`, or `subtrees` of the tree.")] = (
        None
    )
    coarse: Annotated[str | None, one_of(COARSE, "Encoder of a chunk's vector: convolution, or sum of embeddings.")] = (
        None
    )
    positions: Annotated[bool | None, about("Whether chunk vectors include their position (+POS).")] = None
    samples: Annotated[Count | None, about("Number of chunks sampled at each step (+MULTI).")] = None
    attend_padding: Annotated[
        bool | None, about("Whether attention falls on padding; by default only with rows of words.")
    ] = None
    sentence_ends: Annotated[bool | None, about("Whether an end token follows each sentence.")] = None
    subtree_words: Annotated[Count | None, about("Maximum number of words of a subtree chunk.")] = None
    max_chunks: Annotated[Count | None, about("Number of position embeddings, without rows of words.")] = None
    embedding_size: Annotated[Count | None, about("Size of a word's embedding.")] = None
    hidden_size: Annotated[Count | None, about("Size of the states of both LSTMs.")] = None
    layers: Annotated[Count | None, about("Layers of each LSTM.")] = None
    filters: Annotated[Count | None, about("Filters of the convolution.")] = None
    filter_width: Annotated[Count | None, about("Width of a filter in words.")] = None
    position_size: Annotated[Count | None, about("Size of a position embedding.")] = None
    dropout: Annotated[Dropout | None, about("Dropout between layers and before the output layer.")] = None
    init_range: Annotated[Positive | None, about("Initial weights are uniform between minus and plus this.")] = None

    def problems(self) -> list[str]:
        """Return what is wrong with the chunks, and the fields that the given variant or chunks do not use."""
        found = []
        try:
            check_chunks(self.chunks or CoarseToFineConfig.chunks, self.attend_padding)
        except InputError as error:
            found.append(str(error))
        if self.samples is not None and self.variant not in (None, C2F):
            found.append(f"samples: expected none for the variant {self.variant}, which reads all chunks")
        if self.subtree_words is not None and self.chunks not in (None, SUBTREES):
            found.append(f"subtree_words: expected none for the chunks {self.chunks}, which are no subtrees")
        return found

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of `CoarseToFineConfig` that are given."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class CoarseToFineRecipe(AbstractiveRecipe):
    """Settings of a training run of a coarse-to-fine model (Ling and Rush 2017)."""

    family: str = "coarse_to_fine"
    source_tokens: int = 400
    target_tokens: int = 100
    target_lines: int | None = 1
    network: Annotated[Network, about("Kind of attention and sizes of the model.")] = field(default_factory=Network)
    vocabulary: Annotated[Vocabulary, about("Number of most frequent training words; the rest is unknown.")] = WORDS
    lowercase: Annotated[bool, about("Whether words are lowercased.")] = LOWERCASE
    vectors: Annotated[
        FilePath | None, about("File of initial word vectors in word2vec's text format; none for random ones.")
    ] = None
    frozen_embeddings: Annotated[
        bool | None, about("Whether the encoder's embeddings stay frozen; by default only with `bow`.")
    ] = None
    coarse_learning_rate: Annotated[
        Positive | None, about("Peak learning rate of the coarse encoder; by default as for the rest.")
    ] = None
    reinforce: Annotated[Reinforce, about("Rewards for the choice of chunks.")] = field(default_factory=Reinforce)
    pretrain: Annotated[Natural, about("Number of initial epochs in which c2f reads all chunks (+PRETRAIN).")] = 0
    alternate: Annotated[Share, about("Share of steps in which c2f reads all chunks (+ALTERNATE).")] = 0.0

    def problems(self) -> list[str]:
        """Return what is wrong with the fields."""
        found = super().problems()
        if self.task != "summarize":
            found.append(f"task: expected summarize for the family {self.family}, got {self.task!r}")
        found += self.soft_steps_of(self.network.variant or C2F)
        if self.model is not None:
            return found + (
                ["vectors: cannot be combined with model, which has its own vectors"] if self.vectors else []
            )
        shape = None if self.network.problems() else shape_of(self.network.chunks or CoarseToFineConfig.chunks)
        if shape is not None and self.source_tokens > shape[0] * shape[1]:
            found.append(
                f"source_tokens: expected at most {shape[0] * shape[1]}, the words that network.chunks "
                f"{shape[0]}x{shape[1]} holds, got {self.source_tokens}"
            )
        return found

    def without_effect(self) -> list[str]:
        """Return a line for each field that is set but has no effect beside the others."""
        variant, found = self.network.variant, super().without_effect()
        if variant == STANDARD:
            unused = self.network.unused("coarse", "positions", "max_chunks", why="with the variant standard")
            found += [f"network.{line}" for line in unused]
        reads_all = self.alternate == 1 or (self.steps is None and self.epochs <= self.pretrain)
        if reads_all and variant in (None, C2F):
            share = f"pretrain {self.pretrain} and alternate {self.alternate}"
            found.append(
                f"network.variant: {C2F} has no effect with {share}: every step reads all chunks, as {HIER} does"
            )
        if variant not in (None, C2F):
            rewards, why = self.reinforce, f"with the variant {variant}, which chooses no chunks"
            found += [f"reinforce.{line}" for line in rewards.unused(*rewards.to_dict(), why=why)]
        return found

    def soft_steps_of(self, variant: str) -> list[str]:
        """Return a problem if `pretrain` or `alternate` is set for a variant that always reads all chunks."""
        if variant == C2F or not (self.pretrain or self.alternate):
            return []
        return [f"pretrain, alternate: expected 0 for the variant {variant}, which reads all chunks"]
