"""Description of a coarse-to-fine model for its card."""

from __future__ import annotations

from textwrap import fill

from discsum.abstractive.coarse_to_fine.choices import C2F, CONV, HIER, STANDARD
from discsum.abstractive.coarse_to_fine.config import CoarseToFineConfig
from discsum.abstractive.family import FamilyCard

# Characters per line.
WIDTH = 110


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
    behind = "the text" if config.variant == STANDARD else "the last chunk"
    decided = [f"the decoder begins with the state behind the last word of {behind}"]
    if config.variant != STANDARD and config.coarse == CONV:
        decided.append("the convolution has a ReLU and no padding")
    decided.append("the encoder's embeddings stay as they begin" if frozen else "all embeddings are learned")
    if chooses:
        decided.append("a step's baseline begins at 0")
    if chooses and config.samples > 1:
        decided.append(
            "the probability of several sampled chunks is the product of theirs, and at test time those of the highest "
            "attention are read, weighted by it"
        )
    text = (
        f"An LSTM encoder and decoder whose attention {read} (Ling and Rush 2017). Use it with `discsum abstract "
        f"--model FOLDER`. Where the paper is silent: {'; '.join(decided)}; the loss is the mean over a batch's tokens."
    )
    if chooses:
        text += " Unlike the paper's, the policy's gradient reaches the coarse encoder and the coarse attention alone."
    return FamilyCard(
        "coarse-to-fine-attention",
        fill(text, WIDTH, break_long_words=False, break_on_hyphens=False),
        "random weights and a vocabulary of the training texts",
        "Cross-entropy" + (" and, for the choice of chunks, REINFORCE" if chooses else ""),
    )
