"""The sparse family: cross-attention that reads selected sentences (Manakul and Gales 2021)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from torch import Tensor

from discsum.abstractive.compressed.calls import borders_of, encoder_settings
from discsum.abstractive.compressed.folder import load_model
from discsum.abstractive.family import Family, FamilyCard
from discsum.abstractive.folder import load_tokenizer, without_report
from discsum.abstractive.long_input import lengthened
from discsum.abstractive.recipe import check_kept
from discsum.abstractive.scratch import CONFIG_FIELDS, Scratch, make_model, make_tokenizer
from discsum.abstractive.sentence_layout import SentenceLayout
from discsum.abstractive.sparse import objective
from discsum.abstractive.sparse.config import SparseConfig
from discsum.abstractive.sparse.conversion import set_beta, sparsify
from discsum.abstractive.sparse.folder import load_sparse, read_config
from discsum.abstractive.sparse.recipe import SparseRecipe
from discsum.abstractive.sparse.selectors import ALL, changed_options, check_options, learns, names
from discsum.abstractive.vocabulary import check_size
from discsum.document import Document
from discsum.errors import InputError, WeightsError

if TYPE_CHECKING:
    from transformers import BatchEncoding


class SparseFamily(Family[SparseRecipe]):
    """A model that `sparsify` converted, with the settings of its selector."""

    recipe_type = SparseRecipe

    @property
    def selector(self) -> SparseConfig:
        """The settings of the model's selector."""
        config: SparseConfig = self.model.sparse.current
        return config

    @classmethod
    def load(
        cls,
        name_or_path: str,
        *,
        device: str = "cpu",
        selector: str | None = None,
        r: int | None = None,
        beta: float | None = None,
        share_beams: bool | None = None,
        untrained: bool = False,
        long_input: tuple[int, int] | None = None,
        **options: Any,
    ) -> SparseFamily:
        """Load a model with sparse cross-attention.

        Args:
            name_or_path: Folder of a sequence-to-sequence model with its tokenizer, or `hf:NAME` from the hub.
            device: Device of the model.
            selector: Selects the sentences that each step reads; by default the one that the model was trained with,
                or `all`.
            r: Number of sentences selected at each step; by default as saved, with any selector but `all`.
            beta: Weight of the discourse prior; by default as in training with this selector, where None means no
                prior and no trees.
            share_beams: Whether the beams of a document read the same sentences; by default as saved, or else true.
            untrained: Whether a selector with weights may be new, as before its training.
            long_input: Positions and window that a BART gets to read longer texts; see `lengthened`.
            options: Options of the selector.

        Raises:
            WeightsError: No such model, or one without safetensors weights.
            InputError: A model that cannot be made sparse, an unknown selector, one that must be trained first, or a
                `selector` other than `all` with neither a given nor a saved `r`.
        """
        config, trained = _config_of(name_or_path, selector, beta, options)
        tokenizer = load_tokenizer(name_or_path)
        given: dict[str, Any] = {"r": r, "share_beams": share_beams}
        config = replace(config, **{name: value for name, value in given.items() if value is not None})
        check_options(config.selector, config.options, beta, config.r)
        if config.selector == ALL and share_beams is False:
            raise InputError(
                "share_beams=False (--per-beam): expected a selector that selects sentences, such as mean_key, got "
                f"{ALL}"
            )
        if not (trained or untrained) and learns(config.selector, config.options):
            raise InputError(
                f"{name_or_path}: expected a model that was trained with the selector {config.selector}, got none; "
                "train it (discsum train manakul2021/kl) or use a selector that needs no training, such as mean_key"
            )
        if selector not in (None, ALL) and config.r is None and not untrained:
            raise InputError(
                f"--selector {selector}: expected the number of sentences that it selects at each step, got none; add "
                "--r (Python: r=...)"
            )
        learned = learns(config.selector, config.options) or config.beta is not None
        if long_input is not None and trained and learned:
            raise InputError(
                f"{name_or_path}: expected a model whose selector is not trained yet, because it reads longer texts "
                f"from now on (positions), got one with a trained {config.selector}"
            )
        if trained and long_input is None:
            model = load_sparse(name_or_path, config, device)
            if beta is not None:
                set_beta(model, beta)
        else:
            # The weights of another selector that the model was saved with are left out.
            with without_report() if read_config(name_or_path) is not None else nullcontext():
                model = load_model(name_or_path, device)
            if long_input is not None:
                model = lengthened(model, *long_input)
                tokenizer.model_max_length = model.config.max_encoder_position_embeddings
            sparsify(model, **config.arguments)
        return cls(model, tokenizer, name_or_path)

    def inputs(self, documents: Sequence[Document], encoding: BatchEncoding) -> dict[str, Any]:
        """Return the `layout` of the documents' sentences, with the discourse prior if the selector uses it.

        `borders` are added for an encoder whose blocks begin and end at the borders of units.
        """
        layout = SentenceLayout.from_documents(documents, encoding)
        layout = layout if self.selector.beta is None else layout.with_prior(documents)
        return {"layout": layout, **borders_of(self.model, documents, encoding)}

    def details(self, inputs: dict[str, Any]) -> list[dict[str, Any]]:
        """Return selector, `r`, other settings, and how many sentences each document has and each step reads."""
        call, settings = self.model.sparse.call, self.settings()
        settings["r"] = call.r
        settings.pop("sentences_per_step", None)
        # `read` says whether all were read.
        settings.pop("dense_where_faster", None)
        settings |= {} if call.dense_where_faster else {"dense_where_faster": False}
        counts = map(len, inputs["layout"].spans)
        return [{**settings, "sentences": count, "read": call.read(count)} for count in counts]

    def settings(self) -> dict[str, Any]:
        """Return the selector, its other settings that are not the default, and those of a compressed encoder.

        Whether all sentences are read where that is faster changes summaries, so it is there if some would be selected.
        """
        selector = self.selector
        found: dict[str, Any] = {"selector": selector.selector}
        # In signatures, `r` is short for `ratio`.
        named = {"sentences_per_step": selector.r, "prior": selector.beta}
        found |= {name: value for name, value in named.items() if value is not None}
        found |= {} if selector.share_beams else {"share_beams": False}
        if selector.r is not None or not selector.dense_where_faster:
            found["dense_where_faster"] = selector.dense_where_faster
        changed = changed_options(selector.selector, selector.options)
        found |= {f"selector_{name}": value for name, value in changed.items()}
        return found | encoder_settings(self.model)

    @classmethod
    def for_training(
        cls, recipe: SparseRecipe, device: str, texts: Callable[[], Iterable[str]], report: Callable[[str], None]
    ) -> SparseFamily:
        """Return the recipe's model, with its trained selector if the recipe has the same, or a new sparse BART.

        Raises:
            InputError: A selector that must be trained first, or a model that the recipe does not fit.
        """
        r = recipe.r if recipe.objective.selects else None
        if recipe.model is None:
            tokenizer = make_tokenizer(texts(), recipe.scratch.vocabulary)
            model = make_model(recipe.scratch, tokenizer)
            sparsify(model, selector=recipe.selector, r=r, beta=recipe.beta, **recipe.options)
            return cls(model.to(device), tokenizer, "scratch")
        name = recipe.model
        saved = _saved_of(recipe)
        if saved is None and learns(recipe.selector, recipe.options):
            if recipe.objective.integrated:
                raise InputError(
                    f"model: expected one with a trained selector {recipe.selector} for the mode "
                    f"{recipe.objective.mode}, got {name}; train it first, for example with manakul2021/kl"
                )
            report(f"{name}: the selector {recipe.selector} is newly initialised")
        # Keep a trained weight of the prior.
        beta = None if saved is not None and saved.beta is not None else recipe.beta
        options: dict[str, Any] = {"selector": recipe.selector, "r": r, "beta": beta, **recipe.options}
        if recipe.positions is not None:
            options["long_input"] = recipe.positions, recipe.window
        family = cls.load(name, device=device, untrained=True, **options)
        family.model.sparse.r = r
        # Models of other families have other names for some sizes.
        kept = {size: getattr(family.model.config, field, None) for size, field in CONFIG_FIELDS.items()}
        sizes = [size for size, value in kept.items() if value is not None]
        given, default = ({size: getattr(one, size) for size in sizes} for one in (recipe.scratch, Scratch()))
        check_kept(name, given, default, kept, "scratch.")
        if recipe.scratch.vocabulary != Scratch.vocabulary:
            check_size(name, "scratch.vocabulary", recipe.scratch.vocabulary, family.tokenizer)
        return family

    @classmethod
    def needs_tree(cls, recipe: SparseRecipe) -> bool:
        """Return whether the selector has the discourse prior, by the recipe or from earlier training."""
        saved = _saved_of(recipe)
        return recipe.beta is not None or (saved is not None and saved.beta is not None)

    def parameter_groups(self, recipe: SparseRecipe) -> list[dict[str, Any]]:
        """Freeze the parameters that the recipe's mode does not train; return the others.

        Without weight decay, AdamW is the Adam of Manakul and Gales 2021, appendix A.3.
        """
        return [{"params": objective.trained_parameters(self.model, recipe.objective), "lr": recipe.learning_rate}]

    def loss(
        self, recipe: SparseRecipe, batch: dict[str, Tensor], inputs: dict[str, Any], done: float, chances: Tensor
    ) -> dict[str, Tensor]:
        """Return the loss of the recipe's mode and its parts; `int-mix` draws ideal sentences by `chances`."""
        ideal = objective.reads_ideal(recipe.objective, done, chances)
        # Borders for a compressed encoder, if it needs them.
        rest = {name: value for name, value in inputs.items() if name != "layout"}
        return objective.step_loss(self.model, batch | rest, inputs["layout"], recipe.objective, recipe.r, ideal)

    def card(self, recipe: SparseRecipe) -> FamilyCard:
        """Return the card: which sentences the model reads, and its training mode."""
        tree = ", weighted by the discourse tree" if self.selector.beta is not None else ""
        selected = f"the {recipe.r} sentences that the selector {recipe.selector} selects at each step{tree}"
        read = selected if recipe.objective.selects else "all sentences"
        return FamilyCard(
            "sparse-attention",
            f"A sequence-to-sequence model whose cross-attention reads {read} (Manakul and Gales 2021). Use it with "
            "`discsum abstract --model FOLDER`. Without discsum it is a model of transformers that reads all "
            "sentences.",
            "random weights and a tokenizer learned from the training texts",
            f"{recipe.objective.mode}: {objective.MODES[recipe.objective.mode]}",
        )


