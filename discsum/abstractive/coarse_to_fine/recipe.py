"""Recipes of coarse-to-fine models."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from msgspec import Meta

from discsum.abstractive.coarse_to_fine.choices import C2F, COARSE, CONV, VARIANTS, shape_of
from discsum.abstractive.coarse_to_fine.objective import Reinforce
from discsum.abstractive.recipe import SHORTEST, AbstractiveRecipe
from discsum.errors import InputError
from discsum.recipes.fields import Checked, Count, Dropout, Natural, Positive, Share, about, one_of


@dataclass(frozen=True)
class Network(Checked):
    """Kind of attention and sizes of a new model; see `CoarseToFineConfig`."""

    variant: Annotated[str, one_of(VARIANTS, "Attention: to all words, to chunks and words, to chosen chunks.")] = C2F
    chunks: Annotated[str, about("Rows of words as `10x40`, or `sentences`, or `subtrees` of the tree.")] = "10x40"
    coarse: Annotated[str, one_of(COARSE, "Encoder of a chunk's vector: convolution, or sum of embeddings.")] = CONV
    positions: Annotated[bool, about("Whether a chunk's place is embedded (+POS).")] = False
    samples: Annotated[Count, about("Chunks that are sampled at each step (+MULTI).")] = 1
    attend_padding: Annotated[
        bool | None, about("Whether attention falls on padding; by default in rows of words alone.")
    ] = None
    sentence_ends: Annotated[bool, about("Whether an end token follows each sentence.")] = True
    subtree_words: Annotated[Count, about("Words of the largest subtree that is a chunk.")] = 40
    embedding_size: Annotated[Count, about("Size of a word's embedding.")] = 300
    hidden_size: Annotated[Count, about("Size of the states of both LSTMs.")] = 500
    layers: Annotated[Count, about("Layers of each LSTM.")] = 2
    filters: Annotated[Count, about("Filters of the convolution.")] = 600
    filter_width: Annotated[Count, about("Words that a filter reads.")] = 6
    position_size: Annotated[Count, about("Size of the embedding of a place.")] = 25
    dropout: Annotated[Dropout, about("Dropout between layers and before words are generated.")] = 0.3
    init_range: Annotated[Positive, about("Initial weights are uniform from minus to plus this.")] = 0.1

    def problems(self) -> list[str]:
        """Return what is wrong with the chunks."""
        try:
            shape = shape_of(self.chunks)
        except InputError as error:
            return [str(error)]
        if shape is None and self.attend_padding:
            return [f"attend_padding: expected none for chunks {self.chunks}, whose padding depends on the batch"]
        return []

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of `CoarseToFineConfig`."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class CoarseToFineRecipe(AbstractiveRecipe):
    """Settings of a training run of a coarse-to-fine model (Ling and Rush 2017)."""

    family: str = "coarse_to_fine"
    source_tokens: int = 400
    target_tokens: Annotated[int, Meta(ge=SHORTEST)] = 100
    target_lines: int | None = 1
    network: Annotated[Network, about("Kind and sizes of a new model.")] = field(default_factory=Network)
    vocabulary: Annotated[Count, about("Most frequent words of the training texts; the rest is unknown.")] = 50_000
    lowercase: Annotated[bool, about("Whether words are lowercased.")] = True
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
        if self.network.variant != C2F and (self.pretrain or self.alternate):
            found.append(
                f"pretrain, alternate: expected 0 for the variant {self.network.variant}, which reads all chunks"
            )
        shape = None if self.network.problems() else shape_of(self.network.chunks)
        if self.model is None and shape is not None and self.source_tokens > shape[0] * shape[1]:
            found.append(
                f"source_tokens: expected at most the words of network.chunks {self.network.chunks}, "
                f"{shape[0] * shape[1]}, got {self.source_tokens}"
            )
        return found
