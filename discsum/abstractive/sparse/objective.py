"""Training objectives of sparse models (Manakul and Gales 2021, sections 3.2 and 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from torch import Tensor

from discsum.abstractive.family import IGNORED
from discsum.abstractive.projections import decoder_layers, fixed_parameters
from discsum.abstractive.sentence_layout import SentenceLayout
from discsum.abstractive.sparse.calls import Observation
from discsum.abstractive.sparse.conversion import is_selectors
from discsum.errors import InputError
from discsum.recipes.fields import Checked, NotNegative, Positive, about, one_of

TINY = 1e-12
MODES = {
    "full": "cross-entropy with full attention",
    "sparsity": "cross-entropy and gamma times the entropy of attention over sentences (Eq 5)",
    "kl": "the divergence of the selector from attention; the model itself is frozen (Eq 11)",
    "int-idl": "cross-entropy over the ideal sentences, and lambda times the divergence (Eq 12)",
    "int-apx": "cross-entropy over the sentences that the selector selects, and lambda times the divergence (Eq 12)",
    "int-mix": (
        "cross-entropy and lambda times the divergence (Eq 12), moving from ideal sentences to those that the selector "
        "selects, as in scheduled sampling"
    ),
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

    def without_effect(self) -> list[str]:
        """Return a line for each weight that is set but is not in the loss of the mode."""
        used = {"gamma": self.mode == "sparsity", "weight": self.integrated, "temperature": self.selects}
        return self.unused(*(name for name in used if not used[name]), why=f"in the mode {self.mode}")


def step_loss(
    model: Any, inputs: dict[str, Tensor], layout: SentenceLayout, objective: Objective, r: int, ideal: Tensor
) -> dict[str, Tensor]:
    """Return the `loss` of a batch and its parts: cross-entropy of `words`, `entropy` of attention or `divergence`.

    `inputs` are arguments of the forward pass of a sparse model; `labels` are `IGNORED` where they do not count.
    Integrated training reads `r` sentences, the ideal ones where `ideal` `(documents,)` is true; see `reads_ideal`.
    """
    observations: list[Observation] = []
    reading = model.sparse.using(
        r=r if objective.integrated else None,
        by_attention=ideal.to(model.device) if objective.integrated and bool(ideal.any()) else None,
        observer=observations.append if objective.mode != "full" else None,
    )
    with reading:
        words: Tensor = model(**inputs, layout=layout).loss
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
    """Return `(documents,)`: for which documents of a step the ideal sentences are read.

    In `int-mix` the probability is `1 - done`, where `done` is the completed share of the first epoch. `chances` are
    uniform random numbers.
    """
    if objective.mode == "int-mix":
        return chances >= done
    return torch.full_like(chances, objective.mode == "int-idl", dtype=torch.bool)


def trained_parameters(model: Any, objective: Objective) -> list[torch.nn.Parameter]:
    """Freeze the parameters that a mode does not train, and return the others.

    `kl` trains the selector (theta~), integrated training also the decoder's layers, and other modes everything but the
    selector. `fixed_parameters` stay frozen.
    """
    # By identity, because families name their layers differently.
    layers = {id(parameter) for layer in decoder_layers(model) for parameter in layer.parameters()}
    fixed = fixed_parameters(model)
    for name, parameter in model.named_parameters():
        selector = is_selectors(name)
        if objective.mode == "kl":
            parameter.requires_grad_(selector)
        elif objective.integrated:
            # As in the released code, freeze the decoder's embeddings and their layer norm.
            parameter.requires_grad_(selector or id(parameter) in layers)
        else:
            parameter.requires_grad_(not selector)
        if id(parameter) in fixed:
            parameter.requires_grad_(False)
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def sparsity_loss(observations: Sequence[Observation], steps: Tensor) -> Tensor:
    """Return `L_sparse`: the mean entropy of attention over sentences, in nats (Eq 5).

    The entropy is computed for each head, then averaged over heads, layers and `steps` (appendix A.4), which are
    `(documents, queries)`, true where the label is not padding.
    """
    entropies = [-(one.attention * one.attention.clamp_min(TINY).log()).sum(dim=-1) for one in observations]
    return _mean(entropies, steps)


def divergence_loss(
    observations: Sequence[Observation], layout: SentenceLayout, steps: Tensor, temperature: float = 1.0
) -> Tensor:
    """Return `L_KL`: divergence of the selectors from the attention they predict, in nats (Eq 11).

    The target is `sharpened` by the temperature: squared and renormalised at 0.5. It is detached: its gradient would
    pull attention towards the prediction. Means are taken as in `sparsity_loss`.

    Raises:
        InputError: Layers without a selector.
    """
    terms = []
    for one in observations:
        if one.predicted is None:
            raise InputError(f"layer {one.layer}: expected a selector that predicts, got none; sparsify with one")
        target = sharpened(one.attention.detach(), temperature)
        # Padded sentences have neither a target nor a prediction.
        predicted = one.predicted.masked_fill(~layout.mask[:, None, None, :], 0.0)
        terms.append((target * (target.clamp_min(TINY).log() - predicted)).sum(dim=-1))
    return _mean(terms, steps)


def sharpened(attention: Tensor, temperature: float) -> Tensor:
    """Return `alpha^(1/T)`, renormalised over the last dimension: sharper if T is below 1 (appendix A.5, Eq 15)."""
    # As a softmax of logarithms: at low temperatures all powers would underflow.
    logits = attention.clamp_min(TINY).log() / temperature
    raised = torch.softmax(logits.masked_fill(attention <= 0, float("-inf")), dim=-1)
    # Rows without any attention stay 0.
    return raised.nan_to_num(0.0)


def _mean(values: Sequence[Tensor], steps: Tensor) -> Tensor:
    """Return the mean of `(documents, heads, queries)` values of each layer over heads, layers and steps that count."""
    layers = torch.stack([value.mean(dim=1) for value in values]).mean(dim=0)
    return (layers * steps).sum() / steps.sum().clamp_min(1)