def _config_of(
    name_or_path: str, selector: str | None, beta: float | None, options: dict[str, Any]
) -> tuple[SparseConfig, bool]:
    """Return the settings of a model with a selector, and whether the model was saved with that selector."""
    saved = read_config(name_or_path)
    if saved is None:
        return SparseConfig(selector or ALL, beta=beta, options=options), False
    if selector is not None and selector != saved.selector:
        # The weight of the prior was learned with the other selector; `all` has no number of sentences.
        r = None if selector == ALL else saved.r
        return replace(saved, selector=selector, r=r, beta=beta, options=options), False
    if saved.selector not in names():
        raise WeightsError(
            f"{name_or_path}: expected the selector {saved.selector!r}, which the model was trained with, found "
            "none of this name; install the package that has it, or name another one (--selector)"
        )
    check_options(saved.selector, options)
    given = saved.options | options
    if learns(saved.selector, saved.options):
        if changed_options(saved.selector, given) != changed_options(saved.selector, saved.options):
            raise InputError(
                f"{name_or_path}: expected the options that its selector was trained with, {saved.options or 'none'}, "
                f"got {options}"
            )
        return saved, True
    return replace(saved, options=given), True


def _saved_of(recipe: SparseRecipe) -> SparseConfig | None:
    """Return the settings of the recipe's model, if it was saved with the recipe's selector."""
    saved = read_config(recipe.model) if recipe.model is not None else None
    return saved if saved is not None and saved.selector == recipe.selector else None
