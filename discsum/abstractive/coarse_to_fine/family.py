"""The coarse-to-fine family: attention that chooses chunks of a text (Ling and Rush 2017)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from torch import Tensor, nn

from discsum.abstractive.coarse_to_fine.card import card_of
from discsum.abstractive.coarse_to_fine.choices import BOW, C2F, HIER, STANDARD, SUBTREES, VARIANTS
from discsum.abstractive.coarse_to_fine.chunking import chunk_ids, text_of
from discsum.abstractive.coarse_to_fine.config import CoarseToFineConfig
from discsum.abstractive.coarse_to_fine.memory import Record
from discsum.abstractive.coarse_to_fine.model import CoarseToFineForConditionalGeneration
from discsum.abstractive.coarse_to_fine.objective import MovingBaseline, policy_loss, returns_of, rewards_of
from discsum.abstractive.coarse_to_fine.recipe import CoarseToFineRecipe
from discsum.abstractive.family import IGNORED, Family, FamilyCard, requested_options
from discsum.abstractive.folder import folder_of, load_model, load_tokenizer
from discsum.abstractive.recipe import check_kept
from discsum.abstractive.vocabulary import check_words, make_word_tokenizer, read_vectors, unknown_id
from discsum.document import Document
from discsum.errors import InputError, WeightsError
from discsum.json_objects import read_object
from discsum.persistence import CONFIG
from discsum.recipes.fields import Count, check_value, one_of

if TYPE_CHECKING:
    from transformers import BatchEncoding

    from discsum.training.task import Step


class CoarseToFineFamily(Family[CoarseToFineRecipe]):
    """A `CoarseToFineForConditionalGeneration` with its word tokenizer."""

    recipe_type = CoarseToFineRecipe

    def __init__(self, model: Any, tokenizer: Any, name: str) -> None:
        """Wrap a loaded model."""
        super().__init__(model, tokenizer, name)
        self.config: CoarseToFineConfig = model.config
        self._baseline: MovingBaseline | None = None
        self._soft = False

    @classmethod
    def load(
        cls,
        name_or_path: str,
        *,
        device: str = "cpu",
        variant: str | None = None,
        samples: int | None = None,
        **options: Any,
    ) -> CoarseToFineFamily:
        """Load a model, optionally with another variant or number of samples than in training.

        Args:
            name_or_path: Folder of a model with its tokenizer, or `hf:NAME` from the hub.
            device: Device of the model.
            variant: `hier` or `c2f`, which have the same parameters; by default as in training.
            samples: Number of chunks that `c2f` reads at each step; by default as in training.
            options: Not supported.

        Raises:
            WeightsError: No such model, or one without safetensors weights.
            InputError: Unknown options, another kind of model, or a variant with other parameters.
        """
        if asked := requested_options(options):
            raise InputError(
                f"{name_or_path}: expected only variant and samples, the options of a coarse-to-fine model, got {asked}"
            )
        if variant is not None:
            check_value(Annotated[str, one_of(VARIANTS, "")], variant, "variant")
        if samples is not None:
            check_value(Count, samples, "samples")
        tokenizer = load_tokenizer(name_or_path)
        model = load_model(name_or_path, device)
        if not isinstance(model, CoarseToFineForConditionalGeneration):
            raise InputError(f"{name_or_path}: expected a coarse-to-fine model, got a {type(model).__name__}")
        given = {"variant": variant, "samples": samples}
        changed = {name: value for name, value in given.items() if value not in (None, getattr(model.config, name))}
        if "variant" in changed and {variant, model.config.variant} != {HIER, C2F}:
            raise InputError(
                f"variant: expected {model.config.variant}, which the model was trained with, got {variant!r}"
            )
        if "samples" in changed and (variant or model.config.variant) != C2F:
            raise InputError(f"samples: expected none for the variant {variant or model.config.variant}, got {samples}")
        for name, value in changed.items():
            setattr(model.config, name, value)
        return cls(model, tokenizer, name_or_path)

    @property
    def positions(self) -> int | None:
        """Maximum number of words that are read."""
        return self.config.max_words

    @property
    def target_positions(self) -> int | None:
        """None, because an LSTM can write any number of tokens."""
        return None

    @property
    def _end(self) -> str:
        return self.tokenizer.eos_token if self.config.sentence_ends else ""

    def texts(self, documents: Sequence[Document]) -> list[str]:
        """Return the sentences of each document, with an end token after each if the model uses them."""
        return [text_of(document, self._end) for document in documents]

    def inputs(self, documents: Sequence[Document], encoding: BatchEncoding) -> dict[str, Any]:
        """Return the chunk of each token, and a `Record` of what will be encoded."""
        found = chunk_ids(documents, encoding, self.config, self._end)
        return {"chunk_ids": found.to(self.model.device), "record": Record()}

    def details(self, inputs: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the variant, how many chunks with words a document has, and how many of them were encoded.

        All documents of a batch take as many steps as the longest summary, so some of these chunks may have been
        encoded after the end of a document's own summary.
        """
        chunks = [len(set(row) - {-1}) for row in inputs["chunk_ids"].tolist()]
        # Standard attention encodes all chunks as one.
        encoded = chunks if self.config.variant == STANDARD else inputs["record"].memory.encoded.tolist()
        counts = zip(chunks, encoded, strict=True)
        return [{"variant": self.config.variant, "chunks": here, "encoded": read} for here, read in counts]

    def settings(self) -> dict[str, Any]:
        """Return the variant, the chunks, and the number of samples if it is above 1."""
        found: dict[str, Any] = {"variant": self.config.variant, "chunks": self.config.chunks}
        sampled = self.config.variant == C2F and self.config.samples > 1
        return found | ({"samples": self.config.samples} if sampled else {})

    @classmethod
    def for_training(
        cls, recipe: CoarseToFineRecipe, device: str, texts: Callable[[], Iterable[str]], report: Callable[[str], None]
    ) -> CoarseToFineFamily:
        """Return the recipe's model, with the recipe's variant and samples, or a new one with a new word tokenizer.

        Raises:
            InputError: A recipe whose network or words differ from the model's.
        """
        if recipe.model is not None:
            network = recipe.network
            family = cls.load(recipe.model, device=device, variant=network.variant, samples=network.samples)
            given = network.settings
            kept = {name: getattr(family.config, name) for name in given}
            check_kept(recipe.model, given, dict.fromkeys(given), kept, "network.")
            check_words(recipe.model, recipe.vocabulary, family.tokenizer, lowercase=recipe.lowercase)
            if wrong := recipe.soft_steps_of(family.config.variant):
                raise InputError("; ".join(wrong))
            # Older models could write it.
            family.model.generation_config.suppress_tokens = [unknown_id(family.tokenizer)]
            return family
        tokenizer = make_word_tokenizer(texts(), recipe.vocabulary, lowercase=recipe.lowercase)
        special = {
            "pad_token_id": tokenizer.pad_token_id,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            "decoder_start_token_id": tokenizer.bos_token_id,
        }
        model: Any = CoarseToFineForConditionalGeneration(
            CoarseToFineConfig(vocab_size=len(tokenizer), **special, **recipe.network.settings)
        )
        # Instead of the default of 20 tokens.
        model.generation_config.max_length = recipe.target_tokens
        # The unknown token tells a reader nothing, and ROUGE would count it as the word "unk".
        model.generation_config.suppress_tokens = [unknown_id(tokenizer)]
        report(f"{len(tokenizer):,} words")
        if recipe.vectors is not None:
            path = Path(recipe.vectors)
            indices, vectors = read_vectors(path, tokenizer.get_vocab(), model.config.embedding_size)
            for embeddings in [*_word_embeddings(model), model.decoder.embeddings]:
                embeddings.weight.data[indices] = vectors
            report(f"{path}: vectors of {len(indices):,} words")
        return cls(model.to(device), tokenizer, "scratch")

    @classmethod
    def needs_tree(cls, recipe: CoarseToFineRecipe) -> bool:
        """Return whether chunks are subtrees."""
        chunks: Any = recipe.network.chunks
        folder = folder_of(recipe.model) if recipe.model is not None and chunks is None else None
        if folder is not None:
            chunks = read_object(folder / CONFIG, WeightsError).get("chunks")
        return bool(chunks == SUBTREES)

    def parameter_groups(self, recipe: CoarseToFineRecipe) -> list[dict[str, Any]]:
        """Freeze embeddings if the recipe says so; return the coarse encoder's parameters and the rest as groups."""
        frozen = self._freezes_embeddings(recipe)
        for embeddings in _word_embeddings(self.model):
            embeddings.weight.requires_grad_(not frozen)
        coarse: list[nn.Parameter] = []
        rest: list[nn.Parameter] = []
        for name, parameter in self.model.named_parameters():
            if parameter.requires_grad:
                (coarse if name.startswith("encoder.coarse.") else rest).append(parameter)
        groups = [{"params": rest, "lr": recipe.learning_rate}]
        return groups + (
            [{"params": coarse, "lr": recipe.coarse_learning_rate or recipe.learning_rate}] if coarse else []
        )

    def begin_step(self, recipe: CoarseToFineRecipe, step: Step) -> None:
        """Decide whether the step reads all chunks, and update the baseline with the rewards of the previous step."""
        # Seeded by the step: the same in all processes and in a resumed run.
        chance = np.random.default_rng([recipe.seed, step.number]).random()
        self._soft = step.passes < recipe.pretrain or chance < recipe.alternate
        if self.config.variant == C2F:
            self._moving_baseline(recipe).advance(recipe.reinforce.baseline_rate)

    def loss(
        self, recipe: CoarseToFineRecipe, batch: dict[str, Tensor], inputs: dict[str, Any], done: float, chances: Tensor
    ) -> dict[str, Tensor]:
        """Return the cross-entropy; where chunks are sampled, the gradient of REINFORCE is added to its own."""
        learning = self.model.training
        soft = self.config.variant != C2F or (learning and self._soft)
        # A record would keep the words' states and their graph for gradients in memory.
        given = {name: value for name, value in inputs.items() if name != "record"}
        output = self.model(**batch, **given, soft=soft)
        if soft or not learning:
            return {"loss": output.loss}
        steps = batch["labels"] != IGNORED
        rewards, baseline = rewards_of(output.logits, batch["labels"]), self._moving_baseline(recipe)
        returns = returns_of(rewards, baseline.values, steps, recipe.reinforce)
        policy = policy_loss(output.log_choices, returns, steps)
        baseline.record(rewards, steps)
        # Add only the gradient of the policy loss, not its value.
        return {"loss": output.loss + policy - policy.detach()}

    def state(self) -> dict[str, Any]:
        """Return the moving baseline."""
        return {} if self._baseline is None else self._baseline.state()

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore the moving baseline."""
        if "baseline" in state:
            self._baseline = MovingBaseline(len(state["baseline"]), self.model.device)
            self._baseline.load_state(state)

    def _moving_baseline(self, recipe: CoarseToFineRecipe) -> MovingBaseline:
        if self._baseline is None:
            self._baseline = MovingBaseline(recipe.target_tokens, self.model.device)
        # A table's speeds are measured with a recipe for each set of targets.
        self._baseline.cover(recipe.target_tokens)
        return self._baseline

    def _freezes_embeddings(self, recipe: CoarseToFineRecipe) -> bool:
        """Return whether the encoder's embeddings keep their initial values."""
        bags = self.config.variant != STANDARD and self.config.coarse == BOW
        return bags if recipe.frozen_embeddings is None else recipe.frozen_embeddings

    def card(self, recipe: CoarseToFineRecipe) -> FamilyCard:
        """Return the card: the kind of attention, and the choices that the paper leaves open."""
        return card_of(self.config, frozen=self._freezes_embeddings(recipe))


def _word_embeddings(model: Any) -> list[Any]:
    """Return the encoder's embeddings: of words, and of the bag of words."""
    coarse = [model.encoder.coarse.words] if model.config.variant != STANDARD and model.config.coarse == BOW else []
    return [model.encoder.embeddings, *coarse]
