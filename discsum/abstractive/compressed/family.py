"""The family of compressed encoders, with copy attention (Yap et al.)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from torch import Tensor

from discsum.abstractive.compressed.calls import borders_of, encoder_settings
from discsum.abstractive.compressed.config import CompressionConfig
from discsum.abstractive.compressed.conversion import compress
from discsum.abstractive.compressed.copying import decoded, extended_ids, unknown_words
from discsum.abstractive.compressed.folder import load_model
from discsum.abstractive.compressed.mixture import smoothed_loss
from discsum.abstractive.compressed.model import CopyPegasusConfig, CopyPegasusForConditionalGeneration
from discsum.abstractive.compressed.recipe import CompressedRecipe, Network
from discsum.abstractive.family import Family, FamilyCard, requested_options
from discsum.abstractive.folder import load_tokenizer
from discsum.abstractive.recipe import check_kept
from discsum.abstractive.scratch import CONFIG_FIELDS, sized
from discsum.abstractive.vocabulary import CLOSE, OPEN, check_words, make_word_tokenizer, unknown_id
from discsum.document import Document
from discsum.errors import InputError
from discsum.recipes.fields import shown

if TYPE_CHECKING:
    from transformers import BatchEncoding

SPECIAL = ("pad", "bos", "eos")
# Fields of the model's configuration by field of a recipe's network.
NETWORK_FIELDS = CONFIG_FIELDS | {"position_base": "position_base"}
# For a model card.
READ = {
    "conv": "reads one convolved key and value for every {kernel} tokens",
    "conv_pool": "reads convolved keys and values, max-pooled over every {kernel} tokens",
    "strided": "reads {blocks} overlapping blocks of the text",
    "strided_conv": (
        "reads {blocks} overlapping blocks of the text, with one convolved key and value for every {kernel} tokens"
    ),
}


class CompressedFamily(Family[CompressedRecipe]):
    """A `CopyPegasusForConditionalGeneration` whose encoder may be compressed, with its word tokenizer."""

    recipe_type = CompressedRecipe

    @classmethod
    def load(cls, name_or_path: str, *, device: str = "cpu", **options: Any) -> CompressedFamily:
        """Load a model that was trained in this family.

        Raises:
            WeightsError: No such model, or one without safetensors weights.
            InputError: A model of another kind, or any option.
        """
        if asked := requested_options(options):
            raise InputError(
                f"{name_or_path}: expected no selector options for a model of the family compressed, which has no "
                f"selector, got {asked}"
            )
        model = load_model(name_or_path, device)
        if not isinstance(model, CopyPegasusForConditionalGeneration):
            raise InputError(
                f"{name_or_path}: expected a model that faster-encoders/... trained, got {type(model).__name__}"
            )
        return cls(model, load_tokenizer(name_or_path), name_or_path)

    @property
    def encoder(self) -> CompressionConfig | None:
        """How the encoder is compressed; None for full attention."""
        return self.model.compressed.config if hasattr(self.model, "compressed") else None

    def inputs(self, documents: Sequence[Document], encoding: BatchEncoding) -> dict[str, Any]:
        """Return `source_ids`, in which unknown words have their own ids, and `borders` if the encoder needs them."""
        ids = extended_ids(self.tokenizer, self.texts(documents), encoding, self._words(documents, encoding))
        return {"source_ids": ids.to(self.model.device), **borders_of(self.model, documents, encoding)}

    @property
    def tagged(self) -> bool:
        """Whether the sentences of summaries have tags."""
        # `get_vocab` would make a dictionary of all words for each target.
        return self.tokenizer.backend_tokenizer.token_to_id(CLOSE) is not None

    def target(self, reference: str) -> str:
        """Return a reference, with tags around its sentences if the model writes them."""
        if not self.tagged:
            return super().target(reference)
        lines = (" ".join(line.split()) for line in reference.splitlines())
        return " ".join(f"{OPEN} {line} {CLOSE}" for line in lines if line)

    def target_ids(
        self, targets: Sequence[str], written: BatchEncoding, documents: Sequence[Document], encoding: BatchEncoding
    ) -> Tensor:
        """Return ids `(documents, steps)`, in which unknown words have extended ids if the documents contain them."""
        return extended_ids(self.tokenizer, targets, written, self._words(documents, encoding))

    def decode(self, generated: Tensor, documents: Sequence[Document], encoding: BatchEncoding) -> list[str]:
        """Return texts with copied words, one sentence per line if the model writes tags."""
        words = self._words(documents, encoding)
        if not self.tagged:
            return decoded(self.tokenizer, generated, words)
        close = self.tokenizer.convert_tokens_to_ids(CLOSE)
        texts = []
        for row, own in zip(generated, words, strict=True):
            # Split the summary into its sentences and the rest after the last one.
            ends = (row == close).nonzero().flatten() + 1
            sentences = row.tensor_split(ends.cpu())
            found = (decoded(self.tokenizer, sentence[None], [own])[0] for sentence in sentences)
            texts.append("\n".join(text for text in found if text))
        return texts

    def _words(self, documents: Sequence[Document], encoding: BatchEncoding) -> list[dict[str, int]]:
        return unknown_words(self.tokenizer, self.texts(documents), encoding)

    def details(self, inputs: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the encoder's variant for each document."""
        return [{"encoder": self.settings()["encoder"]} for _ in inputs["source_ids"]]

    def settings(self) -> dict[str, Any]:
        """Return the encoder's variant and its settings that affect scores."""
        return {"encoder": "full"} | encoder_settings(self.model)

    @classmethod
    def for_training(
        cls, recipe: CompressedRecipe, device: str, texts: Callable[[], Iterable[str]], report: Callable[[str], None]
    ) -> CompressedFamily:
        """Return the recipe's model, or a new one with a new word tokenizer; compress its encoder as the recipe says.

        Raises:
            InputError: A model whose encoder, sizes, words or sentence tags differ from the recipe's.
        """
        if recipe.model is not None:
            family = cls.load(recipe.model, device=device)
            network = recipe.network.to_dict()
            kept = {name: getattr(family.model.config, NETWORK_FIELDS[name]) for name in network}
            check_kept(recipe.model, network, Network().to_dict(), kept, "network.")
            check_words(recipe.model, recipe.vocabulary, family.tokenizer, lowercase=recipe.lowercase)
            if family.encoder is None and recipe.encoder is not None:
                compress(family.model, **recipe.encoder.to_dict())
            elif family.encoder != recipe.encoder:
                own, asked = (shown(None if one is None else one.to_dict()) for one in (family.encoder, recipe.encoder))
                raise InputError(f"encoder: expected that of {recipe.model}, {own}, got {asked}")
            if family.tagged != recipe.sentence_tags:
                raise InputError(
                    f"sentence_tags: expected {str(family.tagged).lower()} as in {recipe.model}, got "
                    f"{str(recipe.sentence_tags).lower()}"
                )
            return family
        tokenizer = make_word_tokenizer(
            texts(), recipe.vocabulary, lowercase=recipe.lowercase, merge_numbers=False, tags=recipe.sentence_tags
        )
        report(f"{len(tokenizer):,} words")
        model = _make_model(recipe, tokenizer)
        if recipe.encoder is not None:
            compress(model, **recipe.encoder.to_dict())
        return cls(model.to(device), tokenizer, "scratch")

    @classmethod
    def needs_tree(cls, recipe: CompressedRecipe) -> bool:
        """Return false: borders need only sentences or EDUs, which all documents have."""
        return False

    def parameter_groups(self, recipe: CompressedRecipe) -> list[dict[str, Any]]:
        """Return all parameters except positions, which are not learned."""
        return [{"params": [one for one in self.model.parameters() if one.requires_grad], "lr": recipe.learning_rate}]

    def loss(
        self, recipe: CompressedRecipe, batch: dict[str, Tensor], inputs: dict[str, Any], done: float, chances: Tensor
    ) -> dict[str, Tensor]:
        """Return the cross-entropy with and without label smoothing, and the accuracy."""
        given = {name: value for name, value in batch.items() if name != "labels"}
        mixture = self.model(**given, **inputs, use_cache=False, dense=False).mixture
        return smoothed_loss(mixture.scores_of(batch["labels"]), recipe.smoothing)

    def card(self, recipe: CompressedRecipe) -> FamilyCard:
        """Return the card: how the encoder reads, and the choices that the paper leaves open."""
        config = self.encoder
        read = "reads all tokens" if config is None else READ[config.variant].format_map(config.to_dict())
        if config is not None and config.borders:
            read += f"; blocks begin and end at borders of {config.borders}"
        decided = ["copy attention is separate from cross-attention"]
        if config is not None and config.convolves:
            decided.append("keys and values have separate convolutions, initialised to the mean of their window")
        if config is not None and config.strides:
            decided.append("blocks cover texts of any length")
        return FamilyCard(
            "compressed-encoder",
            f"A transformer whose encoder {read} (Yap et al., Faster Transformers for Document Summarization). Its "
            "decoder may copy words of the text. Use it with `discsum abstract --model FOLDER`. Choices that the paper "
            f"leaves open: {'; '.join(decided)}.",
            "random weights and a vocabulary of the training texts",
            f"Cross-entropy with label smoothing {recipe.smoothing}",
        )


def _make_model(recipe: CompressedRecipe, tokenizer: Any) -> Any:
    """Return a model of the recipe's sizes with random weights."""
    sizes = recipe.network
    special: dict[str, Any] = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in SPECIAL}
    special |= {"decoder_start_token_id": tokenizer.bos_token_id, "forced_eos_token_id": tokenizer.eos_token_id}
    special["unk_token_id"] = unknown_id(tokenizer)
    config = CopyPegasusConfig(
        vocab_size=len(tokenizer),
        **sized(sizes),
        position_base=sizes.position_base,
        # Besides that of residual branches, as in OpenNMT.
        attention_dropout=sizes.dropout,
        activation_dropout=sizes.dropout,
        activation_function="relu",
        # Scale embeddings up to the magnitude of positions (Vaswani et al. 2017, section 3.4).
        scale_embedding=True,
        **special,
    )
    model: Any = CopyPegasusForConditionalGeneration(config)
    # Instead of the default of 20 tokens.
    model.generation_config.max_length = recipe.target_tokens
    # Words that the vocabulary lacks are copied, so never write the unknown token.
    model.generation_config.suppress_tokens = [special["unk_token_id"]]
    return model
