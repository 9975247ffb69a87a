"""Sentence vectors by a bidirectional GRU over encoder states (Manakul and Gales 2021, Eq 9-10, appendix A.1)."""

from __future__ import annotations

from typing import Annotated

import torch
from msgspec import Meta
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from discsum.abstractive.sparse.selectors import SELECTORS
from discsum.abstractive.sparse.selectors._learned import SentenceEncoder
from discsum.recipes.fields import Count, Dropout


@SELECTORS.register("gru", shared=True)
class GRUSentences(SentenceEncoder):
    """The last forward state and the first backward state of a two-layer GRU, through one linear map.

    Together with the projections of 12 layers of width 1,024, it has the paper's 58.8 million parameters.
    """

    def __init__(self, width: int, layers: Annotated[Count, Meta(le=100)] = 2, dropout: Dropout = 0.1) -> None:
        """Build the GRU, with xavier-normal weights and zero biases as in the released code."""
        super().__init__()
        self.gru = nn.GRU(width, width, layers, batch_first=True, bidirectional=True, dropout=dropout)
        self.output = nn.Linear(2 * width, width)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_normal_(parameter)
            else:
                nn.init.zeros_(parameter)

    def encoded(self, rows: Tensor, lengths: Tensor) -> Tensor:
        """Return the vectors of sentences."""
        # Autocast would run the GRU in float16 whatever its dtype, and its gradients would underflow.
        with torch.autocast(rows.device.type, enabled=False):
            rows = rows.to(self.output.weight.dtype)
            packed = pack_padded_sequence(rows, lengths.cpu(), batch_first=True, enforce_sorted=False)
            _, last = self.gru(packed)
            vectors: Tensor = self.output(torch.cat([last[-2], last[-1]], dim=-1))
        return vectors
