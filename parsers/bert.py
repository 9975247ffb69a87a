"""BERT (Devlin et al. 2019) in plain torch: importing transformers would take longer than parsing a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from discsum.errors import WeightsError
from discsum.json_objects import checked_fields
from discsum.recipes.fields import Checked, Count, Dropout, Natural, Positive

# Settings of the BERT variant implemented here; transformers builds any other variant.
_VARIANT = {
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
}


@dataclass(frozen=True)
class BertConfig(Checked):
    """Sizes of a `Bert`, named as in transformers' configurations."""

    model_type: ClassVar[str] = "bert"

    vocab_size: Count
    hidden_size: Count
    num_hidden_layers: Count
    num_attention_heads: Count
    intermediate_size: Count
    max_position_embeddings: Count
    type_vocab_size: Count = 2
    layer_norm_eps: Positive = 1e-12
    hidden_dropout_prob: Dropout = 0.1
    attention_probs_dropout_prob: Dropout = 0.1
    pad_token_id: Natural = 0

    def problems(self) -> list[str]:
        """Return messages: the attention heads do not divide the hidden size, or padding is beyond the subwords."""
        found = []
        if self.num_attention_heads and self.hidden_size % self.num_attention_heads:
            found.append(
                f"num_attention_heads: expected a divisor of {self.hidden_size}, got {self.num_attention_heads}"
            )
        if self.pad_token_id >= self.vocab_size:
            found.append(f"pad_token_id: expected an index below vocab_size {self.vocab_size}, got {self.pad_token_id}")
        return found

    @classmethod
    def of(cls, settings: Mapping[str, Any], source: str) -> Self | None:
        """Return the sizes in a transformers configuration, or None if it is not of this variant of BERT.

        Raises:
            WeightsError: Sizes that are missing or out of range; the message names `source`.
        """
        variant = all(settings.get(name, usual) == usual for name, usual in _VARIANT.items())
        if settings.get("model_type") != "bert" or not variant:
            return None
        sizes = {field.name: settings[field.name] for field in fields(cls) if field.name in settings}
        return checked_fields(cls, sizes, source, WeightsError)

    def to_diff_dict(self) -> dict[str, Any]:
        """Return the sizes by name, as transformers' configurations do."""
        return self.to_dict()


class Encoding(NamedTuple):
    """Output of a `Bert`: states of the last layer `(batch, tokens, hidden)`, under transformers' field name."""

    last_hidden_state: Tensor


class Bert(nn.Module):
    """The BERT encoder without its pooler. Weights are named as in transformers' `BertModel`."""

    def __init__(self, config: BertConfig) -> None:
        """Build the layers."""
        super().__init__()
        self.config = config
        size = config.hidden_size
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(config.vocab_size, size, padding_idx=config.pad_token_id),
                "position_embeddings": nn.Embedding(config.max_position_embeddings, size),
                "token_type_embeddings": nn.Embedding(config.type_vocab_size, size),
                "LayerNorm": nn.LayerNorm(size, config.layer_norm_eps),
            }
        )
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        layers = nn.ModuleList(_Layer(config) for _ in range(config.num_hidden_layers))
        self.encoder = nn.ModuleDict({"layer": layers})

    def get_input_embeddings(self) -> nn.Module:
        """Return the word embeddings, as transformers' models do."""
        return self.embeddings["word_embeddings"]

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Encoding:
        """Return the states of tokens.

        Args:
            input_ids: `(batch, tokens)` vocabulary indices.
            attention_mask: `(batch, tokens)`, 0 for padding; None if nothing is padded.
        """
        parts = self.embeddings
        positions = torch.arange(input_ids.shape[1], device=input_ids.device)
        # All tokens have token type 0.
        states = parts["word_embeddings"](input_ids) + parts["token_type_embeddings"](torch.zeros_like(positions))
        states = self.dropout(parts["LayerNorm"](states + parts["position_embeddings"](positions)))
        mask = None if attention_mask is None else attention_mask[:, None, None, :].bool()
        layers: Any = self.encoder["layer"]
        for layer in layers:
            states = layer(states, mask)
        return Encoding(states)


class _Layer(nn.Module):
    """Self-attention and feed-forward sublayers, each followed by dropout, residual connection and normalisation."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        size, inner = config.hidden_size, config.intermediate_size
        self.heads, self.attention_dropout = config.num_attention_heads, config.attention_probs_dropout_prob

        def residual(width: int) -> nn.ModuleDict:
            return nn.ModuleDict(
                {"dense": nn.Linear(width, size), "LayerNorm": nn.LayerNorm(size, config.layer_norm_eps)}
            )

        projections = nn.ModuleDict({name: nn.Linear(size, size) for name in ("query", "key", "value")})
        self.attention = nn.ModuleDict({"self": projections, "output": residual(size)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(size, inner)})
        self.output = residual(inner)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        batch, tokens, size = states.shape
        # (batch, heads, tokens, size / heads)
        query, key, value = (
            self.attention["self"][name](states).view(batch, tokens, self.heads, -1).transpose(1, 2)  # type: ignore[index]
            for name in ("query", "key", "value")
        )
        rate = self.attention_dropout if self.training else 0.0
        read = scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=rate)
        states = self._add(states, read.transpose(1, 2).reshape(batch, tokens, size), self.attention["output"])
        return self._add(states, gelu(self.intermediate["dense"](states)), self.output)

    def _add(self, states: Tensor, update: Tensor, parts: Any) -> Tensor:
        added: Tensor = parts["LayerNorm"](states + self.dropout(parts["dense"](update)))
        return added
