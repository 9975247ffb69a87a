"""Description of a coarse-to-fine model for its card."""

from __future__ import annotations

from discsum.abstractive.coarse_to_fine.choices import C2F, CONV, HIER, STANDARD
from discsum.abstractive.coarse_to_fine.config import CoarseToFineConfig
from discsum.abstractive.family import FamilyCard


def card_of(config: CoarseToFineConfig, *, frozen: bool) -> FamilyCard:
    """Return the card: the model's kind of attention, and the choices that Ling and Rush 2017 leave open.

    `frozen` says whether the encoder's embeddings kept their initial values.
    """
    chooses = config.variant == C2F
    kinds = {
        HIER: f"reads chunks ({config.chunks}) and their words",
        C2F: f"chooses {config.samples} of the chunks ({config.chunks}) at each step and reads no others",
    }
    read = kinds.get(config.variant, "reads all words as one sequence")
    last = "the text" if config.variant == STANDARD else "the last chunk"
    decided = [f"the first decoder state is the encoder's state after the last word of {last}"]
    if config.variant != STANDARD and config.coarse == CONV:
        decided.append("the convolution has a ReLU and no padding")
    decided.append("the encoder's embeddings are frozen" if frozen else "all embeddings are learned")
    if chooses:
        decided.append("the baseline of each step is initialised to 0")
    if chooses and config.samples > 1:
        decided.append(
            "the probability of several sampled chunks is the product of their probabilities, and at test time the "
            "chunks with the highest attention are read, weighted by it"
        )
    decided.append("the loss is the mean over the tokens of a batch")
    text = (
        f"An LSTM encoder and decoder whose attention {read} (Ling and Rush 2017). Use it with `discsum abstract "
        f"--model FOLDER`. Choices that the paper leaves open: {'; '.join(decided)}."
    )
    if chooses:
        text += " Unlike in the paper, the policy gradient reaches only the coarse encoder and the coarse attention."
    return FamilyCard(
        "coarse-to-fine-attention",
        text,
        "random weights and a vocabulary of the training texts",
        "Cross-entropy" + (" and, for the choice of chunks, REINFORCE" if chooses else ""),
    )
