"""The recipe of the parser's training."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated

from discsum.parsers.network_config import NetworkConfig
from discsum.parsers.structure import DESIGNS
from discsum.parsers.training.splits import SplitConfig
from discsum.parsers.tree_folder import NEWLINE, PUNCTUATION
from discsum.recipes.fields import Count, ModelName, NotNegative, Positive, Seed, Share, about, one_of
from discsum.recipes.sources import Rows
from discsum.training.recipe import TrainingRecipe


@dataclass(frozen=True, kw_only=True)
class ParserRecipe(TrainingRecipe):
    """The settings of a parser's training run, in addition to the settings of every run."""

    encoder: Annotated[
        ModelName, about("Encoder to start from: its Hugging Face name or folder, or a parser that contains it.")
    ] = "sentence-transformers/all-MiniLM-L6-v2"
    start: Annotated[
        ModelName | None,
        about(
            "A shipped parser, the folder of a trained one relative to the working directory, or hf:NAME, whose "
            "matching layers initialise this one; with null only the encoder is initialised."
        ),
    ] = None
    network: Annotated[NetworkConfig, about("Sizes and design of the layers above it.")] = field(
        default_factory=NetworkConfig
    )
    epochs: Annotated[
        Count, about("Passes over the training documents, in which the learning rates rise and fall.")
    ] = 7
    batch_size: int = 2
    encoder_learning_rate: Annotated[Positive, about("Peak learning rate of the encoder.")] = 1e-4
    learning_rate: Annotated[Positive, about("Peak learning rate of everything above it.")] = 1e-3
    predicted_edus: Annotated[
        Share,
        about("Probability that a document's tree is learned over predicted EDUs, after `predicted_edus_from`."),
    ] = 0.3
    predicted_edus_from: Annotated[
        Share, about("Share of the steps of all `epochs` after which predicted EDUs are used.")
    ] = 0.25
    section: Annotated[Share, about("Probability that a document is reduced to one of its constituents.")] = 0.3
    drop_satellites: Annotated[Share, about("Probability that a satellite is left out of a document.")] = 0.15
    teachers: Annotated[
        tuple[ModelName, ...],
        about(
            "Parsers that pseudo-label `texts`: shipped ones, folders of trained ones relative to the working "
            "directory, and hf:NAME."
        ),
    ] = ()
    texts: Annotated[
        tuple[Rows, ...], about("Tables of texts that the teachers label, relative to the treebank's folder.")
    ] = ()
    longest: Annotated[Count, about("Maximum number of characters to use of a text.")] = 5000
    silver: Annotated[Count, about("Pseudo-labelled texts per step, if there are teachers.")] = 2
    flatten: Annotated[
        Share,
        about("Probability that a document's line breaks are changed, and that the features of its case are removed."),
    ] = 0.2
    tag_weight: Annotated[NotNegative, about("Weight of the boundary loss relative to the split loss.")] = 1.0
    label_weight: Annotated[NotNegative, about("Weight of the label loss relative to the split loss.")] = 1.0
    smoothing: Annotated[Share, about("Label smoothing of the label loss.")] = 0.05
    bf16: Annotated[
        bool,
        about(
            "Whether the encoder trains in bfloat16 (weights: float32). CPUs without AVX512-BF16, AMX or Arm's "
            "bfloat16 instructions train in float32, with a warning."
        ),
    ] = True
    seeds: Annotated[
        tuple[Seed, ...],
        about(
            "Seeds of several runs initialised from the same parser (`start`), whose weights are averaged; "
            "none for one run, with `seed`."
        ),
    ] = ()

    split: Annotated[SplitConfig, about("How a treebank other than GUM is split.")] = field(default_factory=SplitConfig)
    sentences: Annotated[
        str,
        one_of(
            (PUNCTUATION, NEWLINE),
            "Sentences of tree files, which have none: guessed from final punctuation, or the lines of the text files "
            "beside them.",
        ),
    ] = PUNCTUATION
    classes: Annotated[
        dict[str, str],
        about(
            "Class of each relation, or of all that match a pattern such as `elaboration-*`. The class of a relation "
            "left out is the part before its first hyphen if all of these have one, as in GUM, otherwise the relation "
            "itself."
        ),
    ] = field(default_factory=dict)
    language: Annotated[
        str,
        about(
            "ISO 639 code of the treebank's language, such as de, for the model card. Texts that look like another "
            "language get a warning if the code has two letters. By default en for GUM."
        ),
    ] = ""
    license: Annotated[str, about("Licence of the weights, for the model card; by default apache-2.0 for GUM.")] = ""

    def problems(self) -> list[str]:
        """Return the contradictions between fields."""
        problems = super().problems()
        if not re.fullmatch("([a-z]{2,3})?", self.language):
            problems.append(f"language: expected a code of two or three letters, such as de, got {self.language!r}")
        design = DESIGNS.get(self.network.design)
        if design is not None and self.teachers and not design.learns_distributions:
            problems.append(f"teachers: expected network.design chart, got {self.network.design}")
        if self.seeds and self.start is None:
            problems.append(
                "seeds: expected a parser in the field start, because only runs that start from the same weights "
                "can be averaged, got none; add start=PARSER, or set seeds=[] for one run"
            )
        if self.seeds and self.seed != 1:
            problems.append(f"seed: cannot be combined with seeds {list(self.seeds)}; set seeds=[] for one run")
        if len(set(self.seeds)) < len(self.seeds):
            problems.append(f"seeds: expected each seed once, got {', '.join(map(str, self.seeds))}")
        if bool(self.teachers) != bool(self.texts):
            there, missing = ("teachers", "texts") if self.teachers else ("texts", "teachers")
            problems.append(f"{missing}: expected at least one with {there}, got none; add some, or set {there}=[]")
        return problems
