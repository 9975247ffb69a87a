"""A data collator that adds the sentences of documents, for the trainers of transformers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from discsum.abstractive.sentence_layout import SentenceLayout
from discsum.errors import InputError


@dataclass(frozen=True)
class LayoutCollator:
    """Pads features with another collator, and their sentences to match; for `Trainer` and `Seq2SeqTrainer`.

    Besides what the other collator needs, a feature has `layout`, the sentence of each of its tokens. For a
    document and its encoding that is `SentenceLayout.from_documents([document], encoding).owner[0].tolist()`.

    Attributes:
        collator: Pads the other fields, for example `DataCollatorForSeq2Seq`.
    """

    collator: Any

    def __call__(self, features: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return a batch with a `SentenceLayout` under `layout`.

        Raises:
            InputError: A feature whose `layout` is missing, or not as long as its tokens.
        """
        rows = []
        for place, feature in enumerate(features):
            given = feature.get("layout")
            row = [] if given is None else [int(sentence) for sentence in given]
            if len(row) != len(feature["input_ids"]):
                raise InputError(
                    f"feature {place}: expected layout to have a sentence for each of {len(feature['input_ids'])} "
                    f"tokens, got {len(row)}"
                )
            rows.append(row)
        batch = dict(self.collator([{k: v for k, v in one.items() if k != "layout"} for one in features]))
        mask = batch["attention_mask"].bool()
        owner = torch.full(mask.shape, -1)
        for target, inside, row in zip(owner, mask, rows, strict=True):
            # Padding may be on either side.
            target[inside] = torch.tensor([one for one in row if one >= 0])
        return batch | {"layout": SentenceLayout.from_owner(owner)}
