"""Training objectives of sparse models (Manakul and Gales 2021, sections 4 and 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import torch
from torch import Tensor

from discsum.abstractive.family import IGNORED
from discsum.abstractive.sparse.conversion import is_selectors, sentences
from discsum.abstractive.sparse.layout import SentenceLayout
from discsum.abstractive.sparse.losses import divergence_loss, sparsity_loss
from discsum.abstractive.sparse.state import Observation
from discsum.recipes.fields import Checked, NotNegative, Positive, about, one_of

MODES = {
    "full": "cross-entropy with full attention",
    "sparsity": "cross-entropy and gamma times the entropy of attention over sentences (Eq 5)",
    "kl": "the divergence of the selector from attention; the model itself is frozen (Eq 11)",
    "int-idl": "cross-entropy over the ideal sentences, and lambda times the divergence (Eq 12)",
    "int-apx": "the same over the sentences that the selector selects",
    "int-mix": "the same, moving from ideal sentences to those of the selector, as in scheduled sampling",
}


@dataclass(frozen=True)
class Objective(Checked):
    """A training mode and its weights."""

    mode: Annotated[str, one_of(MODES, "Training mode, after Manakul and Gales 2021.")] = "full"
    gamma: Annotated[NotNegative, about("Weight of the entropy.")] = 0.1
    weight: Annotated[NotNegative, about("Weight of the divergence, the paper's lambda.")] = 0.2
    temperature: Annotated[Positive, about("Temperature of the divergence's target.")] = 0.5

    @property
    def integrated(self) -> bool:
        """Whether the decoder is trained on selected sentences."""
        return self.mode.startswith("int-")

    @property
    def selects(self) -> bool:
        """Whether the mode needs a selector."""
        return self.integrated or self.mode == "kl"


def step_loss(
    model: Any, inputs: dict[str, Tensor], layout: SentenceLayout, objective: Objective, r: int, ideal: Tensor
) -> dict[str, Tensor]:
    """Return the `loss` of a batch and its parts: cross-entropy of `words`, `entropy` of attention or `divergence`.

    Args:
        model: A sparse model.
        inputs: Arguments of its forward pass; `labels` are `IGNORED` where nothing is learned.
        layout: The documents' sentences.
        objective: The training mode.
        r: Sentences that integrated training reads.
        ideal: `(documents,)`, true where integrated training reads the ideal sentences; see `reads_ideal`.
    """
    state = model.sparse
    observations: list[Observation] = []
    before = state.r, state.by_attention, state.observer
    state.r = r if objective.integrated else None
    state.by_attention = ideal.to(model.device) if objective.integrated and bool(ideal.any()) else None
    state.observer = observations.append if objective.mode != "full" else None
    try:
        with sentences(model, layout):
            words: Tensor = model(**inputs).loss
    finally:
        state.r, state.by_attention, state.observer = before
    if objective.mode == "full":
        return {"loss": words}
    steps = inputs["labels"] != IGNORED
    if objective.mode == "sparsity":
        entropy = sparsity_loss(observations, steps)
        return {"loss": words + objective.gamma * entropy, "words": words, "entropy": entropy}
    divergence = divergence_loss(observations, layout.to(words.device), steps, objective.temperature)
    total = divergence if objective.mode == "kl" else words + objective.weight * divergence
    return {"loss": total, "words": words, "divergence": divergence}


def reads_ideal(objective: Objective, done: float, chances: Tensor) -> Tensor:
    """Return `(documents,)`: which documents of a step are read by their ideal sentences.

    Args:
        objective: Mixed training does so with probability `1 - done`.
        done: Share of the first epoch that is done, from 0 to 1.
        chances: `(documents,)` uniform random numbers.
    """
    if objective.mode == "int-mix":
        return chances >= done
    return torch.full_like(chances, objective.mode == "int-idl", dtype=torch.bool)


def trained_parameters(model: Any, objective: Objective) -> list[torch.nn.Parameter]:
    """Return the parameters that a mode trains, after freezing the others.

    `kl` trains the selector (theta~), integrated training the decoder too, the others the whole model.
    """
    for name, parameter in model.named_parameters():
        selector = is_selectors(name)
        if objective.mode == "kl":
            parameter.requires_grad_(selector)
        elif objective.integrated:
            # As in the released code: neither embeddings nor their normalisation.
            decoder = ".decoder.layers." in name
            parameter.requires_grad_(selector or decoder)
        else:
            parameter.requires_grad_(not selector)
    return [parameter for parameter in model.parameters() if parameter.requires_grad]
