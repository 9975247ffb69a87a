"""Coarse-to-fine models with random weights, and inputs for them."""

import torch

from discsum.abstractive.coarse_to_fine import CoarseToFineConfig, CoarseToFineForConditionalGeneration

SIZES = {
    "vocab_size": 20,
    "embedding_size": 6,
    "hidden_size": 8,
    "filters": 7,
    "filter_width": 3,
    "position_size": 2,
    "dropout": 0.0,
    # Makes attention far from flat.
    "init_range": 1.0,
}


def make_model(variant="c2f", chunks="3x4", seed=3, **changes):
    """Return a model with random weights, by default without dropout."""
    torch.manual_seed(seed)
    config = CoarseToFineConfig(variant=variant, chunks=chunks, **{**SIZES, **changes})
    return CoarseToFineForConditionalGeneration(config).eval()


def copy_weights(source, target):
    """Copy the weights of `source`, which may have more of them, to `target`; return it."""
    there = source.state_dict()
    target.load_state_dict({name: there[name] for name in target.state_dict()})
    return target


class Texts:
    """Three documents of 12, 5 and 1 words, for chunks of shape 3x4, which the first fills, or sentences as chunks."""

    counts = (12, 5, 1)
    sentences = ((4, 3, 5), (2, 3), (1,))

    def __init__(self, documents=3):
        generator = torch.Generator().manual_seed(5)
        most = max(self.counts[:documents])
        self.ids = torch.randint(3, 20, (3, 12), generator=generator)[:documents, :most]
        self.mask = (torch.arange(most) < torch.tensor(self.counts)[:documents, None]).long()
        self.ids = self.ids.masked_fill(self.mask == 0, 0)
        self.labels = torch.randint(3, 20, (3, 4), generator=generator)[:documents]
        rows = [[place for place, size in enumerate(own) for _ in range(size)] for own in self.sentences[:documents]]
        self.chunks = torch.tensor([row + [-1] * (most - len(row)) for row in rows])

    def of(self, model):
        """Return the arguments of a forward pass of a model, without labels."""
        given = {"input_ids": self.ids, "attention_mask": self.mask}
        return given if model.config.shape else given | {"chunk_ids": self.chunks}
