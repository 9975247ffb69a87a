"""What a training run of the parser is made of: a YAML file, a dataclass, a checked set of fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from discsum.parsers.network import NetworkConfig
from discsum.parsers.structure import DESIGNS
from discsum.recipes.fields import Count, Natural, NotNegative, Positive, Share, about
from discsum.recipes.sources import Rows
from discsum.training.recipe import TrainingRecipe


@dataclass(frozen=True, kw_only=True)
class ParserRecipe(TrainingRecipe):
    """A training run of the parser: what is said of every run, and this."""

    encoder: Annotated[str, about("Hugging Face name or folder of the encoder to start from.")] = (
        "sentence-transformers/all-MiniLM-L6-v2"
    )
    start: Annotated[
        str | None,
        about(
            "Folder of a trained parser whose layers this one begins with, those that fit; relative to where "
            "training runs. None to begin with the encoder alone."
        ),
    ] = None
    network: Annotated[NetworkConfig, about("Sizes and design of what stands on it.")] = field(
        default_factory=NetworkConfig
    )
    epochs: Annotated[
        Count, about("Passes over the training documents, in which the learning rates rise and fall.")
    ] = 7
    batch: Annotated[Count, about("Documents a step, over all processes.")] = 2
    encoder_rate: Annotated[Positive, about("Peak learning rate of the encoder.")] = 1e-4
    rate: Annotated[Positive, about("Peak learning rate of everything above it.")] = 1e-3
    predicted: Annotated[
        Share,
        about("Share of documents a step whose tree is learned over predicted EDUs, once `predicted_from` is past."),
    ] = 0.3
    predicted_from: Annotated[
        Share, about("Share of the steps of all `epochs` after which predicted EDUs are used.")
    ] = 0.25
    section: Annotated[Share, about("Share of documents a step of which one constituent stands for the whole.")] = 0.3
    drop: Annotated[Share, about("Share of satellites left out of a document a step.")] = 0.15
    teachers: Annotated[
        tuple[str, ...],
        about("Folders of trained parsers to learn from, beside gold; relative to where training runs."),
    ] = ()
    texts: Annotated[
        tuple[Rows, ...], about("Tables of texts that the teachers parse; relative to the treebank's folder.")
    ] = ()
    longest: Annotated[Count, about("Characters of a text that are used, at most.")] = 5000
    silver: Annotated[Count, about("Documents per step that teachers speak for, where there are teachers.")] = 2
    flatten: Annotated[
        Share, about("Share of documents a step read with other line breaks, and as large a share without case.")
    ] = 0.2
    tag_weight: Annotated[NotNegative, about("Weight of the boundary loss beside the split loss.")] = 1.0
    label_weight: Annotated[NotNegative, about("Weight of the label loss beside the split loss.")] = 1.0
    smoothing: Annotated[Share, about("Label smoothing of the label loss.")] = 0.05
    bf16: Annotated[
        bool,
        about("Whether the encoder trains in bfloat16 (weights stay float32), on CPUs too; half as fast without AMX."),
    ] = True
    seeds: Annotated[
        tuple[Natural, ...],
        about(
            "Seeds of several runs that begin with the same parser (`start`), of whose weights the mean is kept; "
            "none for one run, with `seed`."
        ),
    ] = ()

    def problems(self) -> list[str]:
        """Return what is wrong with fields that do not fit together."""
        problems = super().problems()
        design = DESIGNS.get(self.network.design)
        if design is not None and self.teachers and design.soft_loss is None:
            problems.append(f"teachers: expected network.design chart, got {self.network.design}")
        if self.seeds and self.start is None:
            problems.append("seeds: expected start beside them, got none; only parsers that begin alike have a mean")
        if self.seeds and self.seed != 1:
            several = list(self.seeds)
            problems.append(f"seed: expected none beside seeds {several}; say seeds=[] for one run")
        if len(set(self.seeds)) < len(self.seeds):
            problems.append(f"seeds: expected each once, got {', '.join(map(str, self.seeds))}")
        if bool(self.teachers) != bool(self.texts):
            there, missing = ("teachers", "texts") if self.teachers else ("texts", "teachers")
            problems.append(f"{missing}: expected some beside {there}, got none; say {there}=[] to do without")
        return problems
