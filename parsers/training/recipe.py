"""What a training run of the parser is made of: a YAML file, a dataclass, a checked set of fields."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from discsum.errors import InputError
from discsum.parsers.network import NetworkConfig
from discsum.parsers.structure import DESIGNS
from discsum.recipes.fields import mistaken
from discsum.recipes.sources import Rows, sources


@dataclass(frozen=True)
class ParserRecipe:
    """A training run of the parser.

    Attributes:
        encoder: Hugging Face name or folder of the encoder to start from.
        start: Folder of a trained parser whose layers this one begins with, those that fit; relative to where
            training runs. None to begin with the encoder alone.
        network: Sizes and design of what stands on it.
        epochs: Passes over the training documents, in which the learning rates rise and fall.
        stop: Epochs after which the run ends, before its rates have fallen; 0 for all of them.
        batch: Documents a step.
        encoder_rate: Peak learning rate of the encoder.
        rate: Peak learning rate of everything above it.
        warmup: Share of the steps of all `epochs` in which the rates rise; they fall to zero along a cosine after it.
        decay: Weight decay.
        average: Decay of the running average of the weights, which is what is kept.
        predicted: Share of documents a step whose tree is learned over predicted EDUs, once `predicted_from` is past.
        predicted_from: Share of the steps of all `epochs` after which predicted EDUs are used.
        section: Share of documents a step of which one constituent stands for the whole.
        drop: Share of satellites left out of a document a step.
        teachers: Folders of trained parsers to learn from, beside gold; relative to where training runs.
        texts: Tables of texts that the teachers parse; relative to the treebank's folder.
        longest: Characters of a text that are used, at most.
        silver: Documents per step that teachers speak for, where there are teachers.
        flatten: Share of documents a step read with other line breaks, and as large a share without case.
        tag_weight: Weight of the boundary loss beside the split loss.
        label_weight: Weight of the label loss beside the split loss.
        smoothing: Label smoothing of the label loss.
        bf16: Whether the encoder trains in bfloat16 (weights stay float32); half as fast on CPUs without AMX.
        seed: Seed of everything random.
        seeds: Seeds of several runs that begin with the same parser (`start`), of whose weights the mean is kept; none
            for one run, with `seed`.
    """

    encoder: str = "sentence-transformers/all-MiniLM-L6-v2"
    start: str | None = None
    network: NetworkConfig = field(default_factory=NetworkConfig)
    epochs: int = 7
    stop: int = 0
    batch: int = 2
    encoder_rate: float = 1e-4
    rate: float = 1e-3
    warmup: float = 0.1
    decay: float = 0.01
    average: float = 0.98
    predicted: float = 0.3
    predicted_from: float = 0.25
    section: float = 0.3
    drop: float = 0.15
    teachers: tuple[str, ...] = ()
    texts: tuple[Rows, ...] = ()
    longest: int = 5000
    silver: int = 2
    flatten: float = 0.2
    tag_weight: float = 1.0
    label_weight: float = 1.0
    smoothing: float = 0.05
    bf16: bool = True
    seed: int = 1
    seeds: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Check the fields together and report every problem at once."""
        problems = [
            f"{name}: expected a number in [0, 1], got {getattr(self, name)}"
            for name in ("warmup", "average", "predicted", "predicted_from", "section", "drop", "flatten", "smoothing")
            if not 0.0 <= getattr(self, name) <= 1.0
        ]
        problems += [
            f"{name}: expected a number above 0, got {getattr(self, name)}"
            for name in ("epochs", "batch", "encoder_rate", "rate", "silver", "longest")
            if not getattr(self, name) > 0
        ]
        if self.network.design not in DESIGNS:
            problems.append(f"network.design: expected one of {', '.join(DESIGNS)}, got {self.network.design!r}")
        elif self.teachers and DESIGNS[self.network.design].soft_loss is None:
            problems.append(f"teachers: expected network.design chart, got {self.network.design}")
        if not 0 <= self.stop <= self.epochs:
            problems.append(f"stop: expected 0 to {self.epochs} epochs, got {self.stop}")
        if self.seeds and self.start is None:
            problems.append("seeds: expected start beside them, got none; only parsers that begin alike have a mean")
        if min([self.seed, *self.seeds]) < 0:
            problems.append(f"seed: expected 0 or more, got {min([self.seed, *self.seeds])}")
        if len(set(self.seeds)) < len(self.seeds):
            problems.append(f"seeds: expected each once, got {', '.join(map(str, self.seeds))}")
        if bool(self.teachers) != bool(self.texts):
            there, missing = ("teachers", "texts") if self.teachers else ("texts", "teachers")
            problems.append(f"{missing}: expected some beside {there}, got none; say {there}=[] to do without")
        if problems:
            raise InputError("; ".join(problems))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ParserRecipe:
        """Return the recipe of a YAML file's content; an unknown field is an error that lists the known ones."""
        settings = dict(data)
        network = settings.pop("network", {})
        teachers = settings.pop("teachers", [])
        seeds = settings.pop("seeds", [])
        texts, wrong = sources("texts", settings.pop("texts", []), Rows)
        if not isinstance(teachers, list | tuple) or not all(isinstance(folder, str) for folder in teachers):
            wrong.append(f"teachers: expected a list of folders, got {teachers!r}")
        if not isinstance(seeds, list | tuple) or not all(type(seed) is int for seed in seeds):
            wrong.append(f"seeds: expected a list of whole numbers, got {seeds!r}")
        if seeds and settings.get("seed", 1) != 1:
            wrong.append(
                f"seed: expected none beside seeds {seeds}; say seeds=[] for one run, or seeds=[...] for others"
            )
        problems = mistaken(cls, settings, groups=("network", "teachers", "texts", "seeds"))
        if isinstance(network, dict):
            problems += mistaken(NetworkConfig, network, "network.")
        else:
            problems.append(f"network: expected a group of fields, got {network!r}")
        problems += wrong
        if problems:
            raise InputError("; ".join(problems))
        return cls(
            network=NetworkConfig(**network), teachers=tuple(teachers), texts=texts, seeds=tuple(seeds), **settings
        )
